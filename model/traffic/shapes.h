// Promises that messages, tagged messages, RMA and atomics make alike: each area has clauses of its own for them.
//
// `Kind` says whether an operation is of the area.  Only the chapters of this folder include this file.
#pragma once

#include "model/traffic/legal.h"
#include "model/traffic/traffic_rules.h"

namespace selvage::model::shapes {

using Kind = bool (*)(const Operation&);

/// The message that an entry of success of a receive is about: the one whose bytes came, else the one that was due.
/// Which of them the receive had to take is for others to say.  -1: that cannot be known.
int message_of(const TrafficCase& c, int receive, const Completion& entry);

/// Calls come back: no crash, no hang, no exit.
Ruling comes_back(const TrafficCase& c, Kind kind);
/// What is within all limits is accepted.
Ruling accepts(const TrafficCase& c, Kind kind);
/// A refusal is the negative of a known errno.
Ruling refuses_with_errno(const TrafficCase& c, Kind kind);
/// What is longer than a limit is refused, or fails; `concerns` says of which operations it is one.
Ruling keeps_limit(const TrafficCase& c, Kind kind, Field limit, bool (*concerns)(const Traffic&, const Operation&),
                   const char* what);
/// Nothing is wrong with an operation that is no peek, and it does not fail.
Ruling succeeds(const TrafficCase& c, Kind kind);
/// The inject calls give no entry of success.
Ruling inject_is_silent(const TrafficCase& c, Kind kind);
/// Without FI_COMPLETION on a queue of selected completions: no entry of success.
Ruling unselected_is_silent(const TrafficCase& c, Kind kind);
/// With FI_COMPLETION there: an entry, of an operation whose effects show that it ended.
Ruling selected_is_reported(const TrafficCase& c, Kind kind);
/// A fenced operation completes after those that were posted before it.
Ruling fence_holds(const TrafficCase& c, Kind kind);
/// The bytes of matched messages arrive whole; `concerns` looks at the send and the receive that took it.
Ruling arrives_whole(const TrafficCase& c, bool (*concerns)(const Traffic&, const Operation&, const Operation&));
/// A message goes to the receive that was posted first among those that match.
Ruling matched_in_order(const TrafficCase& c, Kind kind);
/// Each message is received apart from others, whole.
Ruling keeps_boundaries(const TrafficCase& c, Kind kind);
/// Nothing is written behind the buffer.
Ruling stays_in_buffer(const TrafficCase& c, Kind kind);
/// A directed receive takes no message of another source.
Ruling directed(const TrafficCase& c, Kind kind);
/// Remote data that goes with a message is reported at the receiver.
Ruling data_is_carried(const TrafficCase& c, Kind kind);
/// The target's memory holds what was written to it, where nobody else wrote.
Ruling target_changed(const TrafficCase& c, bool (*concerns)(const Traffic&, const Operation&));
/// What was fetched is in this side's memory.
Ruling result_fetched(const TrafficCase& c, bool (*concerns)(const Traffic&, const Operation&));
/// Each access from the other side was counted by one of the two counters of remote operations, whichever it was.
bool remote_events_are_counted(const TrafficCase& c);
/// Another operation failed, or its message was too long: what is pending may be discarded, and nothing reports it.
bool may_be_discarded(const TrafficCase& c, int operation);
/// An access that the target does not allow ends in an error of the initiator.
Ruling stray_fails(const TrafficCase& c, Kind kind, bool (*concerns)(const Traffic&, const Operation&));
/// It touches nothing.
Ruling stray_touches_nothing(const TrafficCase& c, Kind kind);

/// Every entry comes that is due, `what` if one does not; `concerns` says of which operations, nullptr of all.
Ruling entries_come(const TrafficCase& c, const char* what, bool (*concerns)(const TrafficCase&, int) = nullptr);
/// A call that was answered with -FI_EAGAIN is accepted later, or answered so again; `what` if it is refused.
Ruling again_may_be_tried(const TrafficCase& c, const char* what);
/// No call that must be accepted is refused with, and nothing that was accepted fails with, an error that `means_so`.
Ruling never_says(const TrafficCase& c, Kind kind, bool (*means_so)(std::uint64_t error), const char* refused,
                  const char* failed);
/// The endpoint has the operation: no call that must be accepted says that there is none, and no operation fails so.
Ruling is_there(const TrafficCase& c, Kind kind);
/// Two promises as one: broken if either is, and vacuous if both are.
Ruling both(Ruling one, Ruling two);

/// Nothing was asked for that may disable an endpoint: no access that is not allowed, nothing larger than its limits or
/// than the buffer that takes it.
bool nothing_amiss(const TrafficCase& c);
/// Operation `k` may change bytes of the target that `i` reaches.
bool may_change(const TrafficCase& c, int k, int i);
/// No other operation of the traffic may change the same bytes of the target.
bool is_alone(const TrafficCase& c, int i);
bool succeeded(const TrafficCase& c, int i);
bool failed(const TrafficCase& c, int i);

}  // namespace selvage::model::shapes
