#include "model/traffic/account.h"

#include <rdma/fi_errno.h>

#include <algorithm>

#include "model/traffic/starts.h"

namespace selvage::model {
namespace {

// The messages of one kind that go one way.
struct Lane {
    std::vector<int> waiting;  // messages that have arrived and found no receive
    std::vector<int> posted;   // receives that can take a message
    std::size_t messages = 0;
    bool sure = true;
    std::vector<int> members;
};

class Matcher {
public:
    Matcher(const Traffic& t, Account& a) : t_(t), a_(a) {}

    /// @param order what begins, in that order
    void run(const std::vector<int>& order) {
        if (is_datagram(t_)) return observe();
        for (const int i : order) {
            const Operation& o = op(i);
            if (!accepted(o) || !(sends(o) || receives(o))) continue;
            lane_of(o).members.push_back(i);
            take(i, o);
        }
        for (Lane& lane : lanes_) finish(lane);
    }

private:
    const Operation& op(int i) const { return t_.operations[static_cast<std::size_t>(i)]; }
    Account::Part& part(int i) { return a_.parts[static_cast<std::size_t>(i)]; }
    // By the side that receives.
    Lane& lane_of(const Operation& o) {
        const Side to = sends(o) ? other(o.side) : o.side;
        return lanes_[number_of(to) * 2 + (is_tagged(o) ? 1 : 0)];
    }

    // Which message a receive took is what its entries say of the bytes.  Where they do not (nothing was sent, or no
    // entry asked for), nothing is known of it.
    void observe() {
        for (auto& p : a_.parts) p.sure = false;
        for (std::size_t i = 0; i < t_.operations.size(); ++i) {
            if (!accepted(t_.operations[i]) || !receives(t_.operations[i])) continue;
            const int receive = static_cast<int>(i);
            for (const int e : part(receive).entries) observe(receive, t_.entries[static_cast<std::size_t>(e)]);
        }
    }
    void observe(int receive, const Completion& c) {
        const bool names_a_send = c.bytes_of >= 0 && static_cast<std::size_t>(c.bytes_of) < t_.operations.size() &&
                                  accepted(op(c.bytes_of)) && sends(op(c.bytes_of));
        if (!names_a_send) return;
        join(receive, c.bytes_of, true);
        part(c.bytes_of).sure = true;
        part(receive).sure = part(receive).messages.size() == part(receive).entries.size();
    }

    void take(int i, const Operation& o) {
        Lane& lane = lane_of(o);
        if (sends(o)) {
            arrive(i, lane);
        } else if (peeks(o)) {
            peek(i, o, lane);
        } else if (claims(o)) {
            claim(i, o);
        } else {
            post(i, o, lane);
        }
    }

    bool matches(int receive, int send) const {
        const Operation& r = op(receive);
        const Operation& s = op(send);
        const bool directed = !r.from_any && !is_connected(t_) && can(t_, FI_DIRECTED_RECV);
        if (directed && r.from_other) return false;
        return !is_tagged(r) || (s.tag & ~r.ignore) == (r.tag & ~r.ignore);
    }

    void join(int receive, int send, bool before) {
        part(send).partner = receive;
        part(send).before = before;
        part(receive).messages.push_back(send);
    }

    // How many messages a receive takes.
    std::size_t room(int receive) {
        const Operation& o = op(receive);
        const Account::Part& p = part(receive);
        if (!takes_many(t_, o)) return p.cancelled ? 0 : 1;
        if (!can_count(o)) return ~std::size_t{0};
        std::size_t reported = 0;
        for (const int e : p.entries) {
            const Completion& c = t_.entries[static_cast<std::size_t>(e)];
            if (reports_message(t_, c)) ++reported;
            if (c.error == FI_ECANCELED || (c.flags & FI_MULTI_RECV) != 0) return reported;
        }
        return ~std::size_t{0};
    }

    void arrive(int send, Lane& lane) {
        ++lane.messages;
        for (auto it = lane.posted.begin(); it != lane.posted.end(); ++it) {
            if (!matches(*it, send)) continue;
            const int receive = *it;
            join(receive, send, true);
            if (part(receive).messages.size() >= room(receive)) lane.posted.erase(it);
            return;
        }
        lane.waiting.push_back(send);
    }

    void post(int receive, const Operation& o, Lane& lane) {
        const std::size_t most = room(receive);
        if (takes_many(t_, o) && !can_count(o)) lane.sure = false;
        for (auto it = lane.waiting.begin(); it != lane.waiting.end() && part(receive).messages.size() < most;) {
            if (matches(receive, *it)) {
                join(receive, *it, false);
                it = lane.waiting.erase(it);
            } else {
                ++it;
            }
        }
        if (part(receive).messages.size() < most) lane.posted.push_back(receive);
    }

    // The entries tell how many messages a buffer took.
    bool can_count(const Operation& o) const {
        return has_flags(t_) && reporting(t_, o) == Reporting::Yes &&
               (t_.info == nullptr || (t_.info->mode & FI_NOTIFY_FLAGS_ONLY) == 0);
    }

    void peek(int i, const Operation& o, Lane& lane) {
        if (part(i).entries.empty()) {
            if ((o.flags & (FI_CLAIM | FI_DISCARD)) != 0) lane.sure = false;
            return;
        }
        const Completion& c = t_.entries[static_cast<std::size_t>(part(i).entries.front())];
        if (c.error != 0) return;
        const auto found =
            std::find_if(lane.waiting.begin(), lane.waiting.end(), [&](int send) { return matches(i, send); });
        if (found == lane.waiting.end()) return;
        part(i).partner = *found;
        if (discards(o)) part(*found).gone = true;
        if ((o.flags & (FI_CLAIM | FI_DISCARD)) != 0) lane.waiting.erase(found);
    }

    void claim(int i, const Operation& o) {
        if (o.of < 0 || static_cast<std::size_t>(o.of) >= a_.parts.size()) return;
        const int send = part(o.of).partner;
        if (send < 0) return;
        if (discards(o)) {
            part(send).gone = true;
            part(i).partner = send;
        } else {
            join(i, send, false);
        }
    }

    void finish(Lane& lane) {
        if (lane.messages > 1 && !ordered(t_, FI_ORDER_SAS)) lane.sure = false;
        if (!is_reliable(t_) || spends_receives() || strays_anywhere()) lane.sure = false;
        for (const int m : lane.members) {
            for (const int e : part(m).entries) {
                if (!is_tame(op(m), t_.entries[static_cast<std::size_t>(e)])) lane.sure = false;
            }
        }
        for (const int m : lane.members) {
            part(m).sure = lane.sure;
            const bool claimed = part(m).gone || part(m).partner >= 0;
            if (sends(op(m)) && !claimed) a_.left = true;
        }
    }

    // Data of RMA writes uses up receives, where the mode says so.
    bool spends_receives() const {
        if (t_.info == nullptr || ((t_.info->mode | t_.info->rx.mode) & FI_RX_CQ_DATA) == 0) return false;
        return std::any_of(t_.operations.begin(), t_.operations.end(), [](const Operation& o) {
            return accepted(o) && o.what == Transfer::Write && carries_data(o);
        });
    }

    // An access that the target does not allow is an error of resource management: what has not completed fails with
    // the endpoint and is discarded (fi_domain(3)), so that a later message may be the first to arrive.
    bool strays_anywhere() const {
        return std::any_of(t_.operations.begin(), t_.operations.end(),
                           [this](const Operation& o) { return accepted(o) && strays(t_, o); });
    }

    // An outcome that leaves the matching as it is.
    bool is_tame(const Operation& o, const Completion& c) const {
        if (c.error == 0 || (peeks(o) && c.error == FI_ENOMSG)) return true;
        return receives(o) && (c.error == FI_ECANCELED || c.error == FI_ETRUNC);
    }

    const Traffic& t_;
    Account& a_;
    Lane lanes_[4];
};

void gather(const Traffic& t, Account& a) {
    for (std::size_t i = 0; i < t.entries.size(); ++i) {
        const Completion& c = t.entries[i];
        if (c.operation < 0 || static_cast<std::size_t>(c.operation) >= t.operations.size()) {
            a.orphans.push_back(static_cast<int>(i));
            continue;
        }
        auto& part = a.parts[static_cast<std::size_t>(c.operation)];
        part.entries.push_back(static_cast<int>(i));
        if (c.error == FI_ECANCELED) part.cancelled = true;
    }
    for (const Operation& o : t.operations) {
        if (o.what == Transfer::Cancel && o.ret == 0 && o.of >= 0 && static_cast<std::size_t>(o.of) < a.parts.size())
            a.parts[static_cast<std::size_t>(o.of)].cancel = true;
    }
}

Starts begin(const Traffic& t, Account& a) {
    std::vector<bool> cancelled;
    for (const Account::Part& p : a.parts) cancelled.push_back(p.cancelled);
    Starts starts = starts_of(t.operations, cancelled);
    for (std::size_t i = 0; i < a.parts.size(); ++i) {
        a.parts[i].start = starts.step[i];
        a.parts[i].withdrawn = starts.withdrawn[i];
    }
    return starts;
}

// Errors that an operation asks for, and that leave the others alone.  Every other error may disable the endpoint
// (fi_domain(3), resource management), and then anything that was pending fails with it.
bool is_harmless(const Traffic& t, const Account& a, const Completion& c) {
    if (c.error == 0) return true;
    if (c.operation < 0) return false;
    const std::size_t o = static_cast<std::size_t>(c.operation);
    if (c.error == FI_ECANCELED) return a.parts[o].cancel;
    return peeks(t.operations[o]) && c.error == FI_ENOMSG;
}

// A message that is longer than the buffer that takes it.
bool overruns(const Traffic& t, const Account& a, const Operation& send, std::size_t i) {
    const int receive = a.parts[i].partner;
    return sends(send) && receive >= 0 && !t.operations.empty() &&
           send.length > t.operations[static_cast<std::size_t>(receive)].length;
}

void find_upset(const Traffic& t, Account& a) {
    for (const Completion& c : t.entries)
        if (c.operation >= 0 && static_cast<std::size_t>(c.operation) < a.parts.size() && !is_harmless(t, a, c))
            a.parts[static_cast<std::size_t>(c.operation)].upset = true;
    for (std::size_t i = 0; i < t.operations.size(); ++i)
        if (accepted(t.operations[i]) && overruns(t, a, t.operations[i], i)) a.parts[i].upset = true;
}

bool all_calm(const Traffic& t, const Account& a) {
    const auto is_orphan = [](const Completion& c) { return c.operation < 0 && c.error != 0; };
    const auto may_fail = [&](const Operation& o) { return accepted(o) && (exceeds(t, o) || strays(t, o)); };
    return std::ranges::none_of(t.entries, is_orphan) && std::ranges::none_of(a.parts, &Account::Part::upset) &&
           std::ranges::none_of(t.operations, may_fail);
}

}  // namespace

bool reports_message(const Traffic& traffic, const Completion& entry) {
    if (entry.error != 0) return entry.error != FI_ECANCELED;
    if (!has_flags(traffic)) return true;
    return (entry.flags & ~static_cast<std::uint64_t>(FI_MULTI_RECV)) != 0;
}

Account account_of(const Traffic& traffic) {
    Account a;
    a.parts.resize(traffic.operations.size());
    a.returned = traffic.crashed_signal == 0 && !traffic.hung && !traffic.exited;
    gather(traffic, a);
    const Starts starts = begin(traffic, a);
    Matcher(traffic, a).run(starts.order);
    find_upset(traffic, a);
    a.calm = starts.known && all_calm(traffic, a);
    return a;
}

std::uint64_t entries_due(const Traffic& traffic, const Account& account, std::size_t operation) {
    const Operation& o = traffic.operations[operation];
    const Account::Part& p = account.parts[operation];
    if (!accepted(o)) return 0;
    if (p.cancelled) return p.entries.size();
    if (p.start < 0) return 0;
    const bool expected = reporting(traffic, o) == Reporting::Yes;
    if (sends(o)) return expected && (p.gone || p.partner >= 0) ? 1 : 0;
    if (transmits(o)) return expected ? 1 : 0;
    if (peeks(o) || (claims(o) && discards(o))) return expected ? 1 : 0;
    if (p.messages.empty()) return p.cancel ? 1 : 0;
    return expected ? p.messages.size() : 0;
}

std::uint64_t data_entries_due(const Traffic& traffic, const Account& account, Side side) {
    if (traffic.selective_receive || traffic.info == nullptr || (traffic.info->rx.mode & FI_RX_CQ_DATA) != 0 ||
        (traffic.info->mode & FI_RX_CQ_DATA) != 0)
        return 0;
    std::uint64_t due = 0;
    for (std::size_t i = 0; i < traffic.operations.size(); ++i) {
        const Operation& o = traffic.operations[i];
        const bool writes = o.what == Transfer::Write && o.side != side && account.parts[i].start >= 0;
        if (accepted(o) && writes && carries_data(o) && !strays(traffic, o)) ++due;
    }
    return due;
}

std::uint64_t entries_due(const Traffic& traffic, Side side, bool transmit) {
    const Account a = account_of(traffic);
    std::uint64_t due = transmit ? 0 : data_entries_due(traffic, a, side);
    for (std::size_t i = 0; i < traffic.operations.size(); ++i) {
        const Operation& o = traffic.operations[i];
        if (is_posted(o) && o.side == side && transmits(o) == transmit) due += entries_due(traffic, a, i);
    }
    return due;
}

}  // namespace selvage::model
