#include "model/traffic/shapes.h"

namespace selvage::model::shapes {

using namespace rules;

namespace {

bool any_of_kind(const TrafficCase& c, Kind kind) {
    return std::any_of(c.traffic.operations.begin(), c.traffic.operations.end(),
                       [&](const Operation& o) { return kind(o); });
}

bool has_success(const TrafficCase& c, int i) {
    return std::any_of(part(c, i).entries.begin(), part(c, i).entries.end(),
                       [&](int e) { return entry(c, e).error == 0; });
}

// Entries of a receive that tell of messages, in order.
std::vector<int> messages_reported(const TrafficCase& c, int receive) {
    std::vector<int> out;
    for (const int e : part(c, receive).entries)
        if (reports_message(c.traffic, entry(c, e)) && entry(c, e).error == 0) out.push_back(e);
    return out;
}

// What is seen of the k-th message that a receive took; NotLooked if nobody looked.
Seen seen_of(const TrafficCase& c, int receive, std::size_t k, int& bytes_of) {
    const auto reported = messages_reported(c, receive);
    const Operation& r = operation(c, receive);
    // Without buf nobody knows where in such a buffer a message lies.
    if (takes_many(c.traffic, r) && !has_data(c.traffic)) return Seen::NotLooked;
    if (k < reported.size()) {
        bytes_of = entry(c, reported[k]).bytes_of;
        if (entry(c, reported[k]).seen != Seen::NotLooked || takes_many(c.traffic, r))
            return entry(c, reported[k]).seen;
    }
    bytes_of = r.bytes_of;
    return takes_many(c.traffic, r) ? Seen::NotLooked : r.local;
}

// Some receive of the traffic has less room than the message needs.
bool may_overrun(const TrafficCase& c, const Operation& send) {
    return std::any_of(c.traffic.operations.begin(), c.traffic.operations.end(), [&](const Operation& r) {
        if (!accepted(r) || !receives(r) || peeks(r) || discards(r) || r.side == send.side ||
            is_tagged(r) != is_tagged(send))
            return false;
        // The space that is left in a buffer for many is at least its minimum.
        const std::uint64_t room = takes_many(c.traffic, r) ? std::min(r.length, c.traffic.min_multi_recv) : r.length;
        return send.length > room;
    });
}

// It waits for a counter, or takes a message that does: that it comes is a promise of its own.
bool hangs_on_counter(const TrafficCase& c, int i) {
    const auto& taken = part(c, i).messages;
    return waits_for_counter(operation(c, i)) ||
           std::any_of(taken.begin(), taken.end(), [&](int s) { return waits_for_counter(operation(c, s)); });
}

const char* word_of(Seen s) {
    switch (s) {
        case Seen::NotLooked:
            return "not looked at";
        case Seen::Untouched:
            return "untouched";
        case Seen::Whole:
            return "whole";
        case Seen::Short:
            return "cut short";
        case Seen::Beyond:
            return "written behind its end";
        case Seen::Foreign:
            break;
    }
    return "filled with bytes of another";
}

}  // namespace

bool succeeded(const TrafficCase& c, int i) { return accepted(operation(c, i)) && has_success(c, i); }

bool failed(const TrafficCase& c, int i) {
    return operation(c, i).ret != 0 || std::any_of(part(c, i).entries.begin(), part(c, i).entries.end(),
                                                   [&](int e) { return entry(c, e).error != 0; });
}

bool may_change(const TrafficCase& c, int k, int i) {
    const Operation &x = operation(c, k), &o = operation(c, i);
    return x.side == o.side && accepted(x) && updates(x) && reaches_memory(x) && x.offset < o.offset + o.length &&
           o.offset < x.offset + x.length;
}

bool is_alone(const TrafficCase& c, int i) {
    for (int k = 0; k < operation_count(c); ++k)
        if (k != i && may_change(c, k, i)) return false;
    return true;
}

Ruling comes_back(const TrafficCase& c, Kind kind) {
    if (!any_of_kind(c, kind) || c.traffic.crashed_opening || c.traffic.crashed_closing)
        return Ruling::not_applicable();
    // A crash belongs to the kind of operation that was called last, where that is known.
    const int at = c.traffic.crashed_at;
    const bool known = at >= 0 && at < operation_count(c);
    if (known && !is_able(c.traffic, operation(c, at))) return Ruling::not_applicable();
    const bool others = known && !kind(operation(c, at));
    return Ruling::check(c.account->returned || others, [&] { return crash(c); });
}

Ruling accepts(const TrafficCase& c, Kind kind) {
    if (!c.account->returned || !c.account->calm) return Ruling::not_applicable();
    Tour tour;
    for (int i = 0; i < operation_count(c); ++i) {
        const Operation& o = operation(c, i);
        if (!kind(o) || admission(c.traffic, o) != Admission::Accept || o.ret == -FI_EAGAIN) continue;
        tour.see(o.ret == 0, [&] {
            return compared(c, i, Observable::Returned, Relation::Equals, 0, signed_wide(o.ret),
                            "refused, though it is within all limits");
        });
    }
    return tour.ruling();
}

Ruling refuses_with_errno(const TrafficCase& c, Kind kind) {
    if (!c.account->returned) return Ruling::not_applicable();
    Tour tour;
    for (int i = 0; i < operation_count(c); ++i) {
        const Operation& o = operation(c, i);
        if (!kind(o) || o.ret == 0) continue;
        const auto& known = words(Family::error);
        const bool named = std::any_of(known.begin(), known.end(),
                                       [&](const Word& w) { return static_cast<std::int64_t>(w.value) == -o.ret; });
        tour.see(o.ret < 0 && named, [&] {
            return compared(c, i, Observable::Returned, Relation::Differs, signed_wide(o.ret), signed_wide(o.ret),
                            "an error is the negative of an errno of the interface");
        });
    }
    return tour.ruling();
}

Ruling keeps_limit(const TrafficCase& c, Kind kind, Field limit, bool (*concerns)(const Traffic&, const Operation&),
                   const char* what) {
    if (!c.account->returned) return Ruling::not_applicable();
    Tour tour;
    for (int i = 0; i < operation_count(c); ++i) {
        const Operation& o = operation(c, i);
        if (!kind(o) || is_work(o) || !is_able(c.traffic, o) || !concerns(c.traffic, o) || o.ret == -FI_EAGAIN)
            continue;
        if (o.length <= get(*c.traffic.info, limit)) continue;
        if (o.ret == 0 && !c.traffic.drained && part(c, i).entries.empty()) continue;
        tour.see(failed(c, i), [&] {
            Evidence e = compared(c, i, Observable::Refusal, Relation::Differs, 0, signed_wide(o.ret), what);
            e.observed.limit = limit;
            return e;
        });
    }
    return tour.ruling();
}

Ruling succeeds(const TrafficCase& c, Kind kind) {
    const Traffic& t = c.traffic;
    if (!c.account->returned || !is_reliable(t) || !nothing_amiss(c)) return Ruling::not_applicable();
    for (int i = 0; i < operation_count(c); ++i) {
        const bool waits = accepted(operation(c, i)) && sends(operation(c, i)) && !part(c, i).before;
        if (waits && t.info->domain.resource_mgmt != FI_RM_ENABLED) return Ruling::not_applicable();
    }
    Tour tour;
    for (int i = 0; i < operation_count(c); ++i) {
        const Operation& o = operation(c, i);
        // What a peek may fail with has a clause of its own, and FI_DISCARD goes with a peek or a claim only.
        if (!kind(o) || peeks(o) || (discards(o) && !claims(o))) continue;
        for (const int e : part(c, i).entries) {
            const Completion& x = entry(c, e);
            if (x.error == FI_ECANCELED && part(c, i).cancel) continue;
            tour.see(x.error == 0, [&] {
                std::vector<std::uint64_t> also;  // of one that was cancelled, that it was
                if (part(c, i).cancel) also.push_back(FI_ECANCELED);
                return or_else(compared(c, i, Observable::Error, Relation::Equals, 0, x.error,
                                        "it failed, though nothing was wrong with it"),
                               std::move(also));
            });
        }
    }
    return tour.ruling();
}

bool nothing_amiss(const TrafficCase& c) {
    for (const Operation& o : c.traffic.operations) {
        if (!accepted(o)) continue;
        if (strays(c.traffic, o) || exceeds(c.traffic, o) || (sends(o) && may_overrun(c, o))) return false;
    }
    return true;
}

namespace {

// Another receive has taken the message: what is broken is how messages are matched, and the receive that waits for it
// waits in good faith.
bool is_in_another(const TrafficCase& c, int message, int receive) {
    const auto has_it = [&](const Completion& x) {
        return x.bytes_of == message && x.operation >= 0 && x.operation != receive;
    };
    if (std::any_of(c.traffic.entries.begin(), c.traffic.entries.end(), has_it)) return true;
    for (int k = 0; k < operation_count(c); ++k)
        if (k != receive && receives(operation(c, k)) && operation(c, k).bytes_of == message) return true;
    return false;
}

// A receive of the same side succeeded that takes no message by the rules: it may have this one, whose bytes are too
// few to tell.
bool some_takes_too_much(const TrafficCase& c, int receive) {
    for (int k = 0; k < operation_count(c); ++k) {
        const Operation& o = operation(c, k);
        if (k == receive || o.side != operation(c, receive).side || !receives(o) || peeks(o)) continue;
        const auto& entries = part(c, k).entries;
        const auto succeeded = [&](int e) { return entry(c, e).error == 0 && reports_message(c.traffic, entry(c, e)); };
        if (part(c, k).messages.empty() && std::any_of(entries.begin(), entries.end(), succeeded)) return true;
    }
    return false;
}

bool any_in_another(const TrafficCase& c, int receive) {
    const auto& taken = part(c, receive).messages;
    if (!taken.empty() && some_takes_too_much(c, receive)) return true;
    return std::any_of(taken.begin(), taken.end(), [&](int m) { return is_in_another(c, m, receive); });
}

// Its entry may be one that came without a context, which is for cq.context.returned to speak of.
bool may_lack_its_context(const TrafficCase& c, int i) {
    const Operation& o = operation(c, i);
    const std::uint64_t class_flag = is_message(o) ? FI_MSG : is_tagged(o) ? FI_TAGGED : is_rma(o) ? FI_RMA : FI_ATOMIC;
    const std::uint64_t flags = has_flags(c.traffic) ? class_flag | (receives(o) ? FI_RECV : 0) : 0;
    return std::ranges::any_of(c.account->orphans, [&](int e) {
        const Completion& x = entry(c, e);
        return x.error == 0 && x.side == o.side && x.transmit == transmits(o) && (x.flags & flags) == flags;
    });
}

// What it did shows that it ended, though no entry says so.  Where it waits for an acknowledgement nothing shows.
bool is_seen_to_end(const TrafficCase& c, int i) {
    constexpr std::uint64_t kAcknowledged = FI_DELIVERY_COMPLETE | FI_MATCH_COMPLETE | FI_COMMIT_COMPLETE;
    const Operation& o = operation(c, i);
    if (!part(c, i).entries.empty()) return true;
    if (transmits(o) && (flags_of(c.traffic, o) & kAcknowledged) != 0) return false;
    if (receives(o) || fetches(o)) return is_touched(o.local);
    if (updates(o)) return is_touched(o.remote);
    return is_seen_received(c, i);
}

}  // namespace

Ruling entries_come(const TrafficCase& c, const char* what, bool (*concerns)(const TrafficCase&, int)) {
    if (!all_has_come(c) || !is_reliable(c.traffic)) return Ruling::not_applicable();
    Tour tour;
    for (int i = 0; i < operation_count(c); ++i) {
        const auto due = entries_due(c.traffic, *c.account, static_cast<std::size_t>(i));
        if (due == 0 || !part(c, i).sure || hangs_on_counter(c, i) || any_in_another(c, i)) continue;
        if (concerns != nullptr && !concerns(c, i)) continue;
        if (may_lack_its_context(c, i)) continue;
        tour.see(part(c, i).entries.size() >= due, [&] {
            return compared(c, i, Observable::Entries, Relation::AtLeast, due, part(c, i).entries.size(), what);
        });
    }
    return tour.ruling();
}

Ruling again_may_be_tried(const TrafficCase& c, const char* what) {
    if (!c.account->returned || !c.account->calm) return Ruling::not_applicable();
    Tour tour;
    for (int i = 0; i < operation_count(c); ++i) {
        const Operation& o = operation(c, i);
        if (!o.again || admission(c.traffic, o) != Admission::Accept) continue;
        tour.see(o.ret == 0 || o.ret == -FI_EAGAIN,
                 [&] { return compared(c, i, Observable::Returned, Relation::Equals, 0, signed_wide(o.ret), what); });
    }
    return tour.ruling();
}

Ruling never_says(const TrafficCase& c, Kind kind, bool (*means_so)(std::uint64_t), const char* refused,
                  const char* failed) {
    Tour tour;
    for (int i = 0; i < operation_count(c); ++i) {
        const Operation& o = operation(c, i);
        if (!kind(o) || admission(c.traffic, o) != Admission::Accept) continue;
        tour.see(!means_so(signed_wide(-o.ret)), [&] {
            return compared(c, i, Observable::Returned, Relation::Equals, 0, signed_wide(o.ret), refused);
        });
        for (const int e : part(c, i).entries) {
            tour.see(!means_so(entry(c, e).error),
                     [&] { return compared(c, i, Observable::Error, Relation::Equals, 0, entry(c, e).error, failed); });
        }
    }
    return tour.ruling();
}

Ruling is_there(const TrafficCase& c, Kind kind) {
    const auto missing = [](std::uint64_t error) { return error == FI_ENOSYS || error == FI_EOPNOTSUPP; };
    return never_says(c, kind, missing, "the endpoint has the capability, and says that it lacks the operation",
                      "the endpoint has the capability, and the operation fails for want of it");
}

Ruling both(Ruling one, Ruling two) {
    if (one.is_broken() || two.outcome() == Outcome::NotApplicable) return one;
    return two;
}

Ruling inject_is_silent(const TrafficCase& c, Kind kind) {
    if (!c.account->returned) return Ruling::not_applicable();
    Tour tour;
    for (int i = 0; i < operation_count(c); ++i) {
        const Operation& o = operation(c, i);
        if (!kind(o) || !accepted(o) || !is_inject_call(o)) continue;
        tour.see(!has_success(c, i), [&] {
            return about(c, i, Observable::Successes, Relation::Equals, "an inject call has an entry of success");
        });
    }
    // An inject call has no context, so that its entry belongs to nobody.
    if (tour.ruling().outcome() != Outcome::NotApplicable) {
        for (const int e : c.account->orphans) {
            const Completion& x = entry(c, e);
            const bool ours = x.transmit && x.error == 0 && any_of_kind(c, kind);
            tour.see(!ours, [&] {
                return of_nobody(x, Observable::Successes, Relation::Equals, 0, 1,
                                 "an entry of success without a context");
            });
        }
    }
    return tour.ruling();
}

Ruling unselected_is_silent(const TrafficCase& c, Kind kind) {
    Tour tour;
    for (int i = 0; i < operation_count(c); ++i) {
        const Operation& o = operation(c, i);
        if (!kind(o) || !accepted(o) || is_inject_call(o) || reporting(c.traffic, o) != Reporting::No) continue;
        if (is_work(o)) continue;                // whose silence is a promise of its own
        if (takes_many(c.traffic, o)) continue;  // the end of such a buffer is always reported
        if (!c.account->returned && part(c, i).entries.empty()) continue;
        tour.see(!has_success(c, i), [&] {
            return about(c, i, Observable::Successes, Relation::Equals, "an entry of success that was not asked for");
        });
    }
    return tour.ruling();
}

Ruling selected_is_reported(const TrafficCase& c, Kind kind) {
    if (!all_has_come(c) || !is_reliable(c.traffic)) return Ruling::not_applicable();
    Tour tour;
    for (int i = 0; i < operation_count(c); ++i) {
        const Operation& o = operation(c, i);
        const bool selective = receives(o) ? c.traffic.selective_receive : c.traffic.selective_transmit;
        if (!kind(o) || hangs_on_counter(c, i) || !selective || reporting(c.traffic, o) != Reporting::Yes ||
            !part(c, i).sure || any_in_another(c, i))
            continue;
        const auto due = entries_due(c.traffic, *c.account, static_cast<std::size_t>(i));
        if (due == 0 || may_lack_its_context(c, i)) continue;
        if (!is_seen_to_end(c, i)) continue;  // it may not have ended, which is for cq.entry.comes to speak of
        tour.see(part(c, i).entries.size() >= due, [&] {
            return compared(c, i, Observable::Entries, Relation::AtLeast, due, part(c, i).entries.size(),
                            "FI_COMPLETION asked for an entry");
        });
    }
    return tour.ruling();
}

Ruling fence_holds(const TrafficCase& c, Kind kind) {
    if (!can(c.traffic, FI_FENCE)) return Ruling::not_applicable();
    Tour tour;
    for (int i = 0; i < operation_count(c); ++i) {
        const Operation& o = operation(c, i);
        if (!kind(o) || !transmits(o) || !flagged(c.traffic, o, FI_FENCE) || waits_for_counter(o) || !succeeded(c, i))
            continue;
        const int fenced = part(c, i).entries.front();
        for (int k = 0; k < i; ++k) {
            const Operation& x = operation(c, k);
            const bool before = transmits(x) && x.side == o.side && accepted(x) && !waits_for_counter(x) &&
                                reporting(c.traffic, x) == Reporting::Yes;
            if (!before) continue;
            const auto& entries = part(c, k).entries;
            if (entries.empty() && !c.traffic.drained) continue;
            tour.see(!entries.empty() && entries.front() < fenced, [&] {
                return about(c, i, Observable::Order, Relation::AtLeast,
                             "fenced, and completed before " + name_of(c, k), {k});
            });
        }
    }
    return tour.ruling();
}

int message_of(const TrafficCase& c, int receive, const Completion& entry) {
    const auto& p = part(c, receive);
    const Operation& o = operation(c, receive);
    const int due = peeks(o) ? p.partner : p.messages.size() == 1 ? p.messages.front() : -1;
    if (due < 0 || !p.sure || takes_many(c.traffic, o)) return -1;
    if (entry.bytes_of >= 0) return entry.bytes_of;
    const bool has_bytes = entry.seen != Seen::Untouched && entry.seen != Seen::NotLooked;
    if (has_bytes || operation(c, due).length == 0) return due;
    // One without bytes may have come in its place.
    const bool has_empty = std::ranges::any_of(c.traffic.operations, [&](const Operation& s) {
        return sends(s) && s.side != o.side && s.length == 0 && is_tagged(s) == is_tagged(o);
    });
    return has_empty ? -1 : due;
}

namespace {

// The receive took another message than the one that was due, or may have: its bytes are not those of that one.
bool took_another(const TrafficCase& c, int receive, int due, int bytes_of) {
    if (bytes_of >= 0) return bytes_of != due;
    const auto reported = messages_reported(c, receive);
    return reported.size() == 1 && !takes_many(c.traffic, operation(c, receive)) &&
           message_of(c, receive, entry(c, reported.front())) != due;
}

}  // namespace

Ruling arrives_whole(const TrafficCase& c, bool (*concerns)(const Traffic&, const Operation&, const Operation&)) {
    if (!c.account->returned) return Ruling::not_applicable();
    Tour tour;
    for (int r = 0; r < operation_count(c); ++r) {
        const auto& taken = part(c, r).messages;
        if (!part(c, r).sure || (claims(operation(c, r)) && discards(operation(c, r)))) continue;
        for (std::size_t k = 0; k < taken.size(); ++k) {
            const Operation& s = operation(c, taken[k]);
            if (s.length == 0 || s.length > operation(c, r).length) continue;
            if (!concerns(c.traffic, s, operation(c, r))) continue;
            const bool done = !messages_reported(c, r).empty() || all_has_come(c);
            int bytes_of = -1;
            const Seen seen = seen_of(c, r, k, bytes_of);
            if (!done || seen == Seen::NotLooked) continue;
            if (seen == Seen::Untouched && waits_for_counter(s)) continue;  // that it begins is promised elsewhere
            if (seen == Seen::Untouched && is_in_another(c, taken[k], r)) continue;
            if (seen == Seen::Untouched && is_reliable(c.traffic) && is_without_entry(c, r)) continue;
            if (took_another(c, r, taken[k], bytes_of)) continue;
            tour.see(seen == Seen::Whole, [&] {
                return about(c, r, Observable::Buffer, Relation::Equals,
                             "the buffer for " + name_of(c, taken[k]) + " is " + word_of(seen), {taken[k]});
            });
        }
    }
    return tour.ruling();
}

namespace {

// The tag and the source that the receive asks for are those of the message.
bool may_take(const TrafficCase& c, int receive, int send) {
    const Operation &r = operation(c, receive), &s = operation(c, send);
    const bool directed = !r.from_any && !is_connected(c.traffic) && can(c.traffic, FI_DIRECTED_RECV);
    if (directed && r.from_other) return false;
    return !is_tagged(r) || (s.tag & ~r.ignore) == (r.tag & ~r.ignore);
}

}  // namespace

Ruling matched_in_order(const TrafficCase& c, Kind kind) {
    // An error may disable an endpoint, and what is discarded then leaves its receive to a later message.
    if (!c.account->returned || !c.account->calm) return Ruling::not_applicable();
    Tour tour;
    for (int r = 0; r < operation_count(c); ++r) {
        const Operation& o = operation(c, r);
        if (!kind(o) || !receives(o) || !accepted(o) || peeks(o) || !part(c, r).sure) continue;
        const auto& taken = part(c, r).messages;
        const auto reported = messages_reported(c, r);
        for (std::size_t k = 0; k < reported.size(); ++k) {
            const int from = entry(c, reported[k]).bytes_of;
            if (from < 0 || waits_for_counter(operation(c, from))) continue;
            if (!may_take(c, r, from)) continue;  // which is for the clauses on tags and sources to speak of
            // The entries of one buffer may come in another order.
            const bool mine = takes_many(c.traffic, o) ? std::find(taken.begin(), taken.end(), from) != taken.end()
                                                       : k < taken.size() && taken[k] == from;
            tour.see(mine, [&] {
                return about(c, r, Observable::Buffer, Relation::Differs,
                             "it took the message of " + name_of(c, from) +
                                 (taken.empty() ? ", and none was for it" : ", not that of " + name_of(c, taken[0])),
                             {from});
            });
        }
    }
    return tour.ruling();
}

Ruling keeps_boundaries(const TrafficCase& c, Kind kind) {
    if (!c.account->returned || !has_flags(c.traffic)) return Ruling::not_applicable();
    return each_success(
        c, [&](const Operation& o) { return kind(o) && receives(o) && !peeks(o) && !discards(o); },
        [&](Tour& tour, int r, const Completion& x) {
            if (x.bytes_of < 0 || !reports_message(c.traffic, x)) return;
            const std::uint64_t sent = operation(c, x.bytes_of).length;
            if (sent > operation(c, r).length) return;
            tour.see(x.length == sent, [&] {
                return compared(c, r, Observable::Length, Relation::Equals, sent, x.length,
                                "not the length of the message of " + name_of(c, x.bytes_of));
            });
        });
}

Ruling stays_in_buffer(const TrafficCase& c, Kind kind) {
    Tour tour;
    for (int i = 0; i < operation_count(c); ++i) {
        const Operation& o = operation(c, i);
        if (!kind(o) || !accepted(o) || !(receives(o) || fetches(o)) || discards(o)) continue;
        bool beyond = o.local == Seen::Beyond;
        bool looked = o.local != Seen::NotLooked;
        for (const int e : part(c, i).entries) {
            looked = looked || entry(c, e).seen != Seen::NotLooked;
            const bool placed = !takes_many(c.traffic, o) || has_data(c.traffic);
            beyond = beyond || (placed && entry(c, e).seen == Seen::Beyond);
        }
        if (!looked) continue;
        tour.see(!beyond, [&] {
            return about(c, i, Observable::Behind, Relation::Equals, "bytes were written behind its buffer");
        });
    }
    return tour.ruling();
}

Ruling directed(const TrafficCase& c, Kind kind) {
    if (!can(c.traffic, FI_DIRECTED_RECV) || is_connected(c.traffic)) return Ruling::not_applicable();
    Tour tour;
    for (int i = 0; i < operation_count(c); ++i) {
        const Operation& o = operation(c, i);
        if (!kind(o) || !receives(o) || !accepted(o) || o.from_any || !o.from_other) continue;
        tour.see(!has_success(c, i), [&] {
            return about(c, i, Observable::Successes, Relation::Equals, "a message of another source than it names");
        });
    }
    return tour.ruling();
}

Ruling data_is_carried(const TrafficCase& c, Kind kind) {
    if (!has_data(c.traffic) || c.traffic.info == nullptr || c.traffic.info->domain.cq_data_size == 0)
        return Ruling::not_applicable();
    Tour tour;
    for (int i = 0; i < operation_count(c); ++i) {
        const Operation& s = operation(c, i);
        const int r = part(c, i).partner;
        if (!kind(s) || !sends(s) || !carries_data(s) || r < 0 || !part(c, i).sure ||
            takes_many(c.traffic, operation(c, r)))
            continue;
        for (const int e : part(c, r).entries) {
            if (entry(c, e).error != 0 || message_of(c, r, entry(c, e)) != i) continue;
            tour.see((entry(c, e).flags & FI_REMOTE_CQ_DATA) != 0, [&] {
                return compared(c, r, Observable::Flags, Relation::Contains, FI_REMOTE_CQ_DATA, entry(c, e).flags,
                                "the data that came with " + name_of(c, i) + " is not told", {i});
            });
        }
    }
    return tour.ruling();
}

Ruling target_changed(const TrafficCase& c, bool (*concerns)(const Traffic&, const Operation&)) {
    if (!c.account->returned) return Ruling::not_applicable();
    Tour tour;
    for (int i = 0; i < operation_count(c); ++i) {
        const Operation& o = operation(c, i);
        if (!updates(o) || !accepted(o) || !concerns(c.traffic, o) || o.length == 0 || o.remote == Seen::NotLooked ||
            !is_alone(c, i) || failed(c, i) || part(c, i).start < 0)
            continue;
        const bool done = all_has_come(c);
        if (!done || (o.remote == Seen::Untouched && waits_for_counter(o))) continue;
        tour.see(o.remote == Seen::Whole, [&] {
            return about(c, i, Observable::Target, Relation::Equals,
                         std::string("the target's memory is ") + word_of(o.remote));
        });
    }
    return tour.ruling();
}

Ruling result_fetched(const TrafficCase& c, bool (*concerns)(const Traffic&, const Operation&)) {
    if (!c.account->returned) return Ruling::not_applicable();
    Tour tour;
    for (int i = 0; i < operation_count(c); ++i) {
        const Operation& o = operation(c, i);
        if (!fetches(o) || !succeeded(c, i) || !concerns(c.traffic, o) || o.length == 0 || !is_alone(c, i)) continue;
        if (strays(c.traffic, o)) continue;
        const Seen seen = entry(c, part(c, i).entries.front()).seen;
        const Seen last = seen != Seen::NotLooked ? seen : o.local;
        if (last == Seen::NotLooked) continue;
        tour.see(last == Seen::Whole, [&] {
            return about(c, i, Observable::Result, Relation::Equals, std::string("the result is ") + word_of(last));
        });
    }
    return tour.ruling();
}

namespace {

// Fenced, or posted after one that is, behind an operation of which nothing says that it has ended: a message that no
// receive takes, perhaps.
bool waits_behind_fence(const TrafficCase& c, int i) {
    const auto earlier = [&](int k) {
        const Operation& x = operation(c, k);
        return transmits(x) && x.side == operation(c, i).side && accepted(x);
    };
    int fence = i;
    while (fence >= 0 && !((fence == i || earlier(fence)) && flagged(c.traffic, operation(c, fence), FI_FENCE)))
        --fence;
    for (int k = 0; k < fence; ++k) {
        if (earlier(k) && part(c, k).entries.empty()) return true;
    }
    return false;
}

}  // namespace

// fi_domain(3): a resource management error disables an endpoint, and what is pending is discarded.
bool may_be_discarded(const TrafficCase& c, int operation) {
    for (int k = 0; k < operation_count(c); ++k)
        if (k != operation && part(c, k).upset) return true;
    return false;
}

Ruling stray_fails(const TrafficCase& c, Kind kind, bool (*concerns)(const Traffic&, const Operation&)) {
    if (!c.account->returned || !is_reliable(c.traffic)) return Ruling::not_applicable();
    Tour tour;
    for (int i = 0; i < operation_count(c); ++i) {
        const Operation& o = operation(c, i);
        if (!kind(o) || is_work(o) || !strays(c.traffic, o) || !is_able(c.traffic, o) || !concerns(c.traffic, o))
            continue;
        if (o.ret == -FI_EAGAIN || o.length == 0) continue;
        const bool known = !part(c, i).entries.empty() || (c.traffic.drained && !c.account->left &&
                                                           !waits_behind_fence(c, i) && !may_be_discarded(c, i));
        // The error of an inject call belongs to no context; nor does one that comes after the entry of a success.
        const bool orphan = std::any_of(c.account->orphans.begin(), c.account->orphans.end(),
                                        [&](int e) { return entry(c, e).error != 0 && entry(c, e).side == o.side; });
        if (!known) continue;
        tour.see(failed(c, i) || ((is_inject_call(o) || ends_when_taken(c.traffic, o)) && orphan), [&] {
            return about(c, i, Observable::Refusal, Relation::Differs,
                         "no error tells that the target does not allow it");
        });
    }
    return tour.ruling();
}

Ruling stray_touches_nothing(const TrafficCase& c, Kind kind) {
    Tour tour;
    for (int i = 0; i < operation_count(c); ++i) {
        const Operation& o = operation(c, i);
        if (!kind(o) || !updates(o) || o.remote == Seen::NotLooked || !is_alone(c, i)) continue;
        if (is_barred(o)) {
            tour.see(o.remote == Seen::Untouched, [&] {
                return about(c, i, Observable::Target, Relation::Differs,
                             std::string("the target's memory is ") + word_of(o.remote));
            });
        } else if (strays(c.traffic, o)) {
            tour.see(o.remote != Seen::Beyond, [&] {
                return about(c, i, Observable::Target, Relation::Differs, "memory behind the region was written");
            });
        }
    }
    return tour.ruling();
}

}  // namespace selvage::model::shapes
