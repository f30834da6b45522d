// The numbers of the verbs transport, each with what it decides. They hold for every connection alike: both ends count
// on them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "impl/engine/frame.h"

namespace selvage::impl::verbs {

// One frame, header included: five packets of 4096 bytes, the longest there are. An odd end of each frame would be a
// packet of its own.
inline constexpr size_t kSlotBytes = 20480;
inline constexpr size_t kFramePayloadMax = kSlotBytes - sizeof(Header);
// Messages up to here are sent without asking the receiver: two copies cost less than a round trip. They are one packet
// less than a frame, so that a tag fits, too.
inline constexpr size_t kEagerMax = 16384;
// Messages from here on go from memory to memory (lane.h) when the memory is registered: by the application, or kept
// from an earlier use.
inline constexpr size_t kLongNamed = 16384;
// From here on also when both ends have to register for this one message.
inline constexpr size_t kLongUnnamed = 262144;
// From here on they are read by the receiver's device (exports.h), while the sender's application may do something
// else.
inline constexpr size_t kLongExported = 262144;
// Messages on their way into memory of one receiver from one sender; more come in frames.
inline constexpr uint32_t kLaneMessages = 64;
// Frames that the other end may have in flight: receives that are posted for them. A power of two.
inline constexpr uint32_t kCredits = 32;
// Receives are posted again so many at a time, and the sender may use them from then on: when progress is made the next
// time, as then an answer is under way already; at once when it is so many.
inline constexpr uint32_t kRepost = 4;
inline constexpr uint32_t kRepostAtOnce = 8;
// So many posted receives that the sender does not know of are worth a message of their own.
inline constexpr uint32_t kCreditsOwed = 16;
// Receives for those messages, which need no credit: kCredits / kCreditsOwed + 1 can be under way, and kRepostAtOnce
// more can be used up and not posted again.
inline constexpr uint32_t kReceives = kCredits + 12;
// Work requests in the send queue: frames, credits, and accesses to memory. A power of two.
inline constexpr uint32_t kPosted = 128;
// Of these, places that only credits may use.
inline constexpr uint32_t kPostedReserve = 4;
// Reads, writes and atomics of the device under way; more wait in the engine.
inline constexpr uint32_t kAccesses = 80;
// Every so many unsignalled requests one is signalled: its completion is that of all before it.
inline constexpr uint32_t kSignalEvery = 16;
// Requests that are handed to the device in one call while more follow (FI_MORE, segments).
inline constexpr uint32_t kChain = 8;
// Payload that is copied into the request itself, as far as the device can.
inline constexpr uint32_t kInlineMax = 256;
// Completions looked at in one call.
inline constexpr int kPoll = 16;
// Ranges of one access that the device is given.
inline constexpr uint32_t kAccessRanges = 4;
// The completion queue at first; it grows with the connections.
inline constexpr int kCompletions = 512;
// Reads that one end may have under way at the other, if the devices can.
inline constexpr uint8_t kReadsUnderWay = 16;

// Calls of progress between two looks at the clock, and nanoseconds between two looks at connection events.
inline constexpr uint32_t kRoundsPerLook = 256;
inline constexpr int64_t kControlInterval = 1'000'000;
// Callers that have not proved themselves yet, and the milliseconds they may take.
inline constexpr size_t kPendingMax = 64;
inline constexpr int64_t kPendingLimit = 5000;
// Milliseconds that address and route resolution may take.
inline constexpr int kResolveLimit = 2000;
// Milliseconds that a closing end waits for what it has sent to arrive.
inline constexpr int64_t kLinger = 1000;
// Milliseconds before a call that crossed another, or met a peer that is taken, is repeated.
inline constexpr int64_t kCrossedPause = 500;
inline constexpr int64_t kBusyPause = 50;

}  // namespace selvage::impl::verbs
