// What the kernel knows of a connection that carries parts of frames (rails.h): whether its link is dead.
//
// A link is dead when the kernel has sent the same bytes several times and nothing at all came back for a while
// (FI_TCP_LINK_TIMEOUT). One that acknowledges anything is alive, however slow or lossy it is, and so is that of a peer
// that does not read: its kernel answers the probes of a full window. TCP_USER_TIMEOUT, which does not tell a full
// window from silence, is no use here.
#pragma once

#include <cstddef>
#include <cstdint>

namespace selvage::impl::tcp {

// Retransmissions of the same bytes in a row, or probes of a full window, without an answer. The kernel waits 0.2 s
// and then 0.4 s for one where a round trip is short, longer where it is long: so that a short silence of a long link
// is not enough, whatever the limit is.
inline constexpr unsigned kDeadRetransmits = 2;
inline constexpr unsigned kDeadProbes = 3;
// The limit, in milliseconds, of a link that the other end, too, takes for dead.
inline constexpr unsigned kWarnedSilence = 400;

struct LinkSample {
    uint64_t waiting = 0;  // bytes that the socket has and that are not acknowledged
    uint32_t silence = 0;  // milliseconds since something was acknowledged
    uint64_t acked = 0;    // bytes, in all
    uint8_t retransmits = 0;
    uint8_t probes = 0;
};

// Of one connection: how long its link has said nothing though it was given something. What the kernel knows is since
// when it has said nothing, which of a connection that was idle is long.
class LinkWatch {
public:
    // At `now` the kernel says `sample`: whether the link is dead, by a limit; both in milliseconds.
    bool is_dead(const LinkSample& sample, int64_t now, unsigned limit) {
        if (!waited_ || sample.acked != acked_) since_ = now;
        waited_ = sample.waiting != 0;
        acked_ = sample.acked;
        return sample.waiting && sample.silence >= limit && now - since_ >= limit &&
               (sample.retransmits >= kDeadRetransmits || sample.probes >= kDeadProbes);
    }

private:
    bool waited_ = false;  // at the last look
    uint64_t acked_ = 0;
    int64_t since_ = 0;
};

// Bytes that the socket has and that are not acknowledged.
uint64_t under_way(int socket);
// Bytes that have arrived and that are not read.
uint64_t readable(int socket);
// The error of a connection that is over, ECONNRESET if its other end has only closed it; 0: it is not.
int end_of(int socket);
// The other end has closed the connection, in order: all that it sent there can be read.
bool is_closed(int socket);
// False: this kernel does not tell.
bool sample_link(int socket, LinkSample* out);

}  // namespace selvage::impl::tcp
