// Whether an address where nobody listened is called again. A pure function; TcpTransport::redial asks it.
//
// An attempt says that nobody listened when it was made. Who was given no processor learns of it seconds later, and an
// endpoint may have come to that address since, perhaps the very port of one that died: what was posted to the new one
// must not fail for an attempt that was made before.
#pragma once

#include "impl/transport/net/knobs.h"

namespace selvage::impl::net {

// In milliseconds.
struct RefusedDial {
    int64_t now;
    int64_t since;    // the first attempt began
    int64_t attempt;  // the last one began
    bool posted;      // frames were posted since then
    bool extended;    // and once before, when the time was over
};
enum class AfterRefusal : uint8_t { GiveUp, CallAgain, Extend };

constexpr AfterRefusal after_refusal(const RefusedDial& dial) {
    if (dial.now - dial.since < kRefusedLimit) return AfterRefusal::CallAgain;
    // Too old to say anything of now. The time of the peer (FI_TCP_CONNECT_TIMEOUT) bounds this.
    if (dial.now - dial.attempt >= 2 * kRefusedPause) return AfterRefusal::CallAgain;
    return dial.posted && !dial.extended ? AfterRefusal::Extend : AfterRefusal::GiveUp;
}

}  // namespace selvage::impl::net
