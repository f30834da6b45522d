// The few shapes that the clauses on transfers have.  Only the chapters of this folder include it.
#pragma once

#include <rdma/fi_errno.h>

#include <algorithm>
#include <string>

#include "model/chapters/rules.h"
#include "model/traffic/account.h"

namespace selvage::model::rules {

inline std::uint64_t signed_wide(std::int64_t value) { return static_cast<std::uint64_t>(value); }

inline const Operation& operation(const TrafficCase& c, int i) {
    return c.traffic.operations[static_cast<std::size_t>(i)];
}
inline const Completion& entry(const TrafficCase& c, int i) { return c.traffic.entries[static_cast<std::size_t>(i)]; }
inline const Account::Part& part(const TrafficCase& c, int i) { return c.account->parts[static_cast<std::size_t>(i)]; }
inline int operation_count(const TrafficCase& c) { return static_cast<int>(c.traffic.operations.size()); }

inline std::string name_of(const TrafficCase& c, int i) {
    static constexpr const char* kNames[] = {"send",           "recv",        "tsend",       "trecv",
                                             "write",          "read",        "atomic",      "fetch_atomic",
                                             "compare_atomic", "cancel",      "progress",    "trigger",
                                             "trigger_error",  "trigger_set", "cancel_work", "flush_work"};
    const Operation& o = operation(c, i);
    return "operation " + std::to_string(i + 1) + " (" + name_of(o.side) + " " +
           kNames[static_cast<std::size_t>(o.what)] + ")";
}

/// Evidence about operation `i`: what a program has to look at, and how the `others` come into it.  `what` is for
/// people.
inline Evidence about(const TrafficCase& c, int i, Observable seen, Relation r, std::string what,
                      std::vector<int> others = {}) {
    Evidence e = number(Field::operation, r, 0, 0, name_of(c, i) + ": " + std::move(what));
    others.insert(others.begin(), i);
    e.observed.what = seen;
    e.observed.operations = std::move(others);
    return e;
}

/// A comparison of numbers about operation `i`.
inline Evidence compared(const TrafficCase& c, int i, Observable seen, Relation r, std::uint64_t expected,
                         std::uint64_t actual, std::string what, std::vector<int> others = {}) {
    Evidence e = about(c, i, seen, r, std::move(what), std::move(others));
    e.field = seen == Observable::Returned || seen == Observable::Refusal ? Field::call_return : Field::completion;
    e.expected = expected;
    e.actual = actual;
    return e;
}

/// Of the entries that belong to no operation, in one of a side's queues.
inline Evidence of_nobody(Side side, bool transmits, Observable seen, Relation r, std::uint64_t expected,
                          std::uint64_t actual, std::string what) {
    Evidence e = number(Field::completion, r, expected, actual, std::move(what));
    e.observed.what = seen;
    e.observed.side = side;
    e.observed.transmits = transmits;
    return e;
}
inline Evidence of_nobody(const Completion& x, Observable seen, Relation r, std::uint64_t expected,
                          std::uint64_t actual, std::string what) {
    return of_nobody(x.side, x.transmit, seen, r, expected, actual, std::move(what));
}

/// Operands of Relation::Equals that would do as well.
inline Evidence or_else(Evidence e, std::vector<std::uint64_t> also) {
    e.observed.also = std::move(also);
    return e;
}

/// How the process ended.
inline Evidence crash(const TrafficCase& c) {
    return evidence_of_crash(c.traffic.crashed_signal, c.traffic.hung, c.traffic.exited);
}

/// All that came of the traffic is known: its calls came back and nothing more was to come.
inline bool is_whole(const TrafficCase& c) { return c.account->returned && c.traffic.drained; }

/// The same, nothing went wrong that may make other operations go wrong, and no message without a receive may keep
/// others waiting: what is not there will not come.
inline bool all_has_come(const TrafficCase& c) { return is_whole(c) && c.account->calm && !c.account->left; }

/// Gathers the rulings on single operations or entries: broken by the first that is, and vacuous without any.
class Tour {
public:
    /// `evidence` is called only if the promise is broken.
    template <typename MakeEvidence>
    void see(bool kept, MakeEvidence&& evidence) {
        seen_ = true;
        if (!kept && !broken_) {
            broken_ = true;
            first_ = evidence();
        }
    }
    Ruling ruling() {
        if (!seen_) return Ruling::not_applicable();
        return broken_ ? Ruling::broken(std::move(first_)) : Ruling::holds();
    }

private:
    bool seen_ = false, broken_ = false;
    Evidence first_;
};

inline bool is_touched(Seen s) { return s != Seen::NotLooked && s != Seen::Untouched; }
/// What a message was sent for shows, though its own entry may be missing: its receive has one, or has its bytes.
inline bool is_seen_received(const TrafficCase& c, int i) {
    const int by = part(c, i).partner;
    return by >= 0 && (!part(c, by).entries.empty() || is_touched(operation(c, by).local));
}
/// An entry is due and there is none: the operation may not be over, which is for cq.entry.comes to speak of.
inline bool is_without_entry(const TrafficCase& c, int i) {
    return part(c, i).entries.empty() && entries_due(c.traffic, *c.account, static_cast<std::size_t>(i)) > 0;
}

/// It was read from the queue of its operation; elsewhere it carries that context by mistake and says nothing of it.
inline bool in_own_queue(const TrafficCase& c, int i, const Completion& x) {
    const Operation& o = operation(c, i);
    return is_posted(o) && x.side == o.side && x.transmit == transmits(o);
}

/// Looks at every entry of success that belongs to an operation for which `concerns` says so, in its own queue.
template <typename Concerns, typename Look>
Ruling each_success(const TrafficCase& c, Concerns&& concerns, Look&& look) {
    Tour tour;
    for (int i = 0; i < operation_count(c); ++i) {
        if (!is_posted(operation(c, i)) || !concerns(operation(c, i))) continue;
        for (const int e : part(c, i).entries)
            if (entry(c, e).error == 0 && in_own_queue(c, i, entry(c, e))) look(tour, i, entry(c, e));
    }
    return tour.ruling();
}

}  // namespace selvage::model::rules
