// A peer over tcp that completes the handshake and then sends frames that no engine sends: whole and half ones, of
// every operation, with fields that are random or nearly right. Whatever it does, the endpoint's other peer is served.
//
// FI_TEST_SEED and FI_TEST_SECONDS in the environment choose another run.
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <random>
#include <thread>

#include "impl/engine/protocol.h"
#include "impl/test/crowd/leftovers.h"
#include "impl/test/crowd/station.h"
#include "impl/test/engine/stat_view.h"
#include "impl/transport/net/wire.h"

namespace selvage::impl::test {
namespace {

using Clock = std::chrono::steady_clock;
using net::Note;
using net::NoteType;

uint64_t from_environment(const char* name, uint64_t standard) {
    const char* text = getenv(name);
    return text ? strtoull(text, nullptr, 0) : standard;
}

// Knows the library's wire, and one of its regions.
class Intruder {
public:
    Intruder(uint64_t seed, const Station& target) : random_(seed), key_(target.key) {
        const std::string name = target.name();
        memcpy(&address_, name.data(), sizeof address_);
    }
    void run() {
        while (!stop) {
            socket_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
            const timeval limit{.tv_sec = 1, .tv_usec = 0};
            setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
            setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
            if (shake_hands()) {
                ++sessions;
                talk();
            }
            if (one_in(3)) {
                const linger abrupt{.l_onoff = 1, .l_linger = 0};
                setsockopt(socket_, SOL_SOCKET, SO_LINGER, &abrupt, sizeof abrupt);
            }
            close(socket_);
        }
    }
    std::atomic<bool> stop{false};
    std::atomic<uint64_t> sessions{0}, frames{0};

private:
    uint64_t below(uint64_t end) { return random_() % end; }
    bool one_in(uint64_t n) { return below(n) == 0; }

    bool send_bytes(const void* bytes, size_t size) {
        return ::send(socket_, bytes, size, MSG_NOSIGNAL) == static_cast<ssize_t>(size);
    }
    bool receive_note(uint8_t* bytes) {
        return recv(socket_, bytes, net::kNoteFixed, MSG_WAITALL) == static_cast<ssize_t>(net::kNoteFixed);
    }
    bool shake_hands() {
        if (connect(socket_, reinterpret_cast<sockaddr*>(&address_), sizeof address_)) return false;
        Note hello;
        hello.port = static_cast<uint16_t>(1 + below(40));  // often that of a session before
        hello.instance = below(4);
        hello.sequence = static_cast<uint32_t>(random_());
        uint8_t first[net::kNoteMax], answer[net::kNoteMax], bytes[net::kNoteMax];
        const size_t size = net::write_note(hello, first);
        if (!send_bytes(first, size) || !receive_note(answer)) return false;
        Note proof;
        proof.type = NoteType::Proof;
        net::prove_caller({}, net::make_transcript(first, size, answer, net::kNoteFixed), proof.digest);
        if (!send_bytes(bytes, net::write_note(proof, bytes)) || !receive_note(answer)) return false;
        Note welcome;
        size_t used;
        const bool read = net::read_note(answer, net::kNoteFixed, &welcome, &used) == net::Scan::Whole;
        return read && welcome.type == NoteType::Welcome;
    }

    uint64_t word() {
        switch (below(8)) {
            case 0:
                return random_();
            case 1:
                return key_;
            case 2:
                return below(1 << 20);
            case 3:
                return uint64_t{1} << below(64);
            case 4:
                return ~uint64_t{0} - below(16);
            default:
                return below(9);
        }
    }
    uint32_t size() {
        switch (below(6)) {
            case 0:
                return 0;
            case 1:
                return static_cast<uint32_t>(below(5000));
            case 2:
                return static_cast<uint32_t>(below(600 << 10));
            case 3:
                return one_in(8) ? static_cast<uint32_t>(random_()) : 24;
            default:
                return static_cast<uint32_t>(8 * below(40));
        }
    }
    void talk() {
        for (uint64_t count = 1 + below(30); count && !stop; --count) {
            Header header{.size = size(),
                          .op = static_cast<uint8_t>(one_in(10) ? below(256) : 1 + below(17)),
                          .flags = static_cast<uint8_t>(one_in(3) ? below(256) : below(4)),
                          .aux = static_cast<uint16_t>(one_in(20) ? below(65536) : below(10)),
                          .word = {word(), word(), word()}};
            std::string bytes(reinterpret_cast<const char*>(&header), sizeof header);
            const size_t payload = std::min<size_t>(header.size, 700 << 10);
            while (bytes.size() < sizeof header + payload) {
                const uint64_t next = word();
                bytes.append(reinterpret_cast<const char*>(&next), sizeof next);
            }
            bytes.resize(sizeof header + payload);
            const bool half = one_in(6);
            if (half) bytes.resize(below(bytes.size() + 1));
            for (size_t at = 0; at < bytes.size();) {
                const size_t part =
                    one_in(3) ? std::min<size_t>(1 + below(3000), bytes.size() - at) : bytes.size() - at;
                if (!send_bytes(bytes.data() + at, part)) return;
                at += part;
                if (one_in(50)) usleep(200);
            }
            ++frames;
            char answer[4096];
            if (one_in(2)) (void)!recv(socket_, answer, sizeof answer, MSG_DONTWAIT);
            if (half) break;
        }
        if (one_in(4)) usleep(static_cast<useconds_t>(below(5000)));
    }

    std::mt19937_64 random_;
    sockaddr_in address_{};
    uint64_t key_;
    int socket_ = -1;
};

TEST(Frames, WhatAnIntruderSendsDisturbsNobodyElse) {
    constexpr size_t kSize = 3000;
    constexpr uint64_t kTag = 0xf4a11;
    const StationChoice choice{.provider = "tcp", .service = {}, .memory = 1 << 16};
    Station target(choice), companion(choice);
    const fi_addr_t to = companion.insert(target.name());
    std::vector<uint64_t> out(kSize / sizeof(uint64_t)), in(out.size());
    const Holdings before = holdings();
    Intruder intruder(from_environment("FI_TEST_SEED", 1), target);
    std::thread thread([&] { intruder.run(); });
    const auto end = Clock::now() + std::chrono::seconds(from_environment("FI_TEST_SECONDS", 3));
    uint64_t exchanged = 0;
    const auto read = [](Station& station, bool strict) {
        fi_cq_tagged_entry entry{};
        const ssize_t count = fi_cq_read(station.cq, &entry, 1);
        if (count == -FI_EAVAIL) {  // of the intruder's messages, which the target may have a receive for
            fi_cq_err_entry error{};
            (void)fi_cq_readerr(station.cq, &error, 0);
            EXPECT_FALSE(strict) << fi_strerror(error.err);
        }
        return count == 1 && entry.op_context;
    };
    for (bool stuck = false; Clock::now() < end && !stuck && !testing::Test::HasFailure(); ++exchanged) {
        // Only the companion's messages have the tag's upper half; the intruder's tags are seldom the same.
        const uint64_t tag = kTag << 40 | exchanged;
        for (size_t i = 0; i < out.size(); ++i) out[i] = tag ^ i;
        SELVAGE_MUST(fi_trecv(target.ep, in.data(), kSize, nullptr, FI_ADDR_UNSPEC, tag, 0, &in));
        ssize_t posted;
        while ((posted = fi_tsend(companion.ep, out.data(), kSize, nullptr, to, tag, nullptr)) == -FI_EAGAIN) {
            read(target, false), read(companion, true);
        }
        SELVAGE_MUST(posted);
        const auto limit = Clock::now() + std::chrono::seconds(10);
        bool arrived = false;
        while (!arrived && !stuck) {
            arrived = read(target, false);
            read(companion, true);
            stuck = Clock::now() > limit;
        }
        EXPECT_TRUE(arrived) << "after " << exchanged;
        EXPECT_EQ(in, out);
    }
    intruder.stop = true;
    for (std::atomic<bool> ended{false}; !ended;) {
        std::thread waiter([&] {
            thread.join();
            ended = true;
        });
        while (!ended) read(target, false);
        waiter.join();
    }
    for (int i = 0; i < 1000; ++i) read(target, false);
    printf("%lu messages beside %lu sessions with %lu frames\n", static_cast<unsigned long>(exchanged),
           static_cast<unsigned long>(intruder.sessions), static_cast<unsigned long>(intruder.frames));
    EXPECT_GT(intruder.sessions, 10u);
    uint64_t bad_frames = 0;
    for (const StatView& view : read_stat())
        bad_frames += view.type == StatType::Endpoint ? view.at(Stat::BadFrames) : 0;
    EXPECT_GT(bad_frames, 0u);
    EXPECT_LT(holdings().descriptors, before.descriptors + 16);
}

}  // namespace
}  // namespace selvage::impl::test
