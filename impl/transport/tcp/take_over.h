// A first connection whose link dies: its stream of frames goes on over another link, without an error.
//
// As soon as a peer has a rail (tcp_rails.h), each end says so on the first connection (Keep); what follows is counted
// at both ends, and the sender keeps a copy of it until the other end's kernel has it. When the link is dead, who
// called first calls once more, by the links of the rails and by the first:
//
//   caller                                              called
//   loses the first: sends nothing more on it,
//   forgets no copy; reads on
//                          -- hello (rail kFirstStream) -->  reads what there is, closes the old connection
//                        <-- welcome: what it has of yours
//   reads what there is, closes the old connection
//   Resume: what it has    -- new connection -->        sends on from there
//   sends on
//
// Invariants:
//   1. What an end says to have is all that its kernel has ever acknowledged: the called closes the old connection
//   before
//      it answers, the caller reads the old one once more when the called has closed it, and forgets nothing in
//      between. So what the other end asks for is there.
//   2. Once it has called, the caller goes on calling: the called may have left the old connection.
//   3. The end of a connection that is being left is not the peer's end: of the caller, from when it calls; of the
//   called,
//      until Resume has come.
//   4. A process that ends shows it as before: its kernel ends the first connection, or refuses the calls.
// models/take_over.pml checks 1 to 3.
//
// Dead is what rail_link.h says; a link that is dead shows no error. Who was called cannot call: if it is the one whose
// bytes are not acknowledged, it resets its rails, again if some come up before the caller has called. A caller that
// loses a rail sends something on the first connection, and so finds out; of one whose rail the other end has closed, a
// shorter silence is enough. models/dead_first.pml checks that they come together again.
//
// Everything is the owner's, with the endpoint's lock, but `kept`, which the flusher's thread uses, too: the guard's.
#pragma once

#include "impl/transport/tcp/kept_bytes.h"
#include "impl/transport/tcp/rail_link.h"
#include "impl/transport/tcp/rails.h"

namespace selvage::impl::tcp {

// In the place of a rail's number, in a call that is for the first connection.
inline constexpr uint8_t kFirstStream = kRailsMax;

// Header::op of frames of the transport's own, beside those of rails.h; all are without a payload.
inline constexpr uint8_t kKeepOp = 3;   // the stream is counted behind this
inline constexpr uint8_t kProbeOp = 4;  // to be acknowledged by the kernel
inline constexpr uint8_t kResumeOp =
    5;  // the first on a new connection; word 0: bytes that are here of the other's stream

// Milliseconds of a call for a first connection; how often the peer may refuse one as nobody listens; and how long it
// is looked for in all.
inline constexpr int64_t kFirstDialLimit = 1000;
inline constexpr uint32_t kFirstRefusals = 3;
inline constexpr int64_t kTakeOverLimit = 60'000;
// Milliseconds until the called, whose bytes are not acknowledged, closes its rails again.
inline constexpr int64_t kPokePause = 3000;

// Milliseconds that closing an endpoint may take where another link has to be found: until both ends know that one is
// dead, and two calls.
inline constexpr int64_t kMovingLinger = 4000;

// Of one peer.
struct FirstLink {
    // The other end can go on elsewhere, and so can this one. With the guard, for `kept`.
    bool can_move() const { return counts && kept.begun(); }

    KeptBytes kept;
    bool counts = false;     // Keep has come
    bool lost = false;       // nothing is sent on the connection; what it has is still read
    bool halted = false;     // with lost: and that is over, too
    bool confirmed = true;   // of the called: Resume has come
    bool answered = false;   // of the caller: the call that is under way has been welcomed
    uint32_t sequence = 0;   // of the called: of the newest call
    uint32_t refusals = 0;   // of the caller: in a row
    uint64_t base = 0;       // Peer::received, where Keep ended
    int64_t lost_since = 0;  // milliseconds
    LinkWatch watch;
    bool warned = false;  // of the caller: the other end has closed a rail, which may mean that this link is dead
    int64_t looked = 0;   // microseconds; at the link
    int64_t poked = 0;    // milliseconds; the rails were closed
    size_t way = 0;       // of those that are called in turn
};

// Of a frame of the transport's own without a payload.
inline Header control_header(uint8_t op, uint64_t word = 0) {
    return {.size = kTransportFrame, .op = op, .flags = 0, .aux = 0, .word = {word, 0, 0}};
}
// Says that a link is dead, not that the peer has ended.
bool is_link_error(int error);

}  // namespace selvage::impl::tcp
