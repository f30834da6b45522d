// fi_msg(3): spec/clauses/msg.toml.
#include "model/traffic/shapes.h"

namespace selvage::model::clause {

using namespace rules;
using namespace shapes;

Ruling msg_call_comes_back(const TrafficCase& c) { return comes_back(c, is_message); }
Ruling msg_call_accepted(const TrafficCase& c) { return accepts(c, is_message); }
Ruling msg_call_errno(const TrafficCase& c) { return refuses_with_errno(c, is_message); }
Ruling msg_call_succeeds(const TrafficCase& c) { return succeeds(c, is_message); }

Ruling msg_call_again(const TrafficCase& c) { return again_may_be_tried(c, "-FI_EAGAIN at first, and then refused"); }

Ruling msg_length_limit(const TrafficCase& c) {
    return keeps_limit(
        c, is_message, Field::ep_max_msg_size, [](const Traffic&, const Operation& o) { return sends(o); },
        "longer than max_msg_size, and neither refused nor failed");
}

Ruling msg_inject_limit(const TrafficCase& c) {
    return keeps_limit(c, is_message, Field::tx_inject_size, injects,
                       "injected, longer than inject_size, and neither refused nor failed");
}

Ruling msg_send_whole(const TrafficCase& c) {
    return arrives_whole(c, [](const Traffic& t, const Operation& s, const Operation& r) {
        return is_message(s) && s.pieces <= 1 && r.pieces <= 1 && !injects(t, s) && !takes_many(t, r);
    });
}
Ruling msg_vector_whole(const TrafficCase& c) {
    return arrives_whole(c, [](const Traffic&, const Operation& s, const Operation& r) {
        return is_message(s) && (s.pieces > 1 || r.pieces > 1);
    });
}
Ruling msg_inject_whole(const TrafficCase& c) {
    return arrives_whole(
        c, [](const Traffic& t, const Operation& s, const Operation&) { return is_message(s) && injects(t, s); });
}
Ruling msg_inject_silent(const TrafficCase& c) { return inject_is_silent(c, is_message); }

Ruling msg_match_order(const TrafficCase& c) { return matched_in_order(c, is_message); }
Ruling msg_match_boundaries(const TrafficCase& c) { return keeps_boundaries(c, is_message); }
Ruling msg_match_source(const TrafficCase& c) { return directed(c, is_message); }
Ruling msg_receive_within_buffer(const TrafficCase& c) { return stays_in_buffer(c, is_message); }
Ruling msg_data_carried(const TrafficCase& c) { return data_is_carried(c, is_message); }
Ruling msg_completion_selected(const TrafficCase& c) { return selected_is_reported(c, is_message); }
Ruling msg_fence_order(const TrafficCase& c) { return fence_holds(c, is_message); }

namespace {

// A look at one buffer for many messages: where its messages lie, and when it was released.
struct Buffer {
    std::uint64_t end = 0;       // behind the last byte of a message
    bool overlap = false;        // two messages share bytes, or one lies outside
    int releases = 0;            // entries with FI_MULTI_RECV
    bool after_release = false;  // an entry came after the release
    bool placed = true;          // every message says where it lies
};

Buffer buffer_of(const TrafficCase& c, int i) {
    Buffer b;
    std::vector<std::pair<std::uint64_t, std::uint64_t>> taken;
    for (const int e : part(c, i).entries) {
        const Completion& x = entry(c, e);
        if (b.releases > 0) b.after_release = true;
        if (x.error == 0 && (x.flags & FI_MULTI_RECV) != 0) ++b.releases;
        if (x.error != 0 || !reports_message(c.traffic, x)) continue;
        if (x.buffer_offset < 0) {
            b.placed = false;
            continue;
        }
        const auto begin = static_cast<std::uint64_t>(x.buffer_offset);
        const auto end = begin + x.length;
        if (end > operation(c, i).length) b.overlap = true;
        for (const auto& [from, to] : taken)
            if (begin < to && from < end) b.overlap = true;
        taken.emplace_back(begin, end);
        b.end = std::max(b.end, end);
    }
    return b;
}

// Looks at every buffer for many messages whose entries tell all.
template <typename Look>
Ruling each_buffer(const TrafficCase& c, Look&& look) {
    const Traffic& t = c.traffic;
    if (!has_flags(t) || (t.info != nullptr && (t.info->mode & FI_NOTIFY_FLAGS_ONLY) != 0))
        return Ruling::not_applicable();
    Tour tour;
    for (int i = 0; i < operation_count(c); ++i) {
        if (accepted(operation(c, i)) && takes_many(t, operation(c, i))) look(tour, i, buffer_of(c, i));
    }
    return tour.ruling();
}

// The largest alignment that placing messages may cost.
constexpr std::uint64_t kAlignment = 4096;

// No other receive can have taken the messages of its side.
bool is_only_receive(const TrafficCase& c, int i) {
    const Operation& o = operation(c, i);
    return std::count_if(c.traffic.operations.begin(), c.traffic.operations.end(), [&](const Operation& x) {
               return x.what == Transfer::Recv && x.side == o.side && accepted(x);
           }) == 1;
}

bool told_all(const TrafficCase& c, int i) {
    // A message that is left without a receive may be what an early release has done.
    return is_whole(c) && c.account->calm && !part(c, i).cancel &&
           reporting(c.traffic, operation(c, i)) == Reporting::Yes;
}

}  // namespace

Ruling msg_multi_recv_packed(const TrafficCase& c) {
    if (!has_data(c.traffic)) return Ruling::not_applicable();
    return each_buffer(c, [&](Tour& tour, int i, const Buffer& b) {
        if (part(c, i).entries.empty() || !b.placed) return;
        tour.see(!b.overlap, [&] {
            return about(c, i, Observable::Overlap, Relation::Equals,
                         "two messages share bytes of the buffer, or one lies outside");
        });
    });
}

Ruling msg_multi_recv_whole(const TrafficCase& c) {
    return arrives_whole(
        c, [](const Traffic& t, const Operation& s, const Operation& r) { return is_message(s) && takes_many(t, r); });
}

Ruling msg_multi_recv_released_once(const TrafficCase& c) {
    return each_buffer(c, [&](Tour& tour, int i, const Buffer& b) {
        if (b.releases == 0) return;
        tour.see(b.releases == 1 && !b.after_release, [&] {
            return compared(c, i, Observable::Releases, Relation::AtMost, 1, static_cast<std::uint64_t>(b.releases),
                            "entries of the buffer came after its release");
        });
    });
}

Ruling msg_multi_recv_release_due(const TrafficCase& c) {
    if (!has_data(c.traffic) || c.traffic.min_multi_recv == 0) return Ruling::not_applicable();
    return each_buffer(c, [&](Tour& tour, int i, const Buffer& b) {
        if (!told_all(c, i) || !b.placed || part(c, i).entries.empty()) return;
        const std::uint64_t length = operation(c, i).length;
        if (b.end > length || length - b.end >= c.traffic.min_multi_recv) return;
        tour.see(b.releases > 0, [&] {
            return compared(c, i, Observable::SpaceUnreleased, Relation::AtLeast, c.traffic.min_multi_recv,
                            length - b.end, "less space is left than the minimum, and the buffer was not released");
        });
    });
}

Ruling msg_multi_recv_kept(const TrafficCase& c) {
    if (!has_data(c.traffic) || c.traffic.min_multi_recv == 0) return Ruling::not_applicable();
    return each_buffer(c, [&](Tour& tour, int i, const Buffer& b) {
        if (!told_all(c, i) || !b.placed) return;
        const std::uint64_t length = operation(c, i).length;
        if (b.end > length || length - b.end < c.traffic.min_multi_recv + kAlignment) return;
        tour.see(b.releases == 0, [&] {
            return compared(c, i, Observable::SpaceReleased, Relation::AtMost, c.traffic.min_multi_recv + kAlignment,
                            length - b.end, "released with more space left than the minimum");
        });
    });
}

Ruling msg_multi_recv_release_told(const TrafficCase& c) {
    if (!c.traffic.selective_receive || !all_has_come(c)) return Ruling::not_applicable();
    return each_buffer(c, [&](Tour& tour, int i, const Buffer& b) {
        if (reporting(c.traffic, operation(c, i)) != Reporting::No || !is_only_receive(c, i)) return;
        // Consumed for certain: messages of more bytes than may be left over.  What took nothing may wait for more.
        if (part(c, i).messages.empty()) return;
        std::uint64_t taken = 0;
        for (const int m : part(c, i).messages) taken += operation(c, m).length;
        const std::uint64_t length = operation(c, i).length;
        if (c.traffic.min_multi_recv == 0 || taken > length || length - taken >= c.traffic.min_multi_recv) return;
        tour.see(b.releases > 0, [&] {
            return compared(c, i, Observable::Releases, Relation::AtLeast, 1, 0,
                            "the release of a consumed buffer is not told");
        });
    });
}

}  // namespace selvage::model::clause
