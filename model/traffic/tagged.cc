// fi_tagged(3): spec/clauses/tagged.toml.
#include "model/traffic/shapes.h"

namespace selvage::model::clause {

using namespace rules;
using namespace shapes;

Ruling tagged_call_comes_back(const TrafficCase& c) { return comes_back(c, is_tagged); }
Ruling tagged_call_accepted(const TrafficCase& c) { return accepts(c, is_tagged); }
Ruling tagged_call_errno(const TrafficCase& c) { return refuses_with_errno(c, is_tagged); }
Ruling tagged_call_succeeds(const TrafficCase& c) { return succeeds(c, is_tagged); }

Ruling tagged_inject_limit(const TrafficCase& c) {
    return keeps_limit(c, is_tagged, Field::tx_inject_size, injects,
                       "injected, longer than inject_size, and neither refused nor failed");
}

Ruling tagged_send_whole(const TrafficCase& c) {
    return arrives_whole(c, [](const Traffic& t, const Operation& s, const Operation& r) {
        return is_tagged(s) && s.pieces <= 1 && r.pieces <= 1 && !injects(t, s) && !claims(r);
    });
}
Ruling tagged_vector_whole(const TrafficCase& c) {
    return arrives_whole(c, [](const Traffic&, const Operation& s, const Operation& r) {
        return is_tagged(s) && (s.pieces > 1 || r.pieces > 1);
    });
}
Ruling tagged_inject_whole(const TrafficCase& c) {
    return arrives_whole(
        c, [](const Traffic& t, const Operation& s, const Operation&) { return is_tagged(s) && injects(t, s); });
}
Ruling tagged_inject_silent(const TrafficCase& c) { return inject_is_silent(c, is_tagged); }
Ruling tagged_match_order(const TrafficCase& c) { return matched_in_order(c, is_tagged); }
Ruling tagged_match_boundaries(const TrafficCase& c) { return keeps_boundaries(c, is_tagged); }
Ruling tagged_match_source(const TrafficCase& c) { return directed(c, is_tagged); }
Ruling tagged_receive_within_buffer(const TrafficCase& c) { return stays_in_buffer(c, is_tagged); }
Ruling tagged_data_carried(const TrafficCase& c) { return data_is_carried(c, is_tagged); }
Ruling tagged_completion_selected(const TrafficCase& c) { return selected_is_reported(c, is_tagged); }
Ruling tagged_fence_order(const TrafficCase& c) { return fence_holds(c, is_tagged); }

Ruling tagged_match_tag(const TrafficCase& c) {
    return each_success(
        c, [](const Operation& o) { return o.what == Transfer::TaggedRecv && !claims(o) && !peeks(o); },
        [&](Tour& tour, int i, const Completion& x) {
            if (x.bytes_of < 0) return;
            const Operation& r = operation(c, i);
            const std::uint64_t sent = operation(c, x.bytes_of).tag & ~r.ignore;
            const bool kind = is_tagged(operation(c, x.bytes_of));
            tour.see(kind && sent == (r.tag & ~r.ignore), [&] {
                return about(c, i, Observable::Buffer, Relation::Differs,
                             "it took the message of " + name_of(c, x.bytes_of) + ", whose tag does not match",
                             {x.bytes_of});
            });
        });
}

namespace {

// Looks at every peek, with its entry; nullptr if none came.
template <typename Look>
Ruling each_peek(const TrafficCase& c, Look&& look) {
    if (!c.account->returned) return Ruling::not_applicable();
    Tour tour;
    for (int i = 0; i < operation_count(c); ++i) {
        if (!peeks(operation(c, i)) || !accepted(operation(c, i)) || !part(c, i).sure) continue;
        const auto& entries = part(c, i).entries;
        look(tour, i, entries.empty() ? nullptr : &entry(c, entries.front()));
    }
    return tour.ruling();
}

bool requests_buffer(const TrafficCase& c, int i) { return operation(c, i).length > 0 && !discards(operation(c, i)); }

}  // namespace

Ruling tagged_peek_told(const TrafficCase& c) {
    if (!c.traffic.drained || !c.account->calm) return Ruling::not_applicable();
    return each_peek(c, [&](Tour& tour, int i, const Completion* x) {
        if (reporting(c.traffic, operation(c, i)) != Reporting::Yes) return;
        tour.see(x != nullptr,
                 [&] { return compared(c, i, Observable::Entries, Relation::AtLeast, 1, 0, "a peek has no result"); });
    });
}

Ruling tagged_peek_found(const TrafficCase& c) {
    return each_peek(c, [&](Tour& tour, int i, const Completion* x) {
        if (x == nullptr || x->error != 0) return;
        tour.see(part(c, i).partner >= 0, [&] {
            return compared(c, i, Observable::Successes, Relation::Equals, 0, 1,
                            "a peek found a message that is not there");
        });
    });
}

Ruling tagged_peek_nothing(const TrafficCase& c) {
    Tour tour;
    for (int i = 0; i < operation_count(c); ++i) {
        if (!peeks(operation(c, i)) || part(c, i).cancel || !is_reliable(c.traffic)) continue;
        for (const int e : part(c, i).entries) {
            const std::uint64_t error = entry(c, e).error;
            if (error == 0 || error == FI_ETRUNC) continue;
            tour.see(error == FI_ENOMSG, [&] {
                return or_else(compared(c, i, Observable::Error, Relation::Equals, FI_ENOMSG, error,
                                        "the error of a peek that finds nothing"),
                               {0, FI_ETRUNC});
            });
        }
    }
    return tour.ruling();
}

Ruling tagged_peek_length(const TrafficCase& c) {
    if (!has_flags(c.traffic)) return Ruling::not_applicable();
    return each_peek(c, [&](Tour& tour, int i, const Completion* x) {
        if (x == nullptr || x->error != 0 || part(c, i).partner < 0) return;
        const std::uint64_t sent = operation(c, part(c, i).partner).length;
        tour.see(x->length == sent, [&] {
            return compared(c, i, Observable::Length, Relation::Equals, sent, x->length,
                            "not the length of the message that it found");
        });
    });
}

Ruling tagged_peek_tag(const TrafficCase& c) {
    if (!has_tag(c.traffic)) return Ruling::not_applicable();
    return each_peek(c, [&](Tour& tour, int i, const Completion* x) {
        if (x == nullptr || x->error != 0 || part(c, i).partner < 0) return;
        const std::uint64_t sent = operation(c, part(c, i).partner).tag;
        tour.see(x->tag == sent, [&] {
            return compared(c, i, Observable::Tag, Relation::Equals, sent, x->tag,
                            "not the tag of the message that it found");
        });
    });
}

Ruling tagged_peek_buffer(const TrafficCase& c) {
    if (!has_data(c.traffic)) return Ruling::not_applicable();
    return each_peek(c, [&](Tour& tour, int i, const Completion* x) {
        if (x == nullptr || x->error != 0 || !requests_buffer(c, i) || x->buffer_offset != 0) return;
        if (x->seen == Seen::NotLooked) return;
        const int m = part(c, i).partner;
        const bool fits = m >= 0 && operation(c, m).length <= operation(c, i).length;
        const bool good = x->seen == Seen::Whole || (!fits && x->seen == Seen::Short);
        tour.see(good, [&] {
            return about(c, i, m >= 0 ? Observable::Buffer : Observable::None, Relation::Equals,
                         "a peek tells of data in its buffer, and they are not there",
                         m >= 0 ? std::vector{m} : std::vector<int>{});
        });
    });
}

Ruling tagged_peek_leaves_message(const TrafficCase& c) {
    if (!all_has_come(c)) return Ruling::not_applicable();
    return each_peek(c, [&](Tour& tour, int i, const Completion* x) {
        const int m = part(c, i).partner;
        if (x == nullptr || x->error != 0 || m < 0 || (operation(c, i).flags & (FI_CLAIM | FI_DISCARD)) != 0) return;
        const int r = part(c, m).partner;
        if (r < 0 || reporting(c.traffic, operation(c, r)) != Reporting::Yes) return;
        tour.see(!part(c, r).entries.empty(), [&] {
            return compared(c, r, Observable::Entries, Relation::AtLeast, 1, 0,
                            "the message that " + name_of(c, i) + " found never came", {i});
        });
    });
}

Ruling tagged_peek_not_queued(const TrafficCase& c) {
    return each_peek(c, [&](Tour& tour, int i, const Completion* x) {
        if (x == nullptr) return;
        tour.see(part(c, i).entries.size() == 1 && operation(c, i).local != Seen::Foreign, [&] {
            return compared(c, i, Observable::Entries, Relation::Equals, 1, part(c, i).entries.size(),
                            "a peek that is over took a message");
        });
    });
}

Ruling tagged_claim_reserved(const TrafficCase& c) {
    Tour tour;
    for (int i = 0; i < operation_count(c); ++i) {
        const Operation& o = operation(c, i);
        const int m = part(c, i).partner;
        if (!peeks(o) || (o.flags & FI_CLAIM) == 0 || m < 0 || !part(c, i).sure) continue;
        for (const Completion& x : c.traffic.entries) {
            if (x.bytes_of != m || x.operation < 0 || x.operation == i) continue;
            tour.see(claims(operation(c, x.operation)), [&] {
                return about(c, x.operation, Observable::Buffer, Relation::Differs,
                             "it took the message that " + name_of(c, i) + " claimed", {m});
            });
        }
    }
    return tour.ruling();
}

Ruling tagged_claim_receives(const TrafficCase& c) {
    return arrives_whole(c, [](const Traffic&, const Operation& s, const Operation& r) {
        return is_tagged(s) && claims(r) && !discards(r);
    });
}

Ruling tagged_discard_gone(const TrafficCase& c) {
    Tour tour;
    for (int i = 0; i < operation_count(c); ++i) {
        if (!sends(operation(c, i)) || !part(c, i).gone || !part(c, i).sure) continue;
        const auto taken = std::find_if(c.traffic.entries.begin(), c.traffic.entries.end(), [&](const Completion& x) {
            return x.bytes_of == i && x.operation >= 0 && receives(operation(c, x.operation)) &&
                   !peeks(operation(c, x.operation)) && x.error == 0;
        });
        tour.see(taken == c.traffic.entries.end(), [&] {
            return about(c, taken->operation, Observable::Buffer, Relation::Differs,
                         "it took the message of " + name_of(c, i) + ", which was discarded", {i});
        });
    }
    return tour.ruling();
}

}  // namespace selvage::model::clause
