// A Sink that keeps what a transport hands it, and two transports on the loopback interface to try it with.
#pragma once

#include <arpa/inet.h>

#include <deque>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "impl/transport/tcp/tcp_datapath.h"

namespace selvage::impl::test {

using tcp::Peer;

struct Arrived {
    Peer* from;
    Header header;
    std::string payload;
};

class FakeSink {
public:
    void deliver(Peer& peer, const Header& header, const std::byte* payload) {
        frames.push_back({&peer, header, std::string(reinterpret_cast<const char*>(payload), header.size)});
    }
    bool begin(Peer& peer, const Header& header, Placement* placement) {
        if (refuse_placement) return false;
        std::string& place = places[&peer];
        place.assign(header.size, '?');
        // In two ranges, so that a payload that crosses from one to the next is met, too.
        const size_t half = header.size / 3;
        placement->ranges[0] = {place.data(), half};
        placement->ranges[1] = {place.data() + half, header.size - half};
        placement->count = 2;
        placement->token = this;
        ++placements;
        return true;
    }
    void end(Peer& peer, const Header& header, Placement*, int error) {
        if (error) {
            ++broken_placements;
        } else {
            frames.push_back({&peer, header, places[&peer]});
        }
    }
    void sent(Peer&, void* token, int error) { tokens.push_back({token, error}); }
    void room(Peer& peer) { rooms.push_back(&peer); }
    void down(Peer& peer, int error) { downs.push_back({&peer, error}); }
    void connected(Peer&) { ++connections; }
    void malformed(Peer&) { ++malformed_frames; }

    std::deque<Arrived> frames;
    std::map<Peer*, std::string> places;
    std::vector<std::pair<void*, int>> tokens;
    std::vector<Peer*> rooms;
    std::vector<std::pair<Peer*, int>> downs;
    bool refuse_placement = false;
    int placements = 0;
    int broken_placements = 0;
    int connections = 0;
    int malformed_frames = 0;
};

inline SocketAddress loopback(uint16_t port = 0) {
    SocketAddress address;
    address.kind = AddressKind::Inet;
    address.v4.sin_family = AF_INET;
    address.v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.set_port(port);
    return address;
}

inline SendResult send_text(TcpTransport& transport, Peer& peer, const std::string& text, uint64_t tag = 0,
                            bool more = false, void* token = nullptr) {
    Header header{};
    header.size = static_cast<uint32_t>(text.size());
    header.word[0] = tag;
    const iovec payload{const_cast<char*>(text.data()), text.size()};
    return transport.send(peer, {header, &payload, 1, token, more});
}

// One endpoint.
struct Side {
    explicit Side(net::Key key = {}, const SocketAddress& at = loopback()) {
        result = transport.open_datagram(at, key);
    }
    Peer* peer(const Side& other) {
        Peer* found = nullptr;
        return transport.peer_at(other.transport.address(), &found) ? nullptr : found;
    }
    void progress() { transport.progress(sink); }

    TcpTransport transport;
    FakeSink sink;
    int result;
};

// Calls both until `done`, at most for some seconds.
inline bool run(std::initializer_list<Side*> sides, const std::function<bool()>& done, int milliseconds = 5000) {
    const int64_t deadline = net::now_milliseconds() + milliseconds;
    while (!done()) {
        for (Side* side : sides) side->progress();
        if (net::now_milliseconds() > deadline) return false;
    }
    return true;
}

}  // namespace selvage::impl::test
