// A peer of a verbs transport, and a call: one connection from the moment somebody wants it until nothing of it is
// left.
//
// A peer is made for an address when that is used or calls, and goes when it is down and nothing refers to it any more
// (VerbsTransport::discard_fallen). It has at most one call, its own or one that
// it took over from a caller who proved himself. A call belongs to the transport, which finds it by the index and
// generation in its completions and by the context of its identifier in its events.
#pragma once

#include "impl/transport/net/address_table.h"
#include "impl/transport/verbs/handshake.h"
#include "impl/transport/verbs/lane.h"
#include "impl/transport/verbs/link.h"

namespace selvage::impl::verbs {

struct Call;

struct Peer : PeerBase {
    enum class Phase : uint8_t {
        Down,  // also before the first call
        Dialing,
        Up,
    };

    explicit Peer(const SocketAddress& where) : remote(where) {}

    // What comes from it goes to the engine.
    bool is_up() const { return phase == Phase::Up && !dropped; }

    Phase phase = Phase::Down;
    bool broken = false;         // in the list of peers that go down at the next progress
    bool dropped = false;        // with broken: nothing further of it is delivered
    bool wants_room = false;     // the engine waits for Sink::room, and the peer is in the list of those
    bool chained = false;        // in the list of peers with requests that wait for others
    bool dialing = false;        // in the list of peers that are called
    bool awaits_answer = false;  // FI_EP_MSG: this end called
    bool fallen = false;         // in the list of peers that may be discarded
    bool ending = false;         // FI_EP_MSG: goes down when all that was sent has arrived
    uint8_t features = 0;        // of the other endpoint
    int error = 0;               // with broken
    Call* call = nullptr;
    int64_t deadline = 0;    // of dialing and ending, in milliseconds
    int64_t dial_again = 0;  // without a call: when to try again
    uint64_t instance = 0;   // of the other endpoint, and the last of its calls that is known
    uint32_t sequence = 0;
    SocketAddress remote;  // where it listens
    Note farewell{};       // FI_EP_MSG: what the other application said when it refused
    Peer* next_same_hash = nullptr;
    Peer* next_broken = nullptr;
    Peer* next_waiting = nullptr;
    Peer* next_chained = nullptr;
    Peer* next_dialing = nullptr;
    Peer* next_fallen = nullptr;
    Peer* next = nullptr;  // of all
    Peer* previous = nullptr;

    // Nobody but its table refers to it, or will without a look into that.
    bool idle() const { return phase == Phase::Down && !call && !broken && !wants_room && !chained && !dialing; }
};

struct Call {
    enum class Stage : uint8_t {
        Resolving,   // address, then route
        Connecting,  // request sent
        Welcome,     // proof sent
        Proof,       // a caller who has not proved himself
        Up,
        Leaving,  // what was said last is on its way
        Dead,     // to be destroyed
    };

    Call(const VerbsDomain& device, uint16_t index, uint32_t generation) : link(device, index, generation) {}

    // Nothing that was sent is still on its way.
    bool idle() const { return link.idle() && (!lane || lane->idle()); }

    Stage stage = Stage::Resolving;
    rdma_cm_id* id = nullptr;
    Link link;
    Lane* lane = nullptr;   // once it is wanted
    bool laneless = false;  // the device gave none
    Peer* peer = nullptr;   // nullptr: a pending connection, or one that leaves
    int64_t deadline = 0;   // of pending connections and those that leave
    Hello hello;            // a pending connection's
    Handshake handshake;
    uint8_t features = 0;  // of the other endpoint
    uint64_t instance = 0;
    uint32_t sequence = 0;
    Call* next = nullptr;
    Call** at = nullptr;  // what points to this one
};

}  // namespace selvage::impl::verbs
