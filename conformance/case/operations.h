// What an operation of a transfer is: which way it goes, whose memory it reaches, how many bytes it moves.
//
// Pure functions; any thread.
#pragma once

#include <rdma/fabric.h>

#include <cstddef>
#include <cstdint>

#include "model/traffic/traffic.h"

namespace selvage::conformance {

/// Length of the region of each side that operations reach.
inline constexpr std::size_t kRegionLength = std::size_t{2} << 20;

/// The bytes that an operation moves: those of its values, for an atomic one.
std::uint64_t bytes_of(const model::Operation& o);
inline bool is_atomic(const model::Operation& o) {
    return o.what == model::Transfer::Atomic || o.what == model::Transfer::FetchAtomic ||
           o.what == model::Transfer::CompareAtomic;
}
inline bool is_receive(const model::Operation& o) {
    return o.what == model::Transfer::Recv || o.what == model::Transfer::TaggedRecv;
}
inline bool is_send(const model::Operation& o) {
    return o.what == model::Transfer::Send || o.what == model::Transfer::TaggedSend;
}
/// A transfer that is not posted on its endpoint, but queued at its domain.
inline bool is_deferred_transfer(const model::Operation& o) { return o.deferred && o.what < model::Transfer::Cancel; }
/// It waits for the counter of its side.
inline bool waits_for_counter(const model::Operation& o) {
    if (o.deferred) return true;
    return o.form == model::CallForm::Message && o.what < model::Transfer::Cancel && (o.flags & FI_TRIGGER) != 0;
}
/// It speaks of another operation, by that one's context.
inline bool cancels(const model::Operation& o) {
    return o.what == model::Transfer::Cancel || o.what == model::Transfer::CancelWork;
}
/// It moves the counter that others wait for.
inline bool moves_counter(const model::Operation& o) {
    return o.what >= model::Transfer::Trigger && o.what <= model::Transfer::TriggerSet;
}
inline bool reaches_memory(const model::Operation& o) {
    return o.what == model::Transfer::Write || o.what == model::Transfer::Read || is_atomic(o);
}
inline model::Side peer_of(model::Side s) { return s == model::Side::A ? model::Side::B : model::Side::A; }

}  // namespace selvage::conformance
