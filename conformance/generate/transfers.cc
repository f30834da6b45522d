// Systematic exchanges, and the set-ups that they are run in: see transfers.h.
#include "conformance/generate/transfers.h"

#include <algorithm>
#include <array>

#include "conformance/case/atomic_values.h"
#include "conformance/case/operations.h"
#include "conformance/generate/transfer_parts.h"
#include "conformance/generate/triggered_transfers.h"

namespace selvage::conformance {
namespace {

using namespace programs;

// Gathers exchanges of one set-up.
class TransferBuilder {
public:
    TransferBuilder(const Info& entry, const TransferSequence& setup, Depth depth)
        : entry_(entry), setup_(setup), depth_(depth) {}

    std::vector<TransferSequence> write() {
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
        if (offers(entry_, FI_FENCE)) fences();
        for (TransferSequence& e : triggered_sequences(entry_, setup_, lengths())) out_.push_back(std::move(e));
        if (remote(entry_)) reads_and_writes();
        if (atomics(entry_)) atomic_forms();
        beyond_limits();
        return std::move(out_);
    }

    // What this set-up makes a difference to.
    std::vector<TransferSequence> write_telling() {
        if (setup_ == TransferSequence{}) rests();
        if (setup_.queue_size != 0) fills();
        for (const bool tagged : {false, true}) {
            if (tagged ? !tags(entry_) : !sends(entry_)) continue;
            const std::uint64_t sent = telling(setup_, true), received = telling(setup_, false);
            add({receive(tagged, 100), message(tagged, CallForm::Plain, 100)});
            add({receive(tagged, 8, CallForm::Message, received), message(tagged, CallForm::Message, 8, sent)});
            if (sent != 0) add({receive(tagged, 8, CallForm::Message), message(tagged, CallForm::Message, 8)});
            add({message(tagged, CallForm::Plain, 65536), kProgress, receive(tagged, 65536)});
            if (entry_.tx.inject_size > 0) add({receive(tagged, 1), message(tagged, CallForm::Inject, 1)});
            if (tagged || !offers(entry_, FI_MULTI_RECV)) continue;
            for (const std::uint64_t more : {std::uint64_t{0}, std::uint64_t{FI_COMPLETION}}) {
                const Operation many = receive(false, 256, CallForm::Message, FI_MULTI_RECV | more);
                const Operation m = message(false, CallForm::Plain, 100);
                add({many, m, m});
                Operation large = many;
                large.length = 16384;
                add({large, m, m});
            }
        }
        const std::uint64_t flags = telling(setup_, true);
        if (remote(entry_)) {
            for (const Transfer what : {Transfer::Write, Transfer::Read}) {
                add({access(what, CallForm::Plain, 4096)});
                add({access(what, CallForm::Message, 8, flags)});
                Operation stray = access(what, CallForm::Plain, 8);
                stray.bad_key = true;
                add({stray});
                stray.form = CallForm::Message;
                add({stray});
            }
        }
        if (atomics(entry_)) {
            for (const Transfer what : {Transfer::Atomic, Transfer::FetchAtomic}) {
                Operation o = sum(what, 1);
                add({o});
                o.form = CallForm::Message;
                o.flags = flags;
                add({o});
            }
        }
        return std::move(out_);
    }

private:
    [[nodiscard]] bool least() const { return depth_ == Depth::Least; }

    void add(std::vector<Operation> operations) {
        TransferSequence e = setup_;
        e.operations = std::move(operations);
        out_.push_back(std::move(e));
    }

    [[nodiscard]] std::vector<std::uint64_t> lengths() const {
        const std::uint64_t inject = entry_.tx.inject_size;
        std::vector<std::uint64_t> out = {0, 1, 8, inject, inject + 1, 4096, 65536, 1 << 20};
        if (depth_ == Depth::Some) out = {0, 8, inject + 1, 65536};
        if (depth_ == Depth::Least) out = {8, inject + 1};
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
            if (least() && length != 8) continue;
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
                if (least() && length != 100) continue;
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
            if (least() && n != 4) continue;
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
                if (least() && (room != 256 || length != 100)) continue;
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
            if (least() && length != 32) continue;
            const Operation m = message(true, CallForm::Plain, length);
            const Operation r = receive(true, length);
            add({look(0)});
            add({look(0), kProgress, m, r});
            Operation copies = look(0);
            copies.length = length + 64;
            add({m, kProgress, copies, kProgress, r});
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

    // What is fenced behind what takes longer.
    void fences() {
        const std::uint64_t flags = FI_FENCE | telling(setup_, true);
        for (const bool tagged : {false, true}) {
            if (tagged ? !tags(entry_) : !sends(entry_)) continue;
            add({receive(tagged, 65536), receive(tagged, 8),
                 message(tagged, CallForm::Message, 65536, telling(setup_, true)),
                 message(tagged, CallForm::Message, 8, flags)});
        }
        if (remote(entry_)) {
            Operation fenced = access(Transfer::Write, CallForm::Message, 8, flags);
            fenced.offset += 65536;
            add({access(Transfer::Read, CallForm::Message, 65536, telling(setup_, true)), fenced});
            fenced.what = Transfer::Read;
            add({access(Transfer::Write, CallForm::Message, 65536, telling(setup_, true)), fenced});
        }
        if (atomics(entry_)) {
            Operation first = op(Transfer::FetchAtomic, CallForm::Message, Side::A);
            first.op = FI_SUM;
            first.datatype = FI_UINT64;
            first.count = 4;
            first.length = bytes_of(first);
            first.offset = kSlot;
            first.flags = telling(setup_, true);
            Operation fenced = first;
            fenced.what = Transfer::Atomic;
            fenced.flags = flags;
            fenced.offset = 2 * kSlot;
            add({first, fenced});
        }
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
                // Write data is reported where receives are posted, too.
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
                if (least() && length != 8) continue;
                if ((flag & FI_INJECT) != 0 && length > entry_.tx.inject_size) continue;
                add({access(Transfer::Write, CallForm::Message, length, flag | telling(setup_, true))});
                if ((flag & (FI_INJECT | FI_REMOTE_CQ_DATA)) != 0) continue;
                add({access(Transfer::Read, CallForm::Message, length, flag | telling(setup_, true))});
            }
        }
        // The later of two writes to one place stays there.
        for (const std::uint64_t second : {8U, 4096U, 65536U}) {
            if (least() && second != 8) continue;
            add({access(Transfer::Write, CallForm::Plain, 65536), access(Transfer::Write, CallForm::Plain, second)});
            if (second <= entry_.tx.inject_size)
                add({access(Transfer::Write, CallForm::Plain, 65536),
                     access(Transfer::Write, CallForm::Inject, second)});
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
        if (sends(entry_) && entry_.domain.cq_data_size > 0 && (entry_.mode & FI_RX_CQ_DATA) == 0) {
            // A buffer that stands there is for messages.
            add({receive(false, 64), access(Transfer::Write, CallForm::Data, 8), kProgress,
                 message(false, CallForm::Plain, 64)});
        }
        if (sends(entry_)) {
            add({receive(false, 64), access(Transfer::Write, CallForm::Plain, 4096),
                 message(false, CallForm::Plain, 64)});
        }
    }

    // More completions than the queues have room for.
    void fills() {
        for (const bool tagged : {false, true}) {
            if (tagged ? !tags(entry_) : !sends(entry_)) continue;
            std::vector<Operation> all;
            for (std::uint64_t i = 0; i < 3 * setup_.queue_size; ++i) all.push_back(receive(tagged, 64));
            for (std::uint64_t i = 0; i < 3 * setup_.queue_size; ++i)
                all.push_back(message(tagged, CallForm::Plain, 64));
            add(std::move(all));
        }
    }

    // What is to arrive while nobody calls: where progress is automatic.
    void rests() {
        if (entry_.domain.data_progress != FI_PROGRESS_AUTO || entry_.ep.type == FI_EP_DGRAM) return;
        for (TransferSequence& e : resting_sequences(entry_)) out_.push_back(std::move(e));
    }

    // What must be refused, or fail: too long to inject, no such atomic, too many values.
    void beyond_limits() {
        const std::uint64_t inject = entry_.tx.inject_size + 1;
        constexpr std::uint64_t kReasonable = 65536;
        const bool injects = inject <= kReasonable;
        for (const bool tagged : {false, true})
            if (injects && (tagged ? tags(entry_) : sends(entry_))) add({message(tagged, CallForm::Inject, inject)});
        if (injects && remote(entry_)) add({access(Transfer::Write, CallForm::Inject, inject)});
        if (!atomics(entry_)) return;
        Operation none = sum(Transfer::Atomic, 1);
        none.op = FI_BOR;
        none.datatype = FI_DOUBLE;
        none.length = bytes_of(none);
        add({none});
        add({sum(Transfer::Atomic, kReasonable)});
        if (injects) {
            Operation o = sum(Transfer::Atomic, inject / sizeof(std::uint64_t) + 1);
            o.form = CallForm::Inject;
            add({o});
        }
    }

    void bounds() {
        for (const Transfer what : {Transfer::Write, Transfer::Read}) {
            for (const std::uint64_t length : {8U, 4096U, 65536U}) {
                if (least() && length != 4096) continue;
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
                if (least() && operation != FI_SUM && operation != FI_CSWAP) continue;
                if ((what == Transfer::CompareAtomic) != compares(operation)) continue;
                if (what == Transfer::Atomic && operation == FI_ATOMIC_READ) continue;
                for (std::uint64_t type = FI_INT8; type < FI_DATATYPE_LAST; ++type) {
                    if (!is_defined(operation, type) || (depth_ != Depth::All && type != FI_UINT64)) continue;
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
    const TransferSequence& setup_;
    const Depth depth_;
    std::vector<TransferSequence> out_;
};

}  // namespace

std::vector<TransferSequence> setups(const Info& entry) {
    std::vector<TransferSequence> out;
    const auto add = [&out](auto edit) {
        TransferSequence e;
        edit(e);
        out.push_back(e);
    };
    add([](TransferSequence&) {});
    add([](TransferSequence& e) { e.format = FI_CQ_FORMAT_CONTEXT; });
    add([](TransferSequence& e) { e.format = FI_CQ_FORMAT_MSG; });
    add([](TransferSequence& e) { e.format = FI_CQ_FORMAT_DATA; });
    // An entry that reports no counters may open some all the same: the number is the optimal one (fi_domain(3)).
    add([](TransferSequence& e) { e.counters = true; });
    // The counters show what fails, or ends, and is not reported.
    const bool counters = entry.domain.cntr_cnt != 0;
    add([counters](TransferSequence& e) {
        e.selective_transmit = e.selective_receive = true;
        e.counters = counters;
    });
    add([counters](TransferSequence& e) {
        e.selective_transmit = e.selective_receive = true;
        e.transmit_flags = e.receive_flags = FI_COMPLETION;
        e.counters = counters;
    });
    // It "applies only to reliable endpoints" (fi_cq(3)).
    if (entry.ep.type != FI_EP_DGRAM) add([](TransferSequence& e) { e.transmit_flags = FI_DELIVERY_COMPLETE; });
    add([](TransferSequence& e) { e.transmit_flags = FI_TRANSMIT_COMPLETE; });
    // Without resource management, filling a queue is the application's own fault.
    if (entry.domain.resource_mgmt == FI_RM_ENABLED) add([](TransferSequence& e) { e.queue_size = 4; });
    if (offers(entry, FI_MULTI_RECV)) {
        add([](TransferSequence& e) { e.min_multi_recv = 64; });
        add([](TransferSequence& e) {
            e.min_multi_recv = 64;
            e.selective_transmit = e.selective_receive = true;
        });
    }
    return out;
}

std::vector<TransferSequence> systematic_sequences(const Info& entry, const TransferSequence& setup, Depth depth) {
    return TransferBuilder(entry, setup, depth).write();
}

std::vector<TransferSequence> telling_sequences(const Info& entry, const TransferSequence& setup) {
    return TransferBuilder(entry, setup, Depth::Least).write_telling();
}

}  // namespace selvage::conformance
