// Verbs transports over the fake device, with a Sink that keeps what it gets.
#pragma once

#include <gtest/gtest.h>

#include <functional>

#include "impl/test/verbs/fake_device.h"
#include "impl/transport/verbs/verbs_datapath.h"

namespace selvage::impl::test {

using VerbsPeer = verbs::Peer;

struct VerbsSink {
    struct Arrived {
        VerbsPeer* from;
        Header header;
        std::string payload;
    };
    void deliver(VerbsPeer& peer, const Header& header, const std::byte* payload) {
        frames.push_back({&peer, header, std::string(reinterpret_cast<const char*>(payload), header.size)});
        if (on_frame) on_frame(peer);
    }
    bool begin(VerbsPeer&, const Header&, Placement*) { return false; }
    void end(VerbsPeer&, const Header&, Placement*, int) {}
    void sent(VerbsPeer&, void* token, int) { sent_tokens.push_back(token); }
    void placed(VerbsPeer&, void* token) { placed_tokens.push_back(token); }
    void room(VerbsPeer& peer) { rooms.push_back(&peer); }
    void down(VerbsPeer& peer, int error) {
        downs.push_back({&peer, error});
        if (on_down) on_down();
    }
    void accessed(VerbsPeer&, void* token, int error) { tokens.push_back({token, error}); }
    void wrote(VerbsPeer&, uint64_t length, uint64_t data) { writes.push_back({length, data}); }

    std::deque<Arrived> frames;
    std::vector<VerbsPeer*> rooms;
    std::vector<std::pair<VerbsPeer*, int>> downs;
    std::vector<std::pair<void*, int>> tokens;
    std::vector<std::pair<uint64_t, uint64_t>> writes;
    std::vector<void*> sent_tokens, placed_tokens;
    std::function<void(VerbsPeer&)> on_frame;
    std::function<void()> on_down;
};

inline SocketAddress fake_address(uint16_t port = 0) {
    SocketAddress address;
    address.kind = AddressKind::Inet;
    address.v4.sin_family = AF_INET;
    address.v4.sin_addr.s_addr = htonl(0x0a4d0001);
    address.set_port(port);
    return address;
}

inline verbs::Key key_of(const std::string& text) {
    return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

struct VerbsSide {
    explicit VerbsSide(FakeDevice& device, const std::string& secret = "", uint16_t port = 0) : key(secret) {
        result = transport.open_datagram({.device = &device.domain,
                                          .address = fake_address(port),
                                          .key = key_of(key),
                                          .features = verbs::kAccessByDevice,
                                          .fenced = true});
        EXPECT_EQ(result, 0);
    }
    VerbsPeer* peer(const VerbsSide& other) {
        VerbsPeer* found = nullptr;
        return transport.peer_at(other.transport.address(), &found) ? nullptr : found;
    }
    SendResult send(VerbsPeer& to, const std::string& text, uint64_t tag = 0, bool more = false) {
        Header header{};
        header.size = static_cast<uint32_t>(text.size());
        header.word[0] = tag;
        const iovec payload{const_cast<char*>(text.data()), text.size()};
        return transport.send(to, {header, &payload, 1, nullptr, more});
    }
    void progress() { transport.progress(sink); }

    std::string key;
    VerbsTransport transport;
    VerbsSink sink;
    int result;
};

// Calls all of them until `done`, a bounded number of times: nothing here takes time.
inline bool run(std::initializer_list<VerbsSide*> sides, const std::function<bool()>& done, int rounds = 2000) {
    for (int i = 0; i < rounds && !done(); ++i) {
        for (VerbsSide* side : sides) side->progress();
    }
    return done();
}

// The peer that `b` is to `a`, connected.
inline VerbsPeer* join(VerbsSide& a, VerbsSide& b) {
    VerbsPeer* peer = a.peer(b);
    EXPECT_TRUE(run(
        {&a, &b}, [&] { return peer->phase == VerbsPeer::Phase::Up; }, 200'000));
    return peer;
}

}  // namespace selvage::impl::test
