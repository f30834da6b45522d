// The numbers of setting up, keeping and ending connections over internet addresses, each with what it decides.
#pragma once

#include <cstddef>
#include <cstdint>

namespace selvage::impl::net {

// Connections that have not proved themselves yet (acceptor.h): at most so many, and this part of the descriptors that
// the process may have. As many descriptors are left to the application.
inline constexpr size_t kPendingMax = 256;
inline constexpr size_t kPendingShare = 8;
// Milliseconds after which a pending connection may be evicted for another: many times what the next note takes.
inline constexpr int64_t kPendingGrace = 10;
// Milliseconds a pending connection may take to prove itself.
inline constexpr int64_t kPendingLimit = 5000;
// Milliseconds before the listener is tried again when no descriptor is left.
inline constexpr int64_t kAcceptPause = 50;
// Milliseconds before a dial that the other side put off (it has one of its own under way) is tried again.
inline constexpr int64_t kCrossedPause = 1000;
inline constexpr int64_t kBusyPause = 20;
// The longest pause before an attempt is repeated that was dropped in the middle of the handshake.
inline constexpr int64_t kDroppedPause = 1000;
// Attempts in a row that end without an answer to the hello after which the other end is taken for another library's,
// once the time of a connection is over, too.
inline constexpr uint32_t kUnansweredMost = 5;
// Milliseconds between two lines of the log about callers that speak another protocol.
inline constexpr int64_t kForeignPause = 2000;
// Milliseconds for which an address where nobody listens is called again, and the pauses in between, while frames wait
// that were reported as sent.
inline constexpr int64_t kRefusedLimit = 1000;
inline constexpr int64_t kRefusedPause = 50;
// Milliseconds that closing an endpoint may take to hand over what was sent and not yet taken, and before that to
// finish handshakes with peers for which something waits.
inline constexpr int64_t kLinger = 1000;
inline constexpr int64_t kSetupLinger = 3000;

// A silent host is gone after these: seconds of silence, seconds between probes, probes.
inline constexpr int kKeepIdle = 20;
inline constexpr int kKeepInterval = 5;
inline constexpr int kKeepCount = 4;

}  // namespace selvage::impl::net
