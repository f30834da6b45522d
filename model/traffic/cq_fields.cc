// What the fields of an entry hold: spec/clauses/cq_fields.toml.
#include "model/traffic/shapes.h"

namespace selvage::model::clause {

using namespace rules;
using namespace shapes;

namespace {

bool plain_receive(const Operation& o) { return receives(o) && !peeks(o) && !discards(o); }

// The one message of a receive that takes one; nullptr if that is not known.
const Operation* due_message(const TrafficCase& c, int i) {
    if (!part(c, i).sure || part(c, i).messages.size() != 1 || takes_many(c.traffic, operation(c, i))) return nullptr;
    return &operation(c, part(c, i).messages.front());
}

bool prefixed(const Traffic& t) { return t.info != nullptr && (t.info->mode & FI_MSG_PREFIX) != 0; }

// As many bytes of remote data as the endpoint carries.
std::uint64_t data_mask(const Traffic& t) {
    const std::uint64_t size = t.info == nullptr ? 0 : t.info->domain.cq_data_size;
    return size >= 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << (8 * size)) - 1;
}

// Tag bits that the format has: all below its highest one.
std::uint64_t tag_mask(const Traffic& t) {
    std::uint64_t mask = t.info == nullptr ? 0 : t.info->ep.mem_tag_format;
    if (mask == 0) return ~std::uint64_t{0};
    for (unsigned shift = 1; shift < 64; shift *= 2) mask |= mask >> shift;
    return mask;
}

}  // namespace

Ruling cq_len_received(const TrafficCase& c) {
    if (!has_flags(c.traffic) || prefixed(c.traffic)) return Ruling::not_applicable();
    return each_success(c, plain_receive, [&](Tour& tour, int i, const Completion& x) {
        const int m = message_of(c, i, x);
        if (m < 0) return;
        const std::uint64_t placed = std::min(operation(c, m).length, operation(c, i).length);
        tour.see(x.length == placed, [&] {
            return compared(c, i, Observable::Length, Relation::Equals, placed, x.length,
                            "len is not how many bytes were placed in the buffer");
        });
    });
}

Ruling cq_buf_multi_recv(const TrafficCase& c) {
    if (!has_data(c.traffic)) return Ruling::not_applicable();
    return each_success(
        c, [&](const Operation& o) { return takes_many(c.traffic, o); },
        [&](Tour& tour, int i, const Completion& x) {
            if (!reports_message(c.traffic, x) || x.length == 0) return;
            const bool inside = x.buffer_offset >= 0 &&
                                static_cast<std::uint64_t>(x.buffer_offset) + x.length <= operation(c, i).length;
            tour.see(inside && (x.seen == Seen::NotLooked || x.seen == Seen::Whole), [&] {
                constexpr auto kWhat = "buf does not point to where the message was placed";
                if (!inside) return about(c, i, Observable::Overlap, Relation::Equals, kWhat);
                const auto& taken = part(c, i).messages;
                if (taken.size() != 1) return about(c, i, Observable::None, Relation::Equals, kWhat);
                return about(c, i, Observable::Buffer, Relation::Equals, kWhat, {taken.front()});
            });
        });
}

Ruling cq_data_received(const TrafficCase& c) {
    if (!has_data(c.traffic) || data_mask(c.traffic) == 0) return Ruling::not_applicable();
    return each_success(c, plain_receive, [&](Tour& tour, int i, const Completion& x) {
        const int m = message_of(c, i, x);
        if (m < 0 || !carries_data(operation(c, m)) || (x.flags & FI_REMOTE_CQ_DATA) == 0) return;
        const std::uint64_t sent = operation(c, m).data & data_mask(c.traffic);
        tour.see((x.data & data_mask(c.traffic)) == sent, [&] {
            return compared(c, i, Observable::Data, Relation::Equals, sent, x.data, "not the data that the peer sent");
        });
    });
}

Ruling cq_tag_received(const TrafficCase& c) {
    if (!has_tag(c.traffic)) return Ruling::not_applicable();
    return each_success(
        c, [](const Operation& o) { return plain_receive(o) && is_tagged(o); },
        [&](Tour& tour, int i, const Completion& x) {
            const int m = message_of(c, i, x);
            if (m < 0) return;
            const std::uint64_t sent = operation(c, m).tag;
            const std::uint64_t mask = tag_mask(c.traffic);
            tour.see((x.tag & mask) == (sent & mask), [&] {
                return compared(c, i, Observable::Tag, Relation::Equals, sent, x.tag,
                                "not the tag that came with the message");
            });
        });
}

namespace {

// So much of another message would not have fitted either: it may have come in the place of `m`, which breaks an order.
bool may_be_of_another(const TrafficCase& c, const Operation& receive, const Operation* m, std::uint64_t overflow) {
    return std::ranges::any_of(c.traffic.operations, [&](const Operation& o) {
        return &o != m && sends(o) && o.side != receive.side && is_tagged(o) == is_tagged(receive) &&
               o.length > receive.length && o.length - receive.length == overflow;
    });
}

}  // namespace

Ruling cq_olen_discarded(const TrafficCase& c) {
    Tour tour;
    for (int i = 0; i < operation_count(c); ++i) {
        if (!plain_receive(operation(c, i))) continue;
        const Operation* m = due_message(c, i);
        for (const int e : part(c, i).entries) {
            const Completion& x = entry(c, e);
            if (m == nullptr || x.error != FI_ETRUNC || m->length <= operation(c, i).length) continue;
            const std::uint64_t lost = m->length - operation(c, i).length;
            if (x.overflow != lost && may_be_of_another(c, operation(c, i), m, x.overflow)) continue;
            tour.see(x.overflow == lost, [&] {
                return compared(c, i, Observable::Overflow, Relation::Equals, lost, x.overflow,
                                "olen is not how many bytes did not fit");
            });
        }
    }
    return tour.ruling();
}

Ruling cq_overrun_told(const TrafficCase& c) {
    Tour tour;
    for (int i = 0; i < operation_count(c); ++i) {
        const Operation& o = operation(c, i);
        const Operation* m = plain_receive(o) ? due_message(c, i) : nullptr;
        if (m == nullptr || m->length <= o.length) continue;
        for (const int e : part(c, i).entries) {
            const Completion& x = entry(c, e);
            const bool fits = x.error != 0 || !has_flags(c.traffic) || x.length <= o.length;
            tour.see(fits, [&] {
                return compared(c, i, Observable::Length, Relation::AtMost, o.length, x.length,
                                "more bytes than its buffer has, and no error");
            });
        }
    }
    return tour.ruling();
}

Ruling cq_error_code(const TrafficCase& c) {
    Tour tour;
    for (const Completion& x : c.traffic.entries) {
        if (x.error == 0) continue;
        const auto& known = words(Family::error);
        const bool named = std::any_of(known.begin(), known.end(), [&](const Word& w) { return w.value == x.error; });
        tour.see(named, [&] {
            constexpr auto kWhat = "err is no positive errno of the interface";
            if (x.operation < 0) return of_nobody(x, Observable::Error, Relation::Differs, x.error, x.error, kWhat);
            return compared(c, x.operation, Observable::Error, Relation::Differs, x.error, x.error, kWhat);
        });
    }
    return tour.ruling();
}

namespace {

// More accesses of a side failed, by its counters, than entries of errors came for.
bool fails_unreported(const TrafficCase& c, Side side) {
    const Counted& n = c.traffic.counted[number_of(side)];
    const auto reported = std::ranges::count_if(
        c.traffic.entries, [&](const Completion& x) { return x.side == side && x.transmit && x.error != 0; });
    return c.traffic.counters && n.read_errors + n.write_errors > static_cast<std::uint64_t>(reported);
}

}  // namespace

// That an access is let through which the target does not allow is for rma.access and its like to say.
Ruling cq_error_unselected(const TrafficCase& c) {
    if (!is_whole(c) || c.account->left || !is_reliable(c.traffic)) return Ruling::not_applicable();
    Tour tour;
    for (int i = 0; i < operation_count(c); ++i) {
        const Operation& o = operation(c, i);
        if (!accepted(o) || is_inject_call(o) || is_work(o) || reporting(c.traffic, o) != Reporting::No) continue;
        const bool fate = strays(c.traffic, o) && o.length > 0;
        if (!fate || (part(c, i).entries.empty() && may_be_discarded(c, i))) continue;
        const bool orphan = std::any_of(c.account->orphans.begin(), c.account->orphans.end(),
                                        [&](int e) { return entry(c, e).error != 0 && entry(c, e).side == o.side; });
        const bool reported = failed(c, i) || orphan;
        if (!reported && (!part(c, i).entries.empty() || !fails_unreported(c, o.side))) continue;
        tour.see(reported, [&] {
            return about(c, i, Observable::Refusal, Relation::Differs,
                         "it failed, and no error completion came because none was asked for");
        });
    }
    return tour.ruling();
}

Ruling cq_source_told(const TrafficCase& c) {
    if (!can(c.traffic, FI_SOURCE) || is_connected(c.traffic)) return Ruling::not_applicable();
    return each_success(c, plain_receive, [&](Tour& tour, int i, const Completion& x) {
        if (!reports_message(c.traffic, x)) return;
        tour.see(x.from_peer && !x.from_wrong, [&] {
            return compared(c, i, Observable::Source, Relation::Equals, 1, x.from_wrong ? 2 : 0,
                            "fi_cq_readfrom does not tell the address of the sender");
        });
    });
}

Ruling cq_source_not_available(const TrafficCase& c) {
    if (c.traffic.info == nullptr || can(c.traffic, FI_SOURCE) || is_connected(c.traffic))
        return Ruling::not_applicable();
    return each_success(c, plain_receive, [&](Tour& tour, int i, const Completion& x) {
        if (!reports_message(c.traffic, x)) return;
        tour.see(!x.from_wrong, [&] {
            return or_else(compared(c, i, Observable::Source, Relation::Equals, 1, 2,
                                    "fi_cq_readfrom tells an address that is not the sender's"),
                           {0});
        });
    });
}

Ruling endpoint_selective_silent(const TrafficCase& c) { return unselected_is_silent(c, is_posted); }

Ruling endpoint_cancel_ends(const TrafficCase& c) {
    if (!is_whole(c) || !c.account->calm || !is_reliable(c.traffic)) return Ruling::not_applicable();
    Tour tour;
    for (int i = 0; i < operation_count(c); ++i) {
        const Operation& o = operation(c, i);
        if (!part(c, i).cancel || !receives(o) || !accepted(o)) continue;
        // A success whose entry nobody asked for may be all there was.
        if (reporting(c.traffic, o) != Reporting::Yes) continue;
        tour.see(!part(c, i).entries.empty(), [&] {
            return compared(c, i, Observable::Entries, Relation::AtLeast, 1, 0,
                            "cancelled, and neither completed nor failed with FI_ECANCELED");
        });
    }
    return tour.ruling();
}

Ruling endpoint_cancel_code(const TrafficCase& c) {
    // What fails beside it may have taken the endpoint down.
    if (std::count_if(c.traffic.entries.begin(), c.traffic.entries.end(),
                      [](const Completion& x) { return x.error != 0 && x.error != FI_ECANCELED; }) > 1)
        return Ruling::not_applicable();
    Tour tour;
    for (int i = 0; i < operation_count(c); ++i) {
        if (!part(c, i).cancel) continue;
        const auto& taken = part(c, i).messages;
        const bool overrun = std::any_of(taken.begin(), taken.end(),
                                         [&](int m) { return operation(c, m).length > operation(c, i).length; });
        for (const int e : part(c, i).entries) {
            const std::uint64_t error = entry(c, e).error;
            // It had failed before, by a message that is too long for it.
            if (overrun && error != FI_ECANCELED) continue;
            tour.see(error == 0 || error == FI_ECANCELED, [&] {
                return or_else(compared(c, i, Observable::Error, Relation::Equals, FI_ECANCELED, error,
                                        "the error of an operation that was cancelled"),
                               {0});
            });
        }
    }
    return tour.ruling();
}

Ruling endpoint_cancel_unasked(const TrafficCase& c) {
    Tour tour;
    for (int i = 0; i < operation_count(c); ++i) {
        for (const int e : part(c, i).entries) {
            if (entry(c, e).error == 0 || !receives(operation(c, i)) || !c.account->returned) continue;
            if (entry(c, e).error != FI_ECANCELED) continue;
            tour.see(part(c, i).cancel, [&] {
                return compared(c, i, Observable::Error, Relation::Differs, FI_ECANCELED, FI_ECANCELED,
                                "it ended as cancelled, and nobody cancelled it");
            });
        }
    }
    return tour.ruling();
}

}  // namespace selvage::model::clause
