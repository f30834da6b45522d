// What an operation of a traffic is, in the words of the pages.
//
// Invariants: pure functions of an operation and the set-up; nothing here looks at what came of it.  The account and
// the predicates include this file, and whoever runs traffics may.
#pragma once

#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>

#include "model/traffic/traffic.h"

namespace selvage::model {

inline Side other(Side s) { return s == Side::A ? Side::B : Side::A; }

inline bool sends(const Operation& o) { return o.what == Transfer::Send || o.what == Transfer::TaggedSend; }
inline bool receives(const Operation& o) { return o.what == Transfer::Recv || o.what == Transfer::TaggedRecv; }
inline bool is_tagged(const Operation& o) { return o.what == Transfer::TaggedSend || o.what == Transfer::TaggedRecv; }
inline bool is_message(const Operation& o) { return o.what == Transfer::Send || o.what == Transfer::Recv; }
inline bool is_rma(const Operation& o) { return o.what == Transfer::Write || o.what == Transfer::Read; }
inline bool is_atomic(const Operation& o) {
    return o.what == Transfer::Atomic || o.what == Transfer::FetchAtomic || o.what == Transfer::CompareAtomic;
}
/// Memory of the peer.
inline bool reaches_memory(const Operation& o) { return is_rma(o) || is_atomic(o); }
inline bool transmits(const Operation& o) { return sends(o) || reaches_memory(o); }
/// It is posted with a context and may complete.
inline bool is_posted(const Operation& o) { return transmits(o) || receives(o); }
inline bool accepted(const Operation& o) { return is_posted(o) && o.ret == 0; }
/// The target's memory may change by it.
inline bool updates(const Operation& o) {
    return o.what == Transfer::Write || (is_atomic(o) && o.op != static_cast<std::uint64_t>(FI_ATOMIC_READ));
}
/// It brings bytes back from the target.
inline bool fetches(const Operation& o) {
    return o.what == Transfer::Read || o.what == Transfer::FetchAtomic || o.what == Transfer::CompareAtomic;
}

/// The flags it was posted with; those of the endpoint where the call has no argument for them.
inline std::uint64_t flags_of(const Traffic& t, const Operation& o) {
    if (o.form == CallForm::Message) return o.flags;
    return receives(o) ? t.receive_flags : t.transmit_flags;
}
inline bool flagged(const Traffic& t, const Operation& o, std::uint64_t bits) {
    return (flags_of(t, o) & bits) == bits;
}

/// One of the inject calls, of which no success is reported.
inline bool is_inject_call(const Operation& o) { return o.form == CallForm::Inject || o.form == CallForm::InjectData; }
/// Its buffer is free for other use when the call returns.  FI_INJECT is about outbound buffers: a read has none, even
/// if it is a default of its endpoint.
inline bool injects(const Traffic& t, const Operation& o) {
    return transmits(o) && o.what != Transfer::Read && (is_inject_call(o) || flagged(t, o, FI_INJECT));
}
/// Its success may be reported before the target has seen it, and the target's refusal after that: FI_INJECT_COMPLETE
/// guarantees nothing but the buffer (fi_cq(3)).
inline bool ends_when_taken(const Traffic& t, const Operation& o) {
    constexpr std::uint64_t kStronger = FI_TRANSMIT_COMPLETE | FI_DELIVERY_COMPLETE | FI_COMMIT_COMPLETE;
    return updates(o) && !fetches(o) && flagged(t, o, FI_INJECT_COMPLETE) && (flags_of(t, o) & kStronger) == 0;
}
inline bool carries_data(const Operation& o) {
    return o.form == CallForm::Data || o.form == CallForm::InjectData ||
           (o.form == CallForm::Message && transmits(o) && (o.flags & FI_REMOTE_CQ_DATA) != 0);
}
inline bool peeks(const Operation& o) { return receives(o) && o.form == CallForm::Message && (o.flags & FI_PEEK) != 0; }
/// It moves the counter of its side that others wait for.
inline bool moves_counter(const Operation& o) {
    return o.what == Transfer::Trigger || o.what == Transfer::TriggerError || o.what == Transfer::TriggerSet;
}
/// Work of the domain's deferred work queue (fi_trigger(3)).
inline bool is_work(const Operation& o) { return o.deferred && (is_posted(o) || moves_counter(o)); }
/// It waits for the counter of its side by itself (fi_trigger(3)).
inline bool is_triggered(const Operation& o) {
    return is_posted(o) && !o.deferred && o.form == CallForm::Message && (o.flags & FI_TRIGGER) != 0;
}
inline bool waits_for_counter(const Operation& o) { return is_triggered(o) || is_work(o); }
/// Takes a message that a peek has set aside.
inline bool claims(const Operation& o) {
    return receives(o) && o.form == CallForm::Message && (o.flags & FI_PEEK) == 0 && (o.flags & FI_CLAIM) != 0;
}
inline bool discards(const Operation& o) {
    return receives(o) && o.form == CallForm::Message && (o.flags & FI_DISCARD) != 0;
}
/// A buffer for many messages.
inline bool takes_many(const Traffic& t, const Operation& o) {
    return o.what == Transfer::Recv && flagged(t, o, FI_MULTI_RECV);
}

/// Whether an entry is to tell of its success.
enum class Reporting : std::uint8_t { Yes, No, Either };
inline Reporting reporting(const Traffic& t, const Operation& o) {
    if (is_inject_call(o)) return Reporting::No;
    if (o.deferred) return (o.flags & FI_COMPLETION) != 0 ? Reporting::Yes : Reporting::No;
    if (!(receives(o) ? t.selective_receive : t.selective_transmit)) return Reporting::Yes;
    if ((flags_of(t, o) & FI_COMPLETION) != 0) return Reporting::Yes;
    // Flags of a call override "most" of the endpoint's: whether the default is among these is left open.
    const auto defaults = receives(o) ? t.receive_flags : t.transmit_flags;
    return (defaults & FI_COMPLETION) != 0 ? Reporting::Either : Reporting::No;
}

inline bool has_flags(const Traffic& t) { return t.format != FI_CQ_FORMAT_CONTEXT && t.format != FI_CQ_FORMAT_UNSPEC; }
inline bool has_data(const Traffic& t) { return t.format == FI_CQ_FORMAT_DATA || t.format == FI_CQ_FORMAT_TAGGED; }
inline bool has_tag(const Traffic& t) { return t.format == FI_CQ_FORMAT_TAGGED; }

inline bool can(const Traffic& t, std::uint64_t caps) { return t.info != nullptr && (t.info->caps & caps) == caps; }
inline bool is_reliable(const Traffic& t) {
    return t.info != nullptr && (t.info->ep.type == FI_EP_MSG || t.info->ep.type == FI_EP_RDM);
}
/// Messages may be lost, doubled or overtake each other: nothing but their bytes shows which one a receive took.
inline bool is_datagram(const Traffic& t) { return t.info != nullptr && t.info->ep.type == FI_EP_DGRAM; }
inline bool is_connected(const Traffic& t) { return t.info != nullptr && t.info->ep.type == FI_EP_MSG; }
/// Both ends promise this order between messages.
inline bool ordered(const Traffic& t, std::uint64_t order) {
    return t.info != nullptr && (t.info->tx.msg_order & order) == order && (t.info->rx.msg_order & order) == order;
}

/// RMA or an atomic with a key of no region, or without permission.
bool is_barred(const Operation& o);
/// RMA or an atomic that reaches outside what the target lets it reach: no region, behind its end, without permission.
bool strays(const Traffic& t, const Operation& o);
/// It is larger than the endpoint says it can be.
bool exceeds(const Traffic& t, const Operation& o);

}  // namespace selvage::model
