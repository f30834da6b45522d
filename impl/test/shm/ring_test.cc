// The two ends of a ring, without a transport: frames of all sizes for many laps, and what the producer remembers of
// them.
#include "impl/transport/shm/ring.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <bitset>
#include <random>
#include <vector>

namespace selvage::impl::shm {
namespace {

// Memory of a slot: its words, and the ring, mapped twice in a row. Starts as zero.
class SlotMemory {
public:
    SlotMemory() {
        constexpr size_t kAll = kPage + 2 * kRingBytes;
        const int file = memfd_create("ring", 0);
        void* all = mmap(nullptr, kAll, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (file < 0 || all == MAP_FAILED || ftruncate(file, kRingBytes)) return;
        start_ = static_cast<std::byte*>(all);
        for (const size_t at : {size_t{0}, kRingBytes}) {
            mmap(lines() + at, kRingBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0);
        }
        close(file);
    }
    ~SlotMemory() { munmap(start_, kPage + 2 * kRingBytes); }
    SlotMemory(const SlotMemory&) = delete;
    SlotMemory& operator=(const SlotMemory&) = delete;
    std::byte* lines() const { return start_ + kPage; }

private:
    std::byte* start_ = nullptr;
};

// Both ends of one ring. The producer has all of it but the lines that the consumer has not taken.
class Ring {
public:
    Ring() {
        out.lines = in.lines = memory_.lines();
        out.limit = kRingLines;
    }
    void publish(const std::vector<std::byte>& payload, size_t pieces) {
        Header header{};
        header.size = static_cast<uint32_t>(payload.size());
        header.word[0] = payload.size();
        std::array<iovec, 2> parts{};
        const size_t first = pieces == 2 ? payload.size() / 2 : payload.size();
        parts[0] = {const_cast<std::byte*>(payload.data()), first};
        parts[1] = {const_cast<std::byte*>(payload.data()) + first, payload.size() - first};
        out.publish(header, parts.data(), pieces);
    }
    // The payload of the next frame.
    std::vector<std::byte> take() {
        uint64_t first;
        EXPECT_TRUE(in.poll(&first));
        const std::byte* line = in.lines + offset_at(in.position);
        const Header header = copy_header(line, first);
        EXPECT_EQ(header.word[0], header.size);
        const std::byte* from = line + payload_offset(header.size);
        in.position += lines_of(header.size);
        out.limit = in.position + kRingLines;
        return {from, from + header.size};
    }
    bool has_frame() const {
        uint64_t first;
        return in.poll(&first);
    }

    Outbound out;
    Inbound in;

private:
    SlotMemory memory_;
};

// All bits of a payload are set, or none: as a first word, it has either parity.
std::vector<std::byte> payload_of(size_t size, bool set) {
    return std::vector<std::byte>(size, std::byte(set ? 255 : 0));
}

TEST(ShmRing, NothingIsTakenForAFrameBehindTheLastWhateverTheLapsBeforeLeft) {
    Ring ring;
    std::minstd_rand random(1);
    const std::array<size_t, 10> sizes{0, 8, 32, 33, 64, 128, 200, 1000, 1024, 5000};
    for (int i = 0; i < 50000; ++i) {
        const auto payload = payload_of(sizes[random() % sizes.size()], random() % 2);
        ring.publish(payload, 1 + random() % 2);
        ASSERT_EQ(ring.take(), payload) << i;
        ASSERT_FALSE(ring.has_frame()) << i << ": " << payload.size() << " bytes at " << ring.in.position;
    }
}

TEST(ShmRing, LapsOfOneSizeFollowLapsOfAnother) {
    Ring ring;
    for (const size_t size : {200, 8, 64, 8, 1024, 64, 64, 8, 8, 200}) {
        for (const bool set : {true, false}) {
            const auto payload = payload_of(size, set);
            for (size_t lines = 0; lines < kRingLines + 100; lines += lines_of(size)) {
                ring.publish(payload, 1);
                ASSERT_EQ(ring.take(), payload);
                ASSERT_FALSE(ring.has_frame()) << size << " at " << ring.in.position;
            }
        }
    }
}

// Past them where plain copies are slow (far_copies.h), and where the consumer says so (copy_choice.h).
TEST(ShmRing, LongPayloadsComeWholeThroughTheCachesAndPastThem) {
    for (const int64_t slow : {0, 100'000}) {
        for (const uint32_t word : {0U, 2U, UINT32_MAX}) {
            Ring ring;
            ring.out.slot().copies = word;
            std::minstd_rand random(3);
            for (int i = 0; i < 3000; ++i) {
                for (int k = 0; k < 2; ++k) ring.out.far_copies.took(slow, 4096);
                std::vector<std::byte> payload(1024 + random() % (16 * 1024));
                for (auto& byte : payload) byte = std::byte(random());
                ring.publish(payload, 1);
                ASSERT_EQ(ring.take(), payload) << i;
                ASSERT_FALSE(ring.has_frame()) << i;
            }
        }
    }
}

TEST(ShmRing, OnlyPayloadsOfThatSizeGoPastTheCachesAtTheConsumersWord) {
    Ring ring;
    EXPECT_FALSE(ring.out.goes_past_caches(8192));
    ring.out.slot().copies = 2;
    EXPECT_TRUE(ring.out.goes_past_caches(8192));
    EXPECT_FALSE(ring.out.goes_past_caches(4096));
    EXPECT_FALSE(ring.out.goes_past_caches(1024));
}

TEST(ShmRing, TheProducerRemembersWhichLinesBeganAFrame) {
    FrameStarts starts;
    std::bitset<kRingLines> expected;
    expected.set();
    std::minstd_rand random(2);
    uint64_t position = 0;
    for (int i = 0; i < 20000; ++i) {
        const size_t lines = random() % 3 ? 1 + random() % 5 : 1 + random() % 257;
        for (size_t k = 0; k < lines; ++k) expected[(position + k) % kRingLines] = k == 0;
        if (lines == 1) {
            starts.put(position);
        } else {
            starts.put(position, lines);
        }
        position += lines;
        if (i % 100) continue;
        for (size_t k = 0; k < kRingLines; ++k)
            ASSERT_EQ(starts.began(position + k), expected[(position + k) % kRingLines]);
    }
}

}  // namespace
}  // namespace selvage::impl::shm
