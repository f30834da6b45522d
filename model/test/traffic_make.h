// Makers for the tests of the traffic clauses: a talk between A and B is told operation by operation and entry by
// entry.
//
// An entry that is told is a proper one; a test then spoils a field of it.  For tests only.
#pragma once

#include <gtest/gtest.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_errno.h>

#include <initializer_list>
#include <string>
#include <vector>

#include "model/judge/judge.h"
#include "model/traffic/account.h"
#include "model_gen/predicates.h"

namespace selvage::model::traffic_test {

inline constexpr Side A = Side::A;
inline constexpr Side B = Side::B;

/// What both endpoints are opened with: a reliable, connectionless endpoint that can do all.
inline Info able() {
    Info i;
    i.present = kAllParts;
    i.caps = FI_MSG | FI_TAGGED | FI_RMA | FI_ATOMIC | FI_SEND | FI_RECV | FI_READ | FI_WRITE | FI_REMOTE_READ |
             FI_REMOTE_WRITE | FI_MULTI_RECV | FI_SOURCE | FI_DIRECTED_RECV | FI_FENCE;
    i.tx.msg_order = i.rx.msg_order = FI_ORDER_SAS;
    i.tx.comp_order = i.rx.comp_order = FI_ORDER_STRICT;
    i.tx.inject_size = 64;
    i.tx.iov_limit = i.rx.iov_limit = i.tx.rma_iov_limit = 4;
    i.ep.type = FI_EP_RDM;
    i.ep.max_msg_size = 1 << 20;
    i.domain.cq_data_size = 8;
    i.domain.resource_mgmt = FI_RM_ENABLED;
    return i;
}

/// A traffic in the making, and the info that it is judged by.
class Talk {
public:
    Info info = able();
    Traffic t;

    Talk() {
        t.version = Version(1, 17);
        t.format = FI_CQ_FORMAT_TAGGED;
        t.drained = true;
        t.region_length = 4096;
    }

    int post(Operation o) {
        t.operations.push_back(o);
        return static_cast<int>(t.operations.size()) - 1;
    }
    int plain(Transfer what, Side side, std::uint64_t length) {
        Operation o;
        o.what = what;
        o.side = side;
        o.length = length;
        return post(o);
    }
    int send(Side s, std::uint64_t length = 10) { return plain(Transfer::Send, s, length); }
    int recv(Side s, std::uint64_t length = 100) { return plain(Transfer::Recv, s, length); }
    int tsend(Side s, std::uint64_t tag, std::uint64_t length = 10) {
        const int i = plain(Transfer::TaggedSend, s, length);
        op(i).tag = tag;
        return i;
    }
    int trecv(Side s, std::uint64_t tag, std::uint64_t ignore = 0, std::uint64_t length = 100) {
        const int i = plain(Transfer::TaggedRecv, s, length);
        op(i).tag = tag;
        op(i).ignore = ignore;
        return i;
    }
    int peek(Side s, std::uint64_t tag, std::uint64_t flags = 0) {
        return message(trecv(s, tag, 0, 0), FI_PEEK | flags);
    }
    int write(Side s, std::uint64_t length = 10, std::uint64_t offset = 0) {
        const int i = plain(Transfer::Write, s, length);
        op(i).offset = offset;
        op(i).remote = Seen::Whole;
        return i;
    }
    int read(Side s, std::uint64_t length = 10, std::uint64_t offset = 0) {
        const int i = plain(Transfer::Read, s, length);
        op(i).offset = offset;
        op(i).local = Seen::Whole;
        return i;
    }
    int atomic(Transfer what, Side s, std::uint64_t count = 1) {
        const int i = plain(what, s, count * 8);
        op(i).datatype = FI_UINT64;
        op(i).op = what == Transfer::CompareAtomic ? FI_CSWAP : FI_SUM;
        op(i).count = count;
        op(i).valid_query = true;
        op(i).valid_count = 8;
        op(i).remote = Seen::Whole;
        if (what != Transfer::Atomic) op(i).local = Seen::Whole;
        return i;
    }
    int cancel(int of) {
        const int i = plain(Transfer::Cancel, op(of).side, 0);
        op(i).of = of;
        return i;
    }
    /// Makes it a call with flags.
    int message(int i, std::uint64_t flags) {
        op(i).form = CallForm::Message;
        op(i).flags = flags;
        return i;
    }
    int with_data(int i, std::uint64_t data) {
        op(i).form = CallForm::Data;
        op(i).data = data;
        return i;
    }
    int inject(int i) {
        op(i).form = CallForm::Inject;
        return i;
    }

    Operation& op(int i) { return t.operations[static_cast<std::size_t>(i)]; }
    Completion& last() { return t.entries.back(); }

    /// The entry of a transmit that succeeded.
    Talk& sent(int i) {
        const Operation& o = op(i);
        Completion& x = entry(i, true);
        x.flags = sends(o) ? FI_SEND : fetches(o) ? FI_READ : FI_WRITE;
        x.flags |= is_message(o) ? FI_MSG : is_tagged(o) ? FI_TAGGED : is_rma(o) ? FI_RMA : FI_ATOMIC;
        if (!sends(o)) x.seen = Seen::Whole;
        return *this;
    }
    /// The entry of a receive that took the message of `from`.
    Talk& received(int i, int from) {
        const Operation& m = op(from);
        Completion& x = entry(i, false);
        x.flags = FI_RECV | (is_tagged(op(i)) ? FI_TAGGED : FI_MSG);
        x.length = std::min(m.length, op(i).length);
        x.tag = m.tag;
        x.bytes_of = m.length == 0 ? -1 : from;
        x.seen = m.length > op(i).length ? Seen::Short : Seen::Whole;
        x.from_peer = true;
        if (carries_data(m)) {
            x.flags |= FI_REMOTE_CQ_DATA;
            x.data = m.data;
        }
        op(i).local = x.seen;
        op(i).bytes_of = x.bytes_of;
        return *this;
    }
    /// The same into a buffer for many messages.
    Talk& placed(int i, int from, std::int64_t offset, bool released = false) {
        received(i, from);
        last().buffer_offset = offset;
        last().seen = Seen::Whole;
        last().length = op(from).length;
        if (released) last().flags |= FI_MULTI_RECV;
        return *this;
    }
    /// The entry of a peek that found the message of `from`.
    Talk& found(int i, int from) {
        received(i, from);
        last().length = op(from).length;
        last().seen = Seen::NotLooked;
        last().bytes_of = -1;
        op(i).local = Seen::NotLooked;
        op(i).bytes_of = -1;
        return *this;
    }
    /// The entry at `side` of a write with data.
    Talk& reported_target(Side side, std::uint64_t data) {
        Completion& x = entry(-1, false);
        x.side = side;
        x.flags = FI_RMA | FI_REMOTE_WRITE | FI_REMOTE_CQ_DATA;
        x.data = data;
        return *this;
    }
    Talk& failed(int i, std::uint64_t error) {
        entry(i, transmits(op(i))).error = error;
        return *this;
    }
    Talk& counted() {
        t.counters = true;
        return *this;
    }

    [[nodiscard]] Outcome outcome(Ruling (*predicate)(const TrafficCase&)) const {
        Traffic whole = t;
        whole.info = &info;
        const Account account = account_of(whole);
        return predicate(TrafficCase{whole, &account}).outcome();
    }
    /// Ids of what is broken.
    [[nodiscard]] std::string broken() const {
        Traffic whole = t;
        whole.info = &info;
        Tally tally;
        std::vector<Because> because;
        judge_traffic(TrafficCase{whole}, tally, because);
        std::string out;
        for (const auto& b : because) out += std::string(clause_name(b.clause)) + ": " + b.evidence.note + "\n";
        return out;
    }

private:
    static std::string_view clause_name(Clause c);
    Completion& entry(int i, bool transmit) {
        Completion x;
        x.operation = i;
        x.transmit = transmit;
        if (i >= 0) x.side = op(i).side;
        x.after = t.operations.size();
        t.entries.push_back(x);
        return t.entries.back();
    }
};

/// One thing that the text decides: a clause, a talk, and what the clause says of it.
struct Row {
    Ruling (*predicate)(const TrafficCase&);
    const char* name;
    Outcome outcome;
    const char* sentence;
    Talk talk;
};
using Rows = std::vector<Row>;

Rows msg_rows();
Rows multi_recv_rows();
Rows tagged_rows();
Rows peek_rows();
Rows memory_rows();
Rows atomic_rows();
Rows entry_rows();
Rows field_rows();
Rows flag_rows();
Rows level_rows();
Rows counter_rows();
Rows open_rows();
Rows capability_rows();
Rows domain_rows();
Rows resource_rows();
Rows trigger_rows();
Rows work_rows();

/// A talk that was changed by `spoil`.
template <typename Spoil>
Talk but(Talk talk, Spoil&& spoil) {
    spoil(talk);
    return talk;
}

}  // namespace selvage::model::traffic_test

#define HOLDS(clause_name, sentence, talk) \
    { clause::clause_name, #clause_name, Outcome::Holds, sentence, talk }
#define BREAKS(clause_name, sentence, talk) \
    { clause::clause_name, #clause_name, Outcome::Broken, sentence, talk }
#define SKIPS(clause_name, sentence, talk) \
    { clause::clause_name, #clause_name, Outcome::NotApplicable, sentence, talk }
