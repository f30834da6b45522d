// What a domain and the mode of an answer mean once data moves: clauses of spec/clauses/domain_*.toml and
// spec/clauses/getinfo_mode.toml.
#include <utility>

#include "model/traffic/shapes.h"

namespace selvage::model::clause {

using namespace rules;
using namespace shapes;

namespace {

constexpr std::uint64_t kBasic = 1;  // FI_MR_BASIC: an enumerator of its own before 1.5, a bit since

const Info* info_of(const TrafficCase& c) { return c.traffic.info; }

// An error that says: nobody is there.
bool is_out_of_reach(std::uint64_t error) {
    switch (error) {
        case FI_EHOSTUNREACH:
        case FI_ENETUNREACH:
        case FI_ECONNREFUSED:
        case FI_EHOSTDOWN:
        case FI_EADDRNOTAVAIL:
            return true;
        default:
            return false;
    }
}

// An error that says: this memory is not registered.
bool requests_registration(std::uint64_t error) {
    switch (error) {
        case FI_EFAULT:
        case FI_EACCES:
        case FI_EPERM:
        case FI_ENOKEY:
        case FI_EKEYREJECTED:
            return true;
        default:
            return false;
    }
}

// The memory at its context is the application's alone, as far as no mode says otherwise: a look at a message, and what
// follows it, keep their place there (fi_tagged(3)).
bool has_context_of_its_own(const TrafficCase& c, const Operation& o) {
    constexpr std::uint64_t kLooks = FI_PEEK | FI_CLAIM | FI_DISCARD;
    return o.context != ContextMemory::NotLooked && (flags_of(c.traffic, o) & kLooks) == 0;
}

// The mode bits that concern an operation.
std::uint64_t mode_of(const Info& info, const Operation& o) {
    return info.mode | (receives(o) ? info.rx.mode : info.tx.mode);
}

// The bytes of what a rest waited for had no reason not to come.
bool must_have_come(const TrafficCase& c, int i) {
    const Operation& o = operation(c, i);
    if (!accepted(o) || o.length == 0) return false;
    if (o.what == Transfer::Write) return is_alone(c, i);
    return sends(o) && part(c, i).before && part(c, i).sure && part(c, i).partner >= 0;
}

}  // namespace

Ruling domain_progress_manual(const TrafficCase& c) {
    if (info_of(c) == nullptr || info_of(c)->domain.data_progress != FI_PROGRESS_MANUAL)
        return Ruling::not_applicable();
    return entries_come(c, "its queue was read again and again, and it came to no end");
}

Ruling domain_progress_auto(const TrafficCase& c) {
    const Traffic& t = c.traffic;
    if (t.info == nullptr || t.info->domain.data_progress != FI_PROGRESS_AUTO || !is_reliable(t) ||
        !c.account->returned || !c.account->calm || !nothing_amiss(c)) {
        return Ruling::not_applicable();
    }
    Tour tour;
    for (int i = 0; i < operation_count(c); ++i) {
        const Operation& o = operation(c, i);
        if (!o.rest || o.rested == 0) continue;
        if (o.awaited >= 0 && !must_have_come(c, o.awaited)) continue;
        tour.see(o.awaited < 0, [&] {
            const int taker = part(c, o.awaited).partner;
            return about(c, o.awaited, Observable::Rest, Relation::Equals,
                         "its bytes did not come while no call was made" +
                             (taker >= 0 ? ", to " + name_of(c, taker) : std::string()),
                         taker >= 0 ? std::vector{taker} : std::vector<int>{});
        });
    }
    return tour.ruling();
}

// What stands ahead of a call on its side may fill a queue, and then it is data that has to move on.
Ruling domain_progress_auto_control(const TrafficCase& c) {
    const Traffic& t = c.traffic;
    if (t.info == nullptr || t.info->domain.control_progress != FI_PROGRESS_AUTO || !is_reliable(t) ||
        !c.account->returned) {
        return Ruling::not_applicable();
    }
    Tour tour;
    bool first[2] = {true, true};
    for (int i = 0; i < operation_count(c); ++i) {
        const Operation& o = operation(c, i);
        if (!transmits(o)) continue;
        const bool is_first = std::exchange(first[static_cast<std::size_t>(o.side)], false);
        if (!o.rest || !is_first || (o.ret != 0 && o.ret != -FI_EAGAIN)) continue;
        tour.see(o.ret == 0, [&] {
            return compared(c, i, Observable::Returned, Relation::Equals, 0, signed_wide(o.ret),
                            "the way to a peer that makes no call is never made");
        });
    }
    return tour.ruling();
}

Ruling domain_caps_loopback(const TrafficCase& c) {
    if (info_of(c) == nullptr || (info_of(c)->domain.caps & FI_LOCAL_COMM) == 0) return Ruling::not_applicable();
    constexpr auto kWhat = "an endpoint of the same domain is out of reach";
    return never_says(c, transmits, is_out_of_reach, kWhat, kWhat);
}

Ruling domain_mr_local_registration(const TrafficCase& c) {
    if (info_of(c) == nullptr) return Ruling::not_applicable();
    const bool requested = (info_of(c)->domain.mr_mode & (FI_MR_LOCAL | kBasic)) != 0 ||
                           ((info_of(c)->mode | info_of(c)->tx.mode | info_of(c)->rx.mode) & FI_LOCAL_MR) != 0;
    if (requested) return Ruling::not_applicable();
    constexpr auto kWhat = "its local buffer is refused, and need not be registered";
    return never_says(c, is_posted, requests_registration, kWhat, kWhat);
}

Ruling domain_mr_endpoint_registration(const TrafficCase& c) {
    if (info_of(c) == nullptr || (info_of(c)->domain.mr_mode & FI_MR_ENDPOINT) == 0) return Ruling::not_applicable();
    constexpr auto kWhat = "the target's region is refused, and was bound to its endpoint and enabled";
    return never_says(c, reaches_memory, requests_registration, kWhat, kWhat);
}

Ruling domain_mr_scalable_offsets(const TrafficCase& c) {
    if (info_of(c) == nullptr || (info_of(c)->domain.mr_mode & (FI_MR_VIRT_ADDR | kBasic)) != 0 || !all_has_come(c)) {
        return Ruling::not_applicable();
    }
    Tour tour;
    for (int i = 0; i < operation_count(c); ++i) {
        const Operation& o = operation(c, i);
        if (o.what != Transfer::Write || !accepted(o) || o.length == 0 || o.remote == Seen::NotLooked ||
            !is_alone(c, i) || failed(c, i) || waits_for_counter(o)) {
            continue;
        }
        tour.see(o.remote != Seen::Untouched, [&] {
            return about(c, i, Observable::Target, Relation::Equals, "nothing was written at the offset that it names");
        });
    }
    return tour.ruling();
}

Ruling domain_limits_error_data(const TrafficCase& c) {
    if (info_of(c) == nullptr) return Ruling::not_applicable();
    Tour tour;
    for (const Completion& x : c.traffic.entries) {
        if (x.error == 0) continue;
        const std::uint64_t most = info_of(c)->domain.max_err_data;
        tour.see(x.error_data <= most, [&] {
            constexpr auto kWhat = "bytes of error data, more than domain_attr.max_err_data";
            if (x.operation < 0)
                return of_nobody(x, Observable::ErrorData, Relation::AtMost, most, x.error_data, kWhat);
            return compared(c, x.operation, Observable::ErrorData, Relation::AtMost, most, x.error_data, kWhat);
        });
    }
    return tour.ruling();
}

Ruling getinfo_mode_context(const TrafficCase& c) {
    if (info_of(c) == nullptr) return Ruling::not_applicable();
    Tour tour;
    for (int i = 0; i < operation_count(c); ++i) {
        const Operation& o = operation(c, i);
        if (!has_context_of_its_own(c, o)) continue;
        if ((mode_of(*info_of(c), o) & (FI_CONTEXT | FI_CONTEXT2)) != 0) continue;
        tour.see(o.context == ContextMemory::Untouched, [&] {
            return about(c, i, Observable::Context, Relation::AtMost,
                         "its context was written to, and no mode asks for a struct fi_context");
        });
    }
    return tour.ruling();
}

Ruling getinfo_mode_context_size(const TrafficCase& c) {
    if (info_of(c) == nullptr) return Ruling::not_applicable();
    Tour tour;
    for (int i = 0; i < operation_count(c); ++i) {
        const Operation& o = operation(c, i);
        const auto mode = mode_of(*info_of(c), o);
        if (o.context == ContextMemory::NotLooked || (mode & (FI_CONTEXT | FI_CONTEXT2)) == 0) continue;
        const bool twice = (mode & FI_CONTEXT2) != 0;
        const bool within = o.context != ContextMemory::Beyond && (twice || o.context != ContextMemory::Second);
        tour.see(within, [&] {
            Evidence e =
                about(c, i, Observable::Context, Relation::AtMost,
                      std::string("memory was written behind its struct ") + (twice ? "fi_context2" : "fi_context"));
            e.expected = twice ? sizeof(fi_context2) : sizeof(fi_context);
            return e;
        });
    }
    return tour.ruling();
}

Ruling getinfo_mode_context_ignored_without_completion(const TrafficCase& c) {
    Tour tour;
    for (int i = 0; i < operation_count(c); ++i) {
        const Operation& o = operation(c, i);
        if (!accepted(o) || is_inject_call(o) || !has_context_of_its_own(c, o)) continue;
        if (reporting(c.traffic, o) != Reporting::No || !part(c, i).entries.empty()) continue;
        tour.see(o.context == ContextMemory::Untouched, [&] {
            return about(c, i, Observable::Context, Relation::AtMost,
                         "its context was written to, and it has no completion");
        });
    }
    return tour.ruling();
}

Ruling getinfo_mode_rx_cq_data(const TrafficCase& c) {
    if (info_of(c) == nullptr || ((info_of(c)->mode | info_of(c)->rx.mode) & FI_RX_CQ_DATA) != 0 ||
        !has_flags(c.traffic))
        return Ruling::not_applicable();
    Tour tour;
    for (const Completion& x : c.traffic.entries) {
        if (x.transmit || x.error != 0 || (x.flags & FI_REMOTE_WRITE) == 0) continue;
        const int i = x.operation;
        tour.see(i < 0 || !receives(operation(c, i)), [&] {
            return compared(c, i, Observable::Flags, Relation::Lacks, FI_REMOTE_WRITE, x.flags,
                            "an RMA write took up this buffer, and no mode says so");
        });
    }
    return tour.ruling();
}

}  // namespace selvage::model::clause
