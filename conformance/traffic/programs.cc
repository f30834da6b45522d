// See programs.h.
#include "conformance/traffic/programs.h"

#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_tagged.h>

#include <algorithm>
#include <array>

#include "conformance/traffic/atomic.h"
#include "conformance/traffic/buffers.h"

namespace selvage::conformance {
namespace {

using model::CallForm;
using model::Info;
using model::Operation;
using model::Side;
using model::Transfer;

constexpr std::uint64_t kSlot = 1024;  // offsets of writes that must not meet
constexpr std::uint64_t kLevels = FI_INJECT_COMPLETE | FI_TRANSMIT_COMPLETE | FI_DELIVERY_COMPLETE;

bool offers(const Info& entry, std::uint64_t caps) { return (entry.caps & caps) == caps; }
bool sends(const Info& e) { return offers(e, FI_MSG); }
bool tags(const Info& e) { return offers(e, FI_TAGGED); }
bool remote(const Info& e) { return offers(e, FI_RMA); }
bool atomics(const Info& e) { return offers(e, FI_ATOMIC); }

Operation op(Transfer what, CallForm form, Side side) {
    Operation o;
    o.what = what;
    o.form = form;
    o.side = side;
    return o;
}
const Operation kProgress;

Operation message(bool tagged, CallForm form, std::uint64_t length, std::uint64_t flags = 0) {
    Operation o = op(tagged ? Transfer::TaggedSend : Transfer::Send, form, Side::A);
    o.length = length;
    o.flags = flags;
    if (tagged) o.tag = 0x5;
    if (form == CallForm::Data || form == CallForm::InjectData || (flags & FI_REMOTE_CQ_DATA) != 0) o.data = 0x7;
    return o;
}

Operation receive(bool tagged, std::uint64_t length, CallForm form = CallForm::Plain, std::uint64_t flags = 0) {
    Operation o = op(tagged ? Transfer::TaggedRecv : Transfer::Recv, form, Side::B);
    o.length = length;
    o.flags = flags;
    if (tagged) o.tag = 0x5;
    return o;
}

// The flags that a call needs in this set-up, so that it tells.
std::uint64_t telling(const Exchange& setup, bool transmit) {
    return (transmit ? setup.selective_transmit : setup.selective_receive) ? FI_COMPLETION : 0;
}

// Gathers exchanges of one set-up.
class Writer {
public:
    Writer(const Info& entry, const Exchange& setup, bool all) : entry_(entry), setup_(setup), all_(all) {}

    std::vector<Exchange> write() {
        for (const bool tagged : {false, true}) {
            if (tagged ? !tags(entry_) : !sends(entry_)) continue;
            messages(tagged);
            receives(tagged);
            orders(tagged);
            cancels(tagged);
            many(tagged);
        }
        if (tags(entry_)) tag_rules();
        if (tags(entry_)) peeks();
        if (remote(entry_)) reads_and_writes();
        if (atomics(entry_)) atomic_forms();
        return std::move(out_);
    }

private:
    void add(std::vector<Operation> operations) {
        Exchange e = setup_;
        e.operations = std::move(operations);
        out_.push_back(std::move(e));
    }

    [[nodiscard]] std::vector<std::uint64_t> lengths() const {
        const std::uint64_t inject = entry_.tx.inject_size;
        std::vector<std::uint64_t> out = {0, 1, 8, inject, inject + 1, 4096, 65536, 1 << 20};
        if (!all_) out = {0, 8, inject + 1, 65536};
        std::sort(out.begin(), out.end());
        out.erase(std::unique(out.begin(), out.end()), out.end());
        std::erase_if(out,
                      [&](std::uint64_t l) { return l > std::min<std::uint64_t>(entry_.ep.max_msg_size, 1 << 20); });
        return out;
    }

    // A send and its receive, in both orders.
    void both_orders(const Operation& send, const Operation& receive_op) {
        add({receive_op, send});
        add({send, kProgress, receive_op});
    }

    void messages(bool tagged) {
        for (const std::uint64_t length : lengths()) {
            for (const auto form : {CallForm::Plain, CallForm::Vector, CallForm::Message, CallForm::Inject,
                                    CallForm::Data, CallForm::InjectData}) {
                const bool injects = form == CallForm::Inject || form == CallForm::InjectData;
                const bool data = form == CallForm::Data || form == CallForm::InjectData;
                if ((injects && length > entry_.tx.inject_size) || (data && entry_.domain.cq_data_size == 0)) continue;
                Operation s = message(tagged, form, length, form == CallForm::Message ? telling(setup_, true) : 0);
                if (form == CallForm::Vector || form == CallForm::Message)
                    s.pieces = std::clamp<std::uint64_t>(entry_.tx.iov_limit, 1, length > 8 ? 3 : 1);
                both_orders(s, receive(tagged, length));
            }
        }
        for (const std::uint64_t length :
             {std::uint64_t{8}, std::min<std::uint64_t>(entry_.tx.inject_size, 64), std::uint64_t{65536}}) {
            for (const std::uint64_t flag : std::initializer_list<std::uint64_t>{
                     0, FI_COMPLETION, FI_INJECT, FI_INJECT_COMPLETE, FI_TRANSMIT_COMPLETE, FI_DELIVERY_COMPLETE,
                     FI_MATCH_COMPLETE, FI_MORE, FI_FENCE, FI_REMOTE_CQ_DATA, FI_INJECT | FI_COMPLETION}) {
                if ((flag & FI_INJECT) != 0 && length > entry_.tx.inject_size) continue;
                if (flag == FI_FENCE && !offers(entry_, FI_FENCE)) continue;
                if (flag == FI_REMOTE_CQ_DATA && entry_.domain.cq_data_size == 0) continue;
                if ((flag & (FI_MATCH_COMPLETE | kLevels)) != 0 && (entry_.caps & FI_MSG) == 0) continue;
                both_orders(message(tagged, CallForm::Message, length, flag | telling(setup_, true)),
                            receive(tagged, length, CallForm::Message, telling(setup_, false)));
            }
        }
    }

    void receives(bool tagged) {
        for (const auto form : {CallForm::Plain, CallForm::Vector, CallForm::Message}) {
            for (const std::uint64_t length :
                 {std::uint64_t{0}, std::uint64_t{8}, std::uint64_t{100}, std::uint64_t{65536}}) {
                for (const std::uint64_t room : {length / 2, length, length + 1, length * 2 + 64}) {
                    Operation r = receive(tagged, room, form, form == CallForm::Message ? telling(setup_, false) : 0);
                    if (form != CallForm::Plain && room > 8)
                        r.pieces = std::clamp<std::uint64_t>(entry_.rx.iov_limit, 1, 3);
                    both_orders(message(tagged, CallForm::Plain, length), r);
                }
            }
        }
        Operation r = receive(tagged, 64);
        r.from_any = false;
        both_orders(message(tagged, CallForm::Plain, 64), r);
        if (offers(entry_, FI_DIRECTED_RECV) && entry_.ep.type != FI_EP_MSG) {
            Operation other = receive(tagged, 64);
            other.from_any = false;
            other.from_other = true;
            add({other, receive(tagged, 64), message(tagged, CallForm::Plain, 64)});
        }
    }

    void orders(bool tagged) {
        const std::array<std::uint64_t, 4> sizes = {8, 65536, 100, 4096};
        for (const std::size_t n : {2U, 4U, 8U, 16U}) {
            std::vector<Operation> receives_first, sends_first, in_turns;
            for (std::size_t i = 0; i < n; ++i) receives_first.push_back(receive(tagged, 65536));
            for (std::size_t i = 0; i < n; ++i) {
                receives_first.push_back(message(tagged, CallForm::Plain, sizes[i % 4]));
                sends_first.push_back(message(tagged, CallForm::Plain, sizes[(i + 1) % 4]));
                in_turns.push_back(receive(tagged, 65536));
                in_turns.push_back(message(tagged, CallForm::Plain, sizes[i % 4]));
            }
            sends_first.push_back(kProgress);
            for (std::size_t i = 0; i < n; ++i) sends_first.push_back(receive(tagged, 65536));
            add(receives_first);
            add(sends_first);
            add(in_turns);
        }
    }

    void cancels(bool tagged) {
        Operation c = op(Transfer::Cancel, CallForm::Plain, Side::B);
        c.of = 0;
        const auto m = message(tagged, CallForm::Plain, 100);
        const auto r = receive(tagged, 100);
        add({r, c});
        add({r, c, kProgress, r, m});
        add({r, r, c, kProgress, m});
        add({r, m, kProgress, c});
        c.of = 1;
        add({r, r, c, kProgress, m});
    }

    void many(bool tagged) {
        if (!offers(entry_, FI_MULTI_RECV) || tagged) return;
        const std::uint64_t flags = FI_MULTI_RECV | telling(setup_, false);
        for (const std::uint64_t room : {100U, 256U, 1000U, 8192U}) {
            for (const std::uint64_t length : {0U, 1U, 50U, 100U, 500U}) {
                std::vector<Operation> first = {receive(tagged, room, CallForm::Message, flags)};
                std::vector<Operation> later;
                for (int i = 0; i < 4 && (static_cast<std::uint64_t>(i) + 1) * length <= room; ++i) {
                    first.push_back(message(tagged, CallForm::Plain, length));
                    later.push_back(first.back());
                }
                later.push_back(kProgress);
                later.push_back(first.front());
                add(first);
                add(later);
            }
        }
    }

    void tag_rules() {
        struct Try {
            std::uint64_t sent, tag, ignore;
        };
        const std::uint64_t all = ~std::uint64_t{0};
        for (const Try t : {Try{0, 0, 0}, Try{5, 0, all}, Try{5, 0xF5, 0xF0}, Try{0xF5, 5, 0xF0},
                            Try{1ULL << 47, 1ULL << 47, 0}, Try{0x1234, 0, 0xFFFF}}) {
            Operation s = message(true, CallForm::Plain, 32);
            Operation r = receive(true, 32);
            s.tag = t.sent;
            r.tag = t.tag;
            r.ignore = t.ignore;
            both_orders(s, r);
        }
        // The one that matches is not the first.
        Operation a = message(true, CallForm::Plain, 32), b = message(true, CallForm::Plain, 48);
        b.tag = 0x6;
        Operation ra = receive(true, 64), rb = receive(true, 64), any = receive(true, 64);
        rb.tag = 0x6;
        any.ignore = all;
        add({rb, ra, a, b});
        add({a, b, kProgress, rb, ra});
        add({any, rb, b, a});
        add({rb, any, a, b});
        add({a, b, kProgress, rb, any});
        add({a, b, kProgress, any, rb});
        if (sends(entry_)) {
            add({receive(false, 64), ra, a, message(false, CallForm::Plain, 40)});
            add({a, message(false, CallForm::Plain, 40), kProgress, receive(false, 64), ra});
        }
    }

    void peeks() {
        const auto look = [&](std::uint64_t flags) {
            return receive(true, 0, CallForm::Message, FI_PEEK | flags | telling(setup_, false));
        };
        for (const std::uint64_t length : {0U, 32U, 65536U}) {
            const Operation m = message(true, CallForm::Plain, length);
            const Operation r = receive(true, length);
            add({look(0)});
            add({m, kProgress, look(0), kProgress, r});
            add({m, kProgress, look(0), kProgress, look(0), kProgress, r});
            Operation claim = receive(true, length, CallForm::Message, FI_CLAIM | telling(setup_, false));
            claim.of = 2;
            add({m, kProgress, look(FI_CLAIM), kProgress, claim});
            add({m, m, look(0), kProgress, look(FI_CLAIM), kProgress, r});
            Operation drop = claim;
            drop.flags |= FI_DISCARD;
            drop.length = 0;
            add({m, kProgress, look(FI_CLAIM), kProgress, drop});
            add({m, kProgress, look(FI_DISCARD)});
            add({m, m, kProgress, look(FI_DISCARD), kProgress, r});
            Operation other = look(0);
            other.tag = 0x9;
            add({m, kProgress, other, kProgress, r});
            Operation wide = look(0);
            wide.tag = 0;
            wide.ignore = ~std::uint64_t{0};
            add({m, kProgress, wide, kProgress, r});
        }
    }

    Operation access(Transfer what, CallForm form, std::uint64_t length, std::uint64_t flags = 0) {
        Operation o = op(what, form, Side::A);
        o.length = length;
        o.flags = flags;
        o.offset = kSlot;
        if (form == CallForm::Data || form == CallForm::InjectData || (flags & FI_REMOTE_CQ_DATA) != 0) o.data = 0x9;
        return o;
    }

    void reads_and_writes() {
        for (const std::uint64_t length : lengths()) {
            for (const auto form : {CallForm::Plain, CallForm::Vector, CallForm::Message, CallForm::Inject,
                                    CallForm::Data, CallForm::InjectData}) {
                const bool injects = form == CallForm::Inject || form == CallForm::InjectData;
                const bool data = form == CallForm::Data || form == CallForm::InjectData;
                const std::uint64_t flags = form == CallForm::Message ? telling(setup_, true) : 0;
                if ((injects && length > entry_.tx.inject_size) || (data && entry_.domain.cq_data_size == 0)) continue;
                Operation w = access(Transfer::Write, form, length, flags);
                if (form == CallForm::Vector || form == CallForm::Message)
                    w.pieces = std::clamp<std::uint64_t>(entry_.tx.iov_limit, 1, length > 8 ? 3 : 1);
                // Write data is told of where receives are posted, too.
                if (data && (entry_.mode & FI_RX_CQ_DATA) != 0 && sends(entry_))
                    add({receive(false, 8), w});
                else
                    add({w});
                if (injects || data) continue;
                Operation r = w;
                r.what = Transfer::Read;
                add({r});
            }
            if (entry_.tx.rma_iov_limit > 1 && length > 8) {
                for (const Transfer what : {Transfer::Write, Transfer::Read}) {
                    Operation o = access(what, CallForm::Message, length, telling(setup_, true));
                    o.target_pieces = 2;
                    add({o});
                }
            }
        }
        for (const std::uint64_t flag : {FI_COMPLETION, FI_INJECT, FI_INJECT_COMPLETE, FI_TRANSMIT_COMPLETE,
                                         FI_DELIVERY_COMPLETE, FI_MORE, FI_FENCE, FI_REMOTE_CQ_DATA}) {
            if (flag == FI_FENCE && !offers(entry_, FI_FENCE)) continue;
            if (flag == FI_REMOTE_CQ_DATA && (entry_.domain.cq_data_size == 0 || (entry_.mode & FI_RX_CQ_DATA) != 0))
                continue;
            for (const std::uint64_t length : {8U, 65536U}) {
                if ((flag & FI_INJECT) != 0 && length > entry_.tx.inject_size) continue;
                add({access(Transfer::Write, CallForm::Message, length, flag | telling(setup_, true))});
                if ((flag & (FI_INJECT | FI_REMOTE_CQ_DATA)) != 0) continue;
                add({access(Transfer::Read, CallForm::Message, length, flag | telling(setup_, true))});
            }
        }
        bounds();
        // What was written can be read, once its completion says so.
        Operation w = access(Transfer::Write, CallForm::Message, 256, FI_DELIVERY_COMPLETE | telling(setup_, true));
        Operation r = access(Transfer::Read, CallForm::Plain, 256);
        add({w, kProgress, r});
        for (std::size_t n : {4U, 12U}) {
            std::vector<Operation> several;
            for (std::size_t i = 0; i < n; ++i) {
                Operation o = i % 3 == 2 ? r : access(Transfer::Write, CallForm::Plain, 200 + i);
                o.offset = kSlot * (i + 1);
                several.push_back(o);
            }
            add(several);
        }
        if (sends(entry_)) {
            add({receive(false, 64), access(Transfer::Write, CallForm::Plain, 4096),
                 message(false, CallForm::Plain, 64)});
        }
    }

    void bounds() {
        for (const Transfer what : {Transfer::Write, Transfer::Read}) {
            for (const std::uint64_t length : {8U, 4096U, 65536U}) {
                Operation o = access(what, CallForm::Plain, length);
                o.offset = kRegionLength - length;
                add({o});
                o.offset = kRegionLength - length + 1;
                add({o});
                o.offset = kRegionLength;
                add({o});
                o.offset = kRegionLength + kSlot;
                add({o});
                o = access(what, CallForm::Plain, length);
                o.bad_key = true;
                add({o});
                o = access(what, CallForm::Plain, length);
                o.region_access = what == Transfer::Write ? FI_REMOTE_READ : FI_REMOTE_WRITE;
                add({o});
            }
        }
    }

    void atomic_forms() {
        for (const Transfer what : {Transfer::Atomic, Transfer::FetchAtomic, Transfer::CompareAtomic}) {
            for (std::uint64_t operation = FI_MIN; operation < FI_ATOMIC_OP_LAST; ++operation) {
                if ((what == Transfer::CompareAtomic) != compares(operation)) continue;
                if (what == Transfer::Atomic && operation == FI_ATOMIC_READ) continue;
                for (std::uint64_t type = FI_INT8; type < FI_DATATYPE_LAST; ++type) {
                    if (!is_defined(operation, type) || (!all_ && type != FI_UINT64)) continue;
                    for (const std::uint64_t count : {1U, 3U}) {
                        Operation o = op(what, CallForm::Plain, Side::A);
                        o.op = operation;
                        o.datatype = type;
                        o.count = count;
                        o.length = bytes_of(o);
                        o.offset = kSlot;
                        add({o});
                    }
                }
            }
            Operation o = op(what, CallForm::Message, Side::A);
            o.op = what == Transfer::CompareAtomic ? FI_CSWAP : FI_SUM;
            o.datatype = FI_UINT64;
            o.count = 4;
            o.length = bytes_of(o);
            o.offset = kSlot;
            for (const std::uint64_t flag :
                 std::initializer_list<std::uint64_t>{0, FI_COMPLETION, FI_INJECT, FI_DELIVERY_COMPLETE}) {
                o.flags = flag | telling(setup_, true);
                add({o});
            }
            o.flags = 0;
            o.form = CallForm::Vector;
            add({o});
            o.pieces = std::clamp<std::uint64_t>(entry_.tx.iov_limit, 1, 2);
            add({o});
            o.pieces = 1;
            o.form = CallForm::Plain;
            add({o, kProgress, o, kProgress, o});
            o.bad_key = true;
            add({o});
            o.bad_key = false;
            o.offset = kRegionLength;
            add({o});
            o.offset = kSlot;
            o.region_access = FI_REMOTE_READ;
            add({o});
            if (what != Transfer::Atomic) continue;
            o.region_access = ~std::uint64_t{0};
            o.form = CallForm::Inject;
            add({o});
        }
    }

    const Info& entry_;
    const Exchange& setup_;
    const bool all_;
    std::vector<Exchange> out_;
};

// One random exchange: what belongs together is made at once, and laid into a sequence with other things in between.
class Dice {
public:
    Dice(const Info& entry, const Exchange& setup, Rng& rng) : entry_(entry), rng_(rng), out_(setup) {}

    Exchange roll() {
        const std::size_t wanted = 2 + rng_.below(19);
        while (made_ < wanted) thing();
        while (!later_.empty()) put_later();
        return std::move(out_);
    }

private:
    void put(const Operation& o) {
        if (out_.operations.size() + 2 > 40) return;
        out_.operations.push_back(o);
        ++made_;
        if (rng_.chance(20)) out_.operations.push_back(kProgress);
    }
    void put_later() {
        const std::size_t at = rng_.chance(60) ? 0 : rng_.below(later_.size());
        const Operation o = later_[at];
        later_.erase(later_.begin() + static_cast<std::ptrdiff_t>(at));
        put(o);
    }

    void thing() {
        if (!later_.empty() && rng_.chance(45)) return put_later();
        const auto dice = rng_.below(100);
        if (dice < 55 && (sends(entry_) || tags(entry_))) return pair();
        if (dice < 75 && remote(entry_)) return put(reach());
        if (dice < 90 && atomics(entry_)) return put(atomic());
        if (dice < 94 && (sends(entry_) || tags(entry_))) return cancelled();
        if (sends(entry_) || tags(entry_)) return pair();
        if (remote(entry_)) return put(reach());
        ++made_;
    }

    std::uint64_t length() {
        const std::uint64_t inject = entry_.tx.inject_size;
        const std::array<std::uint64_t, 12> classes = {0,  1,   8,    16,   inject, inject + 1,
                                                       64, 256, 1000, 4096, 16384,  65536};
        std::uint64_t out = rng_.chance(3) ? std::uint64_t{1} << 19 : rng_.pick<std::uint64_t>(classes);
        if (rng_.chance(20)) out = rng_.below(5000);
        return std::min<std::uint64_t>(out, entry_.ep.max_msg_size);
    }
    Side side() { return rng_.chance(65) ? Side::A : Side::B; }

    std::uint64_t send_flags(bool remote_access) {
        std::uint64_t flags = rng_.chance(70) || out_.selective_transmit ? FI_COMPLETION : 0;
        const std::array<std::uint64_t, 4> levels = {0, FI_INJECT_COMPLETE, FI_TRANSMIT_COMPLETE, FI_DELIVERY_COMPLETE};
        flags |= rng_.pick<std::uint64_t>(levels);
        if (rng_.chance(10)) flags |= FI_MORE;
        if (rng_.chance(5) && offers(entry_, FI_FENCE)) flags |= FI_FENCE;
        if (rng_.chance(25) && entry_.domain.cq_data_size > 0 && !(remote_access && (entry_.mode & FI_RX_CQ_DATA) != 0))
            flags |= FI_REMOTE_CQ_DATA;
        return flags;
    }

    CallForm send_form(std::uint64_t size) {
        const bool small = size <= entry_.tx.inject_size;
        const bool data = entry_.domain.cq_data_size > 0;
        switch (rng_.below(6)) {
            case 0:
                return CallForm::Vector;
            case 1:
            case 2:
                return CallForm::Message;
            case 3:
                return small ? CallForm::Inject : CallForm::Plain;
            case 4:
                return data ? CallForm::Data : CallForm::Plain;
            default:
                return small && data && rng_.chance(50) ? CallForm::InjectData : CallForm::Plain;
        }
    }

    void give_data(Operation& o) {
        const bool has =
            o.form == CallForm::Data || o.form == CallForm::InjectData || (o.flags & FI_REMOTE_CQ_DATA) != 0;
        if (has) o.data = rng_.below(200) + 1;
    }

    void pair() {
        const bool tagged = tags(entry_) && (!sends(entry_) || rng_.chance(60));
        Operation s = op(tagged ? Transfer::TaggedSend : Transfer::Send, CallForm::Plain, side());
        s.length = length();
        s.form = send_form(s.length);
        if (s.form == CallForm::Message) s.flags = send_flags(false);
        if ((s.form == CallForm::Vector || s.form == CallForm::Message) && s.length > 4)
            s.pieces = 1 + rng_.below(std::clamp<std::uint64_t>(entry_.tx.iov_limit, 1, 4));
        if (tagged) s.tag = rng_.below(3) + (rng_.chance(10) ? 0x100000 : 0);
        give_data(s);
        Operation r = op(tagged ? Transfer::TaggedRecv : Transfer::Recv, CallForm::Plain, peer_of(s.side));
        r.length = rng_.chance(75) ? s.length : rng_.chance(80) ? s.length + rng_.below(300) : s.length / 2;
        if (tagged) {
            r.tag = s.tag;
            if (rng_.chance(20)) r.ignore = rng_.chance(50) ? ~std::uint64_t{0} : 0x3;
        }
        if (rng_.chance(35)) r.form = rng_.chance(50) ? CallForm::Message : CallForm::Vector;
        if (r.form == CallForm::Message && (rng_.chance(70) || out_.selective_receive)) r.flags = FI_COMPLETION;
        if (r.form != CallForm::Plain && r.length > 4)
            r.pieces = 1 + rng_.below(std::clamp<std::uint64_t>(entry_.rx.iov_limit, 1, 4));
        if (rng_.chance(15)) r.from_any = false;
        const bool sent_first = rng_.chance(50);
        put(sent_first ? s : r);
        if (!rng_.chance(4)) later_.push_back(sent_first ? r : s);
    }

    // Offsets are given out once each, so that no two operations meet.
    std::uint64_t place(std::uint64_t size) {
        const std::uint64_t at = next_place_;
        next_place_ += (size + 2 * kSlot - 1) / kSlot * kSlot;
        if (next_place_ + (1 << 16) > kRegionLength) next_place_ = kSlot;
        return at;
    }

    Operation reach() {
        Operation o = op(rng_.chance(60) ? Transfer::Write : Transfer::Read, CallForm::Plain, side());
        o.length = std::min<std::uint64_t>(length(), 65536);
        if (o.what == Transfer::Write) {
            o.form = send_form(o.length);
            if ((entry_.mode & FI_RX_CQ_DATA) != 0 && (o.form == CallForm::Data || o.form == CallForm::InjectData))
                o.form = CallForm::Plain;
        } else if (rng_.chance(40)) {
            o.form = rng_.chance(50) ? CallForm::Vector : CallForm::Message;
        }
        if (o.form == CallForm::Message) o.flags = send_flags(true);
        if (o.what == Transfer::Read) o.flags &= ~FI_REMOTE_CQ_DATA;
        if ((o.form == CallForm::Vector || o.form == CallForm::Message) && o.length > 4) {
            o.pieces = 1 + rng_.below(std::clamp<std::uint64_t>(entry_.tx.iov_limit, 1, 4));
            if (o.form == CallForm::Message)
                o.target_pieces = 1 + rng_.below(std::clamp<std::uint64_t>(entry_.tx.rma_iov_limit, 1, 3));
        }
        give_data(o);
        o.offset = place(o.length);
        if (rng_.chance(3)) o.bad_key = true;
        if (rng_.chance(3)) o.offset = kRegionLength - o.length / 2;
        if (rng_.chance(3)) o.region_access = o.what == Transfer::Write ? FI_REMOTE_READ : FI_REMOTE_WRITE;
        return o;
    }

    Operation atomic() {
        const std::array<Transfer, 3> kinds = {Transfer::Atomic, Transfer::FetchAtomic, Transfer::CompareAtomic};
        Operation o = op(rng_.pick<Transfer>(kinds), CallForm::Plain, side());
        do {
            o.op = o.what == Transfer::CompareAtomic ? FI_CSWAP + rng_.below(7) : rng_.below(FI_CSWAP);
            o.datatype = rng_.below(FI_DATATYPE_LAST);
        } while (!is_defined(o.op, o.datatype) || (o.what == Transfer::Atomic && o.op == FI_ATOMIC_READ));
        o.count = 1 + rng_.below(4);
        o.length = bytes_of(o);
        o.offset = place(o.length);
        if (rng_.chance(30)) o.form = rng_.chance(50) ? CallForm::Vector : CallForm::Message;
        if (o.form == CallForm::Message && (out_.selective_transmit || rng_.chance(60))) o.flags = FI_COMPLETION;
        if (o.what == Transfer::Atomic && rng_.chance(15) && o.length <= entry_.tx.inject_size) {
            o.form = CallForm::Inject;
            o.flags = 0;
        }
        return o;
    }

    // A receive that nobody sends to, taken back at once or later.
    void cancelled() {
        Operation r = op(tags(entry_) ? Transfer::TaggedRecv : Transfer::Recv, CallForm::Plain, side());
        r.length = 128;
        r.tag = 0x77000;
        put(r);
        Operation c = op(Transfer::Cancel, CallForm::Plain, r.side);
        c.of = -1;
        for (std::size_t i = 0; i < out_.operations.size(); ++i)
            if (out_.operations[i] == r) c.of = static_cast<int>(i);
        if (c.of < 0) return;
        if (tags(entry_) && rng_.chance(50))
            later_.push_back(c);
        else
            put(c);
    }

    const Info& entry_;
    Rng& rng_;
    Exchange out_;
    std::vector<Operation> later_;
    std::size_t made_ = 0;
    std::uint64_t next_place_ = kSlot;
};

}  // namespace

std::vector<Exchange> setups(const Info& entry) {
    std::vector<Exchange> out;
    const auto add = [&out](auto edit) {
        Exchange e;
        edit(e);
        out.push_back(e);
    };
    add([](Exchange&) {});
    add([](Exchange& e) { e.format = FI_CQ_FORMAT_CONTEXT; });
    add([](Exchange& e) { e.format = FI_CQ_FORMAT_MSG; });
    add([](Exchange& e) { e.format = FI_CQ_FORMAT_DATA; });
    add([](Exchange& e) { e.counters = true; });
    add([](Exchange& e) { e.selective_transmit = e.selective_receive = true; });
    add([](Exchange& e) {
        e.selective_transmit = e.selective_receive = true;
        e.transmit_flags = e.receive_flags = FI_COMPLETION;
        e.counters = true;
    });
    add([](Exchange& e) { e.transmit_flags = FI_DELIVERY_COMPLETE; });
    add([](Exchange& e) { e.transmit_flags = FI_TRANSMIT_COMPLETE; });
    if (offers(entry, FI_MULTI_RECV)) add([](Exchange& e) { e.min_multi_recv = 64; });
    return out;
}

std::vector<Exchange> systematic_exchanges(const Info& entry, const Exchange& setup, bool all) {
    return Writer(entry, setup, all).write();
}

Exchange random_exchange(const Info& entry, const Exchange& setup, Rng& rng) { return Dice(entry, setup, rng).roll(); }

}  // namespace selvage::conformance
