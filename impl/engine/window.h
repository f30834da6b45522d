// How far a peer may send ahead of the receives for its messages, so that what this side has to keep is bounded.
//
// Each side counts, for each peer, units of messages that travel whole: one for the record of a message and one for
// each full 512 bytes of it. A sender begins with kWindowFirst units and gives one up with each that it sends; the
// receiver gives back the units of messages that have their receive, a quarter of the window at a time
// (FrameOp::Credit). A message for which there are no units left is announced, however short it is, and waits in its
// sender's memory: its operation occupies the sender's context, whose end is -FI_EAGAIN. Nobody stops reading what a
// peer sends, so answers pass, and a message that has its receive is never behind one that has none.
//
// One of at most kUnchargedMost bytes is its own announcement (kFrameUncharged): it travels whole, and is kept in the
// record that an announcement has. Its operation ends at the match, as that of an announced message does, but its
// receiver needs nothing more of its sender, which may be away or have no processor.
//
// A message of more than a frame for which there are units may be announced all the same, to be pulled: it takes its
// units (kFrameCharged) and is copied as it comes, receive or none, so that it completes as one that travels whole.
//
// A window grows with its use: each credit doubles it, up to window_most(). So does the number of announcements without
// a receive that a peer may make, from kAnnouncementsFirst to kAnnouncementsMost, when it has made most of them; each
// is a unit. What all peers of an endpoint have beyond their first is kSharedUnits at most, together with what lost
// peers left behind. Nothing shrinks; what a peer had beyond its first goes back when it is down.
//
// A lost peer's messages stay for their receives, and its entries in the completion queue are the application's. Both
// go on counting as its peer's did: an endpoint keeps kOrphanUnits of such messages and as many such entries at most.
// Messages beyond that are discarded when their sender is lost; a peer that causes another entry then is dropped.
//
// What else makes this side keep something for the peer is counted in the same units, or has a budget of its own that
// the peer waits for:
//   - an entry in the completion queue that no receive was posted for (remote CQ data of a write) takes one unit, which
//     is given back when the application has read it (unread_entries.h);
//   - announcements without a receive, and messages that are their own: one record each;
//   - answers that the peer does not read: kAnswerBytesMost of copies, of which an initiator asks for half at most, and
//     kAnswersMost records.
// Writes with data, announcements and reads that are over budget wait at their initiator, in order. A peer that sends
// more than it may is dropped.
//
// A receiver keeps at most 1 KiB per unit, and one record per announcement. FI_UNEXPECTED_SIZE is window_most() in
// bytes.
#pragma once

#include <cstdint>

namespace selvage::impl {

inline constexpr uint64_t kUnitBytes = 512;
// Windows are multiples of four.
inline constexpr uint16_t kWindowFirst = 512;             // 256 KiB
inline constexpr uint16_t kWindowUsual = 8192;            // 4 MiB: what window_most() is without the parameter
inline constexpr uint16_t kWindowLimit = INT16_MAX & ~3;  // 16 MiB
inline constexpr uint32_t kSharedUnits = 64 << 10;        // 32 MiB
inline constexpr uint32_t kOrphanUnits = kSharedUnits / 2;
inline constexpr uint32_t kAnnouncementsFirst = 256;
inline constexpr uint32_t kAnnouncementsMost = 1 << 14;
inline constexpr uint64_t kAnswerBytesMost = 8 << 20;
inline constexpr uint64_t kAskedBytesMost = kAnswerBytesMost / 2;
// More than a peer's operations, of which a context has at most 65,536, and each has one answer at a time.
inline constexpr uint32_t kAnswersMost = 1 << 17;

// Of collectives (collective_receives.h).
inline constexpr uint32_t kCollectiveUnits = 512;  // 256 KiB
inline constexpr uint32_t kCollectiveCredit = kCollectiveUnits / 4;
inline constexpr uint32_t kCollectiveAnnouncements = 4096;

constexpr int units_of(uint64_t length) { return 1 + static_cast<int>(length / kUnitBytes); }

// What a window grows to: kWindowUsual, or what FI_UNEXPECTED_SIZE says, kWindowLimit at most.
uint16_t window_most();

}  // namespace selvage::impl
