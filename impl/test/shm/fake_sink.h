// A sink that writes down what a shm transport calls, and helpers for tests with transports in one or two processes.
#pragma once

#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "impl/transport/shm/shm_transport.h"

namespace selvage::impl::test {

struct Arrival {
    ShmPeer* peer;
    Header header;
    std::string payload;
};

// Satisfies Sink<FakeSink, ShmPeer>.
struct FakeSink {
    std::vector<Arrival> arrivals;
    std::vector<ShmPeer*> rooms;
    std::vector<std::pair<ShmPeer*, int>> downs;
    std::vector<std::pair<void*, int>> tokens;  // that came back, and with which error
    std::vector<int> ends;                      // errors of frames that came in pieces
    std::vector<iovec> places;                  // where the next of those goes; empty: nobody wants it
    std::function<void(ShmPeer&, const Header&, const std::byte*)> on_deliver;
    std::function<void(ShmPeer&)> on_room;

    void deliver(ShmPeer& peer, const Header& header, const std::byte* payload) {
        if (on_deliver) return on_deliver(peer, header, payload);
        arrivals.push_back({&peer, header, {reinterpret_cast<const char*>(payload), header.size}});
    }
    bool begin(ShmPeer&, const Header&, Placement* placement) {
        std::copy(places.begin(), places.end(), placement->ranges);
        placement->count = places.size();
        return !places.empty();
    }
    void end(ShmPeer& peer, const Header& header, Placement*, int error) {
        ends.push_back(error);
        if (!error) arrivals.push_back({&peer, header, {}});
    }
    void sent(ShmPeer&, void* token, int error) { tokens.emplace_back(token, error); }
    void room(ShmPeer& peer) {
        rooms.push_back(&peer);
        if (on_room) on_room(peer);
    }
    void down(ShmPeer& peer, int error) { downs.emplace_back(&peer, error); }
};
static_assert(Sink<FakeSink, ShmPeer>);
static_assert(Transport<ShmTransport>);
static_assert(PullsMemory<ShmTransport> && DeliversWhenSent<ShmTransport> && SendsInline<ShmTransport>);
static_assert(ReportsAddresses<ShmTransport> && DropsPeers<ShmTransport>);

// An address that no other test has.
struct Name {
    char text[kShmTextMax] = {};
    explicit Name(const std::string& what) {
        static int next = 0;
        snprintf(text, sizeof text, "fi_shm://test.%d.%d.%s", getpid(), next++, what.c_str());
    }
};

inline std::string file_of(const Name& name) {
    return "/dev/shm/selvage-shm-" + std::to_string(geteuid()) + "-" + (name.text + kShmScheme.size());
}
inline bool file_exists(const Name& name) { return access(file_of(name).c_str(), F_OK) == 0; }

inline SendResult send_text(ShmTransport& from, ShmPeer& to, const std::string& payload, uint8_t op = 1,
                            uint64_t tag = 0) {
    Header header{};
    header.size = static_cast<uint32_t>(payload.size());
    header.op = op;
    header.word[0] = tag;
    const iovec part = {const_cast<char*>(payload.data()), payload.size()};
    return from.send(to, {.header = header, .payload = &part, .count = 1, .token = nullptr, .more = false});
}

// Without payload: an answer, for which a full ring has room.
inline SendResult send_answer(ShmTransport& from, ShmPeer& to, uint64_t tag = 0) {
    Header header{};
    header.op = 7;
    header.word[0] = tag;
    return from.send(
        to, {.header = header, .payload = nullptr, .count = 0, .token = nullptr, .more = false, .answer = true});
}

// Until `done`, at most so long. True if it came to be.
inline bool progress_until(ShmTransport& transport, FakeSink& sink, const std::function<bool()>& done,
                           int milliseconds = 5000) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(milliseconds);
    while (!done()) {
        if (transport.progress(sink) == 0) sched_yield();
        if (std::chrono::steady_clock::now() > end) return done();
    }
    return true;
}

// A payload that shows misplaced bytes.
inline std::string pattern(size_t size, unsigned seed) {
    std::string out(size, '\0');
    for (size_t i = 0; i < size; ++i) out[i] = static_cast<char>((i * 131 + seed * 7 + (i >> 8)) & 0xff);
    return out;
}

}  // namespace selvage::impl::test
