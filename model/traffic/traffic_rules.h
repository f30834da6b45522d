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
    static constexpr const char* kNames[] = {"send",   "recv",         "tsend",          "trecv",  "write",   "read",
                                             "atomic", "fetch_atomic", "compare_atomic", "cancel", "progress"};
    const Operation& o = operation(c, i);
    return "operation " + std::to_string(i + 1) + " (" + (o.side == Side::A ? "A " : "B ") +
           kNames[static_cast<std::size_t>(o.what)] + ")";
}

/// Evidence about one operation: its number stands in `offer`.
inline Evidence about(const TrafficCase& c, int i, Evidence e, std::string what) {
    e.note = name_of(c, i) + ": " + what;
    return e;
}
inline Evidence about(const TrafficCase& c, int i, std::string what) {
    return about(c, i, told(Field::operation, {}), std::move(what));
}
/// A comparison of numbers about one operation.
inline Evidence compared(const TrafficCase& c, int i, Field f, Relation r, std::uint64_t expected, std::uint64_t actual,
                         std::string what) {
    return about(c, i, number(f, r, expected, actual), std::move(what));
}

/// How the process ended.
inline Evidence death(const TrafficCase& c) {
    const Traffic& t = c.traffic;
    Evidence e = told(Field::subject, std::string(t.hung ? kDidNotReturn : t.exited ? kEndedTheProcess : kDied));
    e.actual = static_cast<std::uint64_t>(t.crashed_signal);
    return e;
}

/// All that came of the traffic is known: its calls came back and nothing more was to come.
inline bool is_whole(const TrafficCase& c) { return c.account->returned && c.traffic.settled; }

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

/// Looks at every entry of success that belongs to an operation for which `concerns` says so.
template <typename Concerns, typename Look>
Ruling each_success(const TrafficCase& c, Concerns&& concerns, Look&& look) {
    Tour tour;
    for (int i = 0; i < operation_count(c); ++i) {
        if (!is_posted(operation(c, i)) || !concerns(operation(c, i))) continue;
        for (const int e : part(c, i).entries)
            if (entry(c, e).error == 0) look(tour, i, entry(c, e));
    }
    return tour.ruling();
}

}  // namespace selvage::model::rules
