// What the kernel knows of a connection that carries parts of frames (rails.h): whether its link is dead.
//
// A link is dead when the kernel has sent the same bytes several times and nothing at all came back, not when the other
// end does not read: TCP_USER_TIMEOUT, which does not tell these apart, is no use here. A lossy link acknowledges
// something all the time.
#pragma once

#include <cstddef>
#include <cstdint>

namespace selvage::impl::tcp {

// Retransmissions of the same bytes in a row, or probes of a full window, without an answer. The kernel waits 0.2 s
// and then 0.4 s for one where a round trip is short, longer where it is long.
inline constexpr unsigned kDeadRetransmits = 2;
inline constexpr unsigned kDeadProbes = 3;
// And no less than this, in milliseconds, since anything was acknowledged.
inline constexpr unsigned kDeadSilence = 400;

struct LinkSample {
    uint64_t waiting = 0;  // bytes that the socket has and that are not acknowledged
    uint32_t silence = 0;  // milliseconds since something was acknowledged
    uint8_t retransmits = 0;
    uint8_t probes = 0;

    bool is_dead() const {
        return waiting && silence >= kDeadSilence && (retransmits >= kDeadRetransmits || probes >= kDeadProbes);
    }
};

// Bytes that the socket has and that are not acknowledged.
uint64_t under_way(int socket);
// Bytes that have arrived and that are not read.
uint64_t readable(int socket);
// False: this kernel does not tell.
bool sample_link(int socket, LinkSample* out);

}  // namespace selvage::impl::tcp
