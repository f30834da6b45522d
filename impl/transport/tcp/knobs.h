// The numbers of the TCP transport, each with what it decides.
//
// Those that a user may set are parameters (FI_TCP_...), declared in settings.cc; the rest were measured and stay.
#pragma once

#include <cstddef>
#include <cstdint>

namespace selvage::impl::tcp {

// Payload up to here is copied when the socket does not take it at once; more is read from the caller's memory later.
inline constexpr size_t kCopiedMax = 4096;
// The longest payload of a frame. What arrives of it goes straight to where it belongs.
inline constexpr size_t kFramePayloadMax = 512u << 10;
// Messages up to here are sent without asking the receiver.
inline constexpr size_t kEagerMax = 512u << 10;
// A frame with this much payload or less is handed over whole, even when it arrived in parts.
inline constexpr size_t kWholeMax = 4096;
// One per endpoint: what one system call reads at most (beside payload that goes to its place directly).
inline constexpr size_t kReceiveBuffer = 128u << 10;
// Room behind a payload that is being read in place, for the frames that follow it.
inline constexpr size_t kBehind = 4u << 10;
// Reads behind a long frame that ask for no more than kBehind: the next long frame may come behind some short ones, and
// what a larger read takes of it is copied once more.
inline constexpr uint8_t kBulkReads = 8;
// Bytes that wait in front of a busy socket, or for the next call of progress; a power of two. A peer has this buffer
// only while something waits.
inline constexpr size_t kSendRing = 32u << 10;
// So many waiting bytes are sent without waiting for progress.
inline constexpr size_t kSendAt = 16u << 10;
// And so many bytes of payload that was not copied. Several long frames in one system call make fewer packets: the
// odd end of each would be one of its own.
inline constexpr size_t kSendBulk = 1024u << 10;
// Ranges of the payload of a frame: the most that the engine gives (a reply to a read of kRangesMax targets, each in a
// region of kRangesMax ranges), which tcp_endpoint.cc checks.
inline constexpr size_t kPiecesMax = 64;
// Frames per peer whose payload the kernel has not taken yet.
inline constexpr size_t kHeldMax = 16;
// Up to here header and payload are joined on the stack: one plain send is cheaper than a gathering one.
inline constexpr size_t kJoinMax = 512;
// Send buffers and receive leftovers kept for reuse.
inline constexpr size_t kSpareMax = 16;
// Callers that the kernel keeps for a listener; its own limit cuts it.
inline constexpr int kBacklog = 4096;
// Peers that are read from without asking epoll first. A look at epoll costs 100 ns, however many peers it has, a read
// that finds nothing 240: so it pays for the one peer that is likely to have something.
inline constexpr size_t kHotMax = 1;
// A peer is hot once it had something so many times in a row, and no other in between.
inline constexpr uint32_t kHotAfter = 4;
// A hot peer that had nothing so many times in a row is left to epoll (unless it is the only one).
inline constexpr uint32_t kHotMisses = 16;
// System calls per peer and progress while a long payload arrives.
inline constexpr int kReadsPerTurn = 16;
// Between two looks at everything that is not a hot peer (new connections, dials, idle peers), in nanoseconds.
inline constexpr int64_t kControlInterval = 50'000;
// Milliseconds that a deferred frame waits at most for an application that stopped calling, twice.
inline constexpr int64_t kFlushTick = 1;
// Ticks without work after which the flusher sleeps until it is woken.
inline constexpr int kFlushIdle = 50;
// Milliseconds between two looks of the sleeping flusher at what is due without anything arriving (redialing, limits).
inline constexpr int kSetupTick = 20;

}  // namespace selvage::impl::tcp
