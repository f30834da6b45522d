// Fuzz target: the consumer's end of a shared-memory ring (impl/transport/shm/ring.h), whatever the producer wrote
// there.
//
// The input is written over the ring, byte for byte, and taken out by the steps of ShmTransport::drain.  What must
// hold: every payload that would be delivered lies within the ring and its mirror; the consumer stops at what no frame
// can be; what it gives back never runs ahead of what it read.  A second part publishes frames and expects them back.
#include <sys/mman.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "impl/transport/shm/ring.h"
#include "impl/transport/shm/shm_transport.h"

namespace selvage::impl::shm {
namespace {

constexpr std::size_t kMemory = kPage + 2 * kRingBytes;
constexpr int kMostFrames = 4096;

[[noreturn]] void fail(const char* what) {
    std::fprintf(stderr, "selvage: ring: %s\n", what);
    std::abort();
}
void check(bool holds, const char* what) {
    if (!holds) fail(what);
}

// A control page and a ring, mapped twice in a row as the transport does it.
class Slot {
public:
    Slot() {
        const int file = memfd_create("ring", MFD_CLOEXEC);
        if (file < 0 || ftruncate(file, static_cast<off_t>(kPage + kRingBytes)) != 0) std::abort();
        void* const room = mmap(nullptr, kMemory, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (room == MAP_FAILED) std::abort();
        start_ = static_cast<std::byte*>(room);
        map(file, start_, kPage + kRingBytes, 0);
        map(file, start_ + kPage + kRingBytes, kRingBytes, static_cast<off_t>(kPage));
        close(file);
    }
    [[nodiscard]] std::byte* lines() const { return start_ + kPage; }
    void clear() { std::memset(start_, 0, kPage + kRingBytes); }

private:
    static void map(int file, std::byte* at, std::size_t size, off_t offset) {
        if (mmap(at, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, offset) == MAP_FAILED) std::abort();
    }
    std::byte* start_;
};

void consume(Slot& slot, std::uint64_t position) {
    Inbound in;
    in.lines = slot.lines();
    in.position = in.returned = position;
    std::uint64_t first = 0;
    for (int frames = 0; frames < kMostFrames && in.poll(&first); ++frames) {
        const std::byte* const line = in.lines + offset_at(in.position);
        const Header header = copy_header(line, first);
        if (header.size > ShmTransport::kFrameMax) return;  // the peer is dropped
        const std::byte* const payload = line + payload_offset(header.size);
        check(payload + header.size <= in.lines + 2 * kRingBytes, "a payload that ends outside of the ring");
        check(lines_of(header.size) <= kRingLines, "a frame that is longer than the ring");
        unsigned sum = 0;
        for (std::size_t i = 0; i < header.size; i += 61) sum += static_cast<unsigned>(payload[i]);
        asm volatile("" : : "r"(sum));  // the bytes are to be read
        in.position += lines_of(header.size);
        in.give_back();
        check(in.returned <= in.position, "more is given back than was read");
    }
}

// Frames with the sizes that the input says come out as they went in.
void publish_and_take(Slot& slot, const std::uint8_t* data, std::size_t size) {
    slot.clear();
    Outbound out;
    out.lines = slot.lines();
    out.limit = kRingLines;
    Inbound in;
    in.lines = slot.lines();
    std::vector<std::uint8_t> payload(ShmTransport::kFrameMax);
    for (std::size_t i = 0; i + 2 <= size; i += 2) {
        Header header{};
        header.size = static_cast<std::uint32_t>((data[i] + 256U * data[i + 1]) % (ShmTransport::kFrameMax + 1));
        header.op = data[i];
        header.word[0] = i;
        if (!out.has_room(lines_of(header.size))) check(out.refresh(), "the consumer claims what cannot be");
        if (!out.has_room(lines_of(header.size))) return;
        std::memset(payload.data(), data[i + 1], header.size);
        const iovec piece = {payload.data(), header.size};
        out.publish(header, &piece, 1);
        std::uint64_t first = 0;
        check(in.poll(&first), "what was published is not there");
        const std::byte* const line = in.lines + offset_at(in.position);
        const Header seen = copy_header(line, first);
        check(seen.size == header.size && seen.op == header.op && seen.word[0] == header.word[0], "another header");
        check(std::memcmp(line + payload_offset(seen.size), payload.data(), seen.size) == 0, "another payload");
        in.position += lines_of(seen.size);
        in.give_back();
        check(!in.poll(&first), "something is there that nobody published");
    }
}

}  // namespace
}  // namespace selvage::impl::shm

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace selvage::impl::shm;
    static Slot slot;
    if (size < 2) return 0;
    if (data[0] % 2 != 0) {
        publish_and_take(slot, data + 1, size - 1);
        return 0;
    }
    slot.clear();
    const auto at = static_cast<std::size_t>(data[1]) * kLine;
    std::memcpy(slot.lines() + at, data + 2, std::min(size - 2, kRingBytes - at));
    consume(slot, data[1] + (data[0] / 2U) * (kRingLines / 2));
    return 0;
}
