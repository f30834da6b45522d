// Two endpoints with rails (rails.h) on the loopback interface, each of whose addresses 127.0.0.N is a link.
#pragma once

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <deque>

#include "impl/test/tcp/fake_sink.h"

namespace selvage::impl::test {

inline SocketAddress loopback_of(unsigned last, uint16_t port = 0) {
    SocketAddress address = loopback(port);
    address.v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK - 1 + last);
    return address;
}

// An endpoint that listens everywhere and advertises one or two more addresses.
struct RailSide : Side {
    explicit RailSide(const SocketAddress& at = SocketAddress::wildcard(AddressKind::Inet, 0), size_t rails = 2)
        : Side(net::Key{}, at) {
        const SocketAddress advertised[] = {loopback_of(2), loopback_of(3)};
        transport.offer_rails_at(advertised, rails);
    }
    SocketAddress where() const { return loopback(transport.address().port()); }
    Peer* peer_at(const SocketAddress& address) {
        Peer* found = nullptr;
        return transport.peer_at(address, &found) ? nullptr : found;
    }
};

inline std::string pattern(size_t size, unsigned seed) {
    std::string text(size, '\0');
    for (size_t i = 0; i < size; ++i) text[i] = static_cast<char>((i * 131 + i / 4096 + seed * 7) & 0xff);
    return text;
}

// Two endpoints, of which the first calls.
struct RailPair {
    static constexpr size_t kLong = 384u << 10;

    explicit RailPair(size_t count = 2) : rails(count) {}

    const size_t rails;
    std::deque<std::string> texts;  // until the transports are closed, which may still read them
    RailSide a{SocketAddress::wildcard(AddressKind::Inet, 0), rails};
    RailSide b{SocketAddress::wildcard(AddressKind::Inet, 0), rails};
    Peer* to_b = a.peer_at(b.where());
    size_t sent[2] = {};

    Peer* to_a() {
        for (const Arrived& frame : b.sink.frames) return frame.from;
        return nullptr;
    }
    bool send(RailSide& from, Peer& to, size_t size) {
        texts.push_back(pattern(size, static_cast<unsigned>(texts.size())));
        const std::string& text = texts.back();
        const bool went = run({&a, &b}, [&] {
            return send_text(from.transport, to, text, texts.size() - 1, false, &texts.back()) != SendResult::Again;
        });
        ++sent[&from == &b];
        return went;
    }
    bool all_there(int milliseconds = 10000) {
        return run(
            {&a, &b}, [&] { return b.sink.frames.size() == sent[0] && a.sink.frames.size() == sent[1]; }, milliseconds);
    }
    // In the order in which they were sent, as they were.
    void expect_whole(const Side& at) {
        uint64_t last = 0;
        for (const Arrived& frame : at.sink.frames) {
            EXPECT_TRUE(frame.payload == texts[frame.header.word[0]]) << frame.header.word[0];
            EXPECT_GE(frame.header.word[0], last);
            last = frame.header.word[0];
        }
        EXPECT_TRUE(at.sink.downs.empty());
    }
    bool connect() {
        if (!send(a, *to_b, 100) || !send(a, *to_b, kLong) || !all_there()) return false;
        return run({&a, &b},
                   [&] { return a.transport.rails_up(*to_b) == rails && b.transport.rails_up(*to_a()) == rails; });
    }
};

// The descriptors of this process that are connected to a port of that address; of `server`, from it.
inline std::vector<int> rail_sockets(unsigned last, const RailSide& server, bool of_server) {
    std::vector<int> found;
    const SocketAddress at = loopback_of(last);
    for (int fd = 3; fd < 1024; ++fd) {
        sockaddr_in name{};
        socklen_t size = sizeof name;
        const int failed = of_server ? getsockname(fd, reinterpret_cast<sockaddr*>(&name), &size)
                                     : getpeername(fd, reinterpret_cast<sockaddr*>(&name), &size);
        if (failed || name.sin_family != AF_INET || name.sin_addr.s_addr != at.v4.sin_addr.s_addr) continue;
        if (ntohs(name.sin_port) == server.transport.address().port()) found.push_back(fd);
    }
    return found;
}

}  // namespace selvage::impl::test
