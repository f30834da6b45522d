// One peer of a TCP transport.
//
// A peer is made for an address when that is used or calls, and goes when it is down and nothing refers to it any more:
// in a later progress (TcpTransport::discard_fallen), so that whoever took it down may still look at it. So what comes
// and goes costs no memory.
#pragma once

#include <cstdlib>

#include "impl/engine/transport.h"
#include "impl/transport/net/address_table.h"
#include "impl/transport/net/dial.h"
#include "impl/transport/tcp/send_buffer.h"
#include "impl/transport/tcp/tcp_rails.h"

namespace selvage::impl::tcp {

// An address from which peers have connected: how many of them are connected now.
struct CallingHost {
    explicit CallingHost(const SocketAddress& address) : remote(address) {}
    SocketAddress remote;  // without a port
    size_t connected = 0;  // not zero but while it is made
    CallingHost* next_same_hash = nullptr;
    CallingHost* next = nullptr;
    CallingHost* previous = nullptr;
};

struct Peer : net::Watched, PeerBase {
    enum class Phase : uint8_t {
        Down,     // also before the first dial
        Dialing,  // frames are kept, as far as they are small; the flusher's thread may have the connection already
        Up,
    };

    explicit Peer(const SocketAddress& where) : net::Watched{net::Watch::Peer}, remote(where) {}
    ~Peer() { free(invitation); }
    Peer(const Peer&) = delete;
    Peer& operator=(const Peer&) = delete;

    Phase phase = Phase::Down;
    bool queued = false;        // has a send buffer with something in it, and is in the transport's list of those
    bool indirect = false;      // queued, or kept: frames go by the buffer
    bool blocked = false;       // the socket took less than it was given
    bool watches_room = false;  // epoll reports when the socket has room again
    bool wants_room = false;    // the engine waits for Sink::room
    bool broken = false;        // in the list of peers that go down at the next progress
    bool dropped = false;       // with broken: nothing further of it is delivered
    bool unread = false;        // nothing is read from its first connection now: dropped, or splitting
    bool hot = false;
    bool placement_active = false;
    bool fallen = false;     // in the transport's list of peers that may be discarded
    bool splitting = false;  // a frame is being put together of parts (rails.h); nothing else is read
    bool invited = false;    // it was sent addresses for rails; protected by the setup lock
    uint8_t bulk = 0;        // reads for which long payloads are expected: little is read ahead, the rest in its place
    int error = 0;           // with broken
    int tx = -1;             // the same socket in both directions, but for the endpoint itself. Guarded while queued.
    int rx = -1;
    uint32_t sent_round = UINT32_MAX;  // the round in which the last frame went out at once
    uint32_t misses = 0;               // hot, and nothing was there
    SendBuffer* buffer = nullptr;      // protected by the transport's guard while queued
    KeptBytes* kept = nullptr;         // of `rails`: what is sent is copied there (take_over.h); set with the guard
    uint64_t received = 0;             // bytes that were read of its first connection

    // Arrivals. A frame in parts: its payload is being placed, or all that there is of it is in `left`.
    std::byte* left = nullptr;  // kLeftMax bytes while left_size is not zero
    uint32_t left_size = 0;
    uint32_t placement_range = 0;  // where the next byte goes
    size_t placement_offset = 0;
    Header placement_header{};
    Placement placement{};

    // Connecting: protected by the transport's setup lock, under which `phase`, too, is changed.
    net::Dial* dial = nullptr;  // while Dialing, but for pauses
    bool ready = false;         // not Up yet, but tx and rx are a connection: an outcome that the next progress takes
    bool in_outcomes = false;   // in the transport's list
    bool in_dialing = false;    // in the transport's list
    bool refusal_extended = false;  // refused_dial.h
    bool posted_since =
        false;              // since attempt_since, frames were put into the buffer; protected by the transport's guard
    int failure = 0;        // with Dialing: it is given up, which the next progress reports
    int last_error = 0;     // of the attempts so far
    uint32_t attempts = 0;  // that were dropped
    uint32_t unanswered = 0;    // of these, the last in a row that ended with Foreign::Silent
    int64_t dial_since = 0;     // milliseconds; the first attempt began
    int64_t attempt_since = 0;  // and the last one
    int64_t deadline = 0;       // of dialing, in milliseconds
    int64_t dial_again = 0;     // the dial was put off until then
    uint64_t instance = 0;      // of the other endpoint, and the last of its calls that is known
    uint32_t sequence = 0;
    uint32_t taken = 0;           // frames reported as sent before there was a connection; the owner's
    CallingHost* host = nullptr;  // counted there, as it has connected to an endpoint that did not call it
    Rails* rails = nullptr;       // further connections; the owner's
    // With rails, or what they can be made of, malloc'ed: of who was called, the addresses until the first long frame
    // and then the secret alone; of a caller who was sent some (`invited`), the secret alone. Set before the peer is
    // Up.
    Invitation* invitation = nullptr;
    SocketAddress remote;  // where it listens
    Peer* next_same_hash = nullptr;
    Peer* next_queued = nullptr;
    Peer* next_broken = nullptr;
    Peer* next_dialing = nullptr;
    Peer* next_outcome = nullptr;
    Peer* next_fallen = nullptr;
    Peer* next = nullptr;  // of all
    Peer* previous = nullptr;

    // REQUIRES: the setup lock. Nobody but its table refers to it, or will without a look into that.
    bool idle() const {
        return phase == Phase::Down && !ready && !dial && !in_dialing && !in_outcomes && !queued && !broken && !hot;
    }
};

inline constexpr size_t kLeftMax = sizeof(Header) + kWholeMax;

using PeerTable = net::AddressTable<Peer>;
using HostTable = net::AddressTable<CallingHost>;

}  // namespace selvage::impl::tcp
