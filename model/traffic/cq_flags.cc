// Flags of an entry: spec/clauses/cq_flags.toml.
#include "model/traffic/shapes.h"

namespace selvage::model::clause {

using namespace rules;
using namespace shapes;

namespace {

bool notify_only(const Traffic& t) { return t.info != nullptr && (t.info->mode & FI_NOTIFY_FLAGS_ONLY) != 0; }

// The flag stands in the entries of these operations, and in no others of success that belong to an operation, but for
// those that the text leaves `open`: a tagged message may be called a message.
Ruling flag_is_reported(const TrafficCase& c, std::uint64_t flag, bool (*of)(const Operation&), const char* name,
                        bool (*open)(const Operation&) = nullptr) {
    if (!has_flags(c.traffic) || notify_only(c.traffic)) return Ruling::not_applicable();
    return each_success(
        c, [](const Operation&) { return true; },
        [&](Tour& tour, int i, const Completion& x) {
            if (!reports_message(c.traffic, x)) return;  // the release of a buffer alone
            if (open != nullptr && open(operation(c, i))) return;
            const bool due = of(operation(c, i));
            const bool set = (x.flags & flag) != 0;
            if (!due && !set) return;
            tour.see(due == set, [&] {
                return compared(c, i, Observable::Flags, due ? Relation::Contains : Relation::Lacks, flag, x.flags,
                                std::string(name) + (due ? " is missing" : " is told of another kind of operation"));
            });
        });
}

bool one_way(const Operation& o) { return o.what == Transfer::Write || o.what == Transfer::Atomic; }

}  // namespace

Ruling cq_flags_send(const TrafficCase& c) { return flag_is_reported(c, FI_SEND, sends, "FI_SEND"); }
Ruling cq_flags_recv(const TrafficCase& c) { return flag_is_reported(c, FI_RECV, receives, "FI_RECV"); }
Ruling cq_flags_msg(const TrafficCase& c) { return flag_is_reported(c, FI_MSG, is_message, "FI_MSG", is_tagged); }
Ruling cq_flags_tagged(const TrafficCase& c) { return flag_is_reported(c, FI_TAGGED, is_tagged, "FI_TAGGED"); }
Ruling cq_flags_rma(const TrafficCase& c) { return flag_is_reported(c, FI_RMA, is_rma, "FI_RMA"); }
Ruling cq_flags_atomic(const TrafficCase& c) { return flag_is_reported(c, FI_ATOMIC, is_atomic, "FI_ATOMIC"); }

Ruling cq_flags_read(const TrafficCase& c) {
    if (!has_flags(c.traffic) || notify_only(c.traffic)) return Ruling::not_applicable();
    return each_success(c, is_posted, [&](Tour& tour, int i, const Completion& x) {
        const Operation& o = operation(c, i);
        const bool set = (x.flags & FI_READ) != 0;
        if (o.what == Transfer::Read) {
            tour.see(set, [&] {
                return compared(c, i, Observable::Flags, Relation::Contains, FI_READ, x.flags, "FI_READ is missing");
            });
        } else if (set && reports_message(c.traffic, x)) {
            // An atomic that fetches reads and may write.
            tour.see(fetches(o), [&] {
                return compared(c, i, Observable::Flags, Relation::Lacks, FI_READ, x.flags,
                                "FI_READ is told of another kind of operation");
            });
        }
    });
}

Ruling cq_flags_write(const TrafficCase& c) {
    if (!has_flags(c.traffic) || notify_only(c.traffic)) return Ruling::not_applicable();
    return each_success(c, is_posted, [&](Tour& tour, int i, const Completion& x) {
        const Operation& o = operation(c, i);
        const bool set = (x.flags & FI_WRITE) != 0;
        if (one_way(o)) {
            tour.see(set, [&] {
                return compared(c, i, Observable::Flags, Relation::Contains, FI_WRITE, x.flags, "FI_WRITE is missing");
            });
        } else if (set && reports_message(c.traffic, x)) {
            tour.see(updates(o), [&] {
                return compared(c, i, Observable::Flags, Relation::Lacks, FI_WRITE, x.flags,
                                "FI_WRITE is told of another kind of operation");
            });
        }
    });
}

Ruling cq_flags_fetching_atomic(const TrafficCase& c) {
    if (!has_flags(c.traffic) || notify_only(c.traffic)) return Ruling::not_applicable();
    return each_success(
        c, [](const Operation& o) { return is_atomic(o) && fetches(o); },
        [&](Tour& tour, int i, const Completion& x) {
            tour.see((x.flags & (FI_READ | FI_WRITE)) != 0, [&] {
                return compared(c, i, Observable::Flags, Relation::Meets, FI_READ | FI_WRITE, x.flags,
                                "neither FI_READ nor FI_WRITE is told");
            });
        });
}

Ruling cq_flags_remote_write(const TrafficCase& c) {
    if (!has_flags(c.traffic)) return Ruling::not_applicable();
    Tour tour;
    for (const int e : c.account->orphans) {
        const Completion& x = entry(c, e);
        // With FI_RECV it is the entry of a receive, for cq.context.returned to speak of.
        if (x.error != 0 || x.transmit || (x.flags & FI_RECV) != 0) continue;
        const bool event = can(c.traffic, FI_RMA_EVENT) && (x.flags & FI_REMOTE_READ) != 0;
        tour.see(event || (x.flags & FI_REMOTE_WRITE) != 0, [&] {
            return of_nobody(x, Observable::Flags, Relation::Contains, FI_REMOTE_WRITE, x.flags,
                             "an entry of the target without FI_REMOTE_WRITE");
        });
    }
    return tour.ruling();
}

Ruling cq_flags_remote_unasked(const TrafficCase& c) {
    if (!has_flags(c.traffic)) return Ruling::not_applicable();
    return each_success(
        c, [](const Operation&) { return true; },
        [&](Tour& tour, int i, const Completion& x) {
            if (receives(operation(c, i))) {
                const auto& t = c.traffic;
                // Where the mode asks for it, such entries use up receives.
                if (t.info != nullptr && ((t.info->mode | t.info->rx.mode) & FI_RX_CQ_DATA) != 0) return;
            }
            tour.see((x.flags & (FI_REMOTE_READ | FI_REMOTE_WRITE)) == 0, [&] {
                return compared(c, i, Observable::Flags, Relation::Lacks, FI_REMOTE_READ | FI_REMOTE_WRITE, x.flags,
                                "its own entry speaks of an access from the other side");
            });
        });
}

Ruling cq_flags_remote_cq_data(const TrafficCase& c) {
    if (!has_flags(c.traffic)) return Ruling::not_applicable();
    return each_success(c, receives, [&](Tour& tour, int i, const Completion& x) {
        const int m = message_of(c, i, x);
        if (m < 0) return;
        const bool carried = carries_data(operation(c, m));
        if (!carried && (x.flags & FI_REMOTE_CQ_DATA) == 0) return;
        // That data is there is for each area to say; here only that none is invented.
        tour.see(carried, [&] {
            return compared(c, i, Observable::Flags, Relation::Lacks, FI_REMOTE_CQ_DATA, x.flags,
                            "FI_REMOTE_CQ_DATA, and the peer sent none");
        });
    });
}

Ruling cq_flags_multi_recv(const TrafficCase& c) {
    if (!has_flags(c.traffic)) return Ruling::not_applicable();
    return each_success(
        c, [](const Operation&) { return true; },
        [&](Tour& tour, int i, const Completion& x) {
            if ((x.flags & FI_MULTI_RECV) == 0) return;
            tour.see(takes_many(c.traffic, operation(c, i)), [&] {
                return compared(c, i, Observable::Flags, Relation::Lacks, FI_MULTI_RECV, x.flags,
                                "FI_MULTI_RECV of a buffer that was not posted for many messages");
            });
        });
}

Ruling cq_flags_buffered(const TrafficCase& c) {
    if (!has_flags(c.traffic) || c.traffic.info == nullptr || can(c.traffic, FI_VARIABLE_MSG) ||
        (c.traffic.info->mode & FI_BUFFERED_RECV) != 0)
        return Ruling::not_applicable();
    return each_success(
        c, [](const Operation& o) { return receives(o); },
        [&](Tour& tour, int i, const Completion& x) {
            tour.see((x.flags & FI_MORE) == 0, [&] {
                return compared(c, i, Observable::Flags, Relation::Lacks, FI_MORE, x.flags,
                                "FI_MORE without buffered receives");
            });
        });
}

}  // namespace selvage::model::clause
