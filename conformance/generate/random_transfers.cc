// Random exchanges: see transfers.h.
#include <algorithm>
#include <array>

#include "conformance/case/atomic_values.h"
#include "conformance/case/operations.h"
#include "conformance/generate/transfer_parts.h"
#include "conformance/generate/transfers.h"

namespace selvage::conformance {
namespace {

using namespace programs;

// One random exchange: what belongs together is made at once, and laid into a sequence with other things in between.
class Dice {
public:
    Dice(const Info& entry, const TransferSequence& setup, Rng& rng) : entry_(entry), rng_(rng), out_(setup) {}

    TransferSequence roll() {
        const std::size_t expected = 2 + rng_.below(19);
        while (made_ < expected) thing();
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
    TransferSequence out_;
    std::vector<Operation> later_;
    std::size_t made_ = 0;
    std::uint64_t next_place_ = kSlot;
};

}  // namespace

TransferSequence random_sequence(const model::Info& entry, const TransferSequence& setup, Rng& rng) {
    return Dice(entry, setup, rng).roll();
}

}  // namespace selvage::conformance
