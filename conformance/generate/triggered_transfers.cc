// See triggered_transfers.h.
#include "conformance/generate/triggered_transfers.h"

#include "conformance/generate/transfer_parts.h"

namespace selvage::conformance {
namespace {

using namespace programs;

class TriggeredBuilder {
public:
    TriggeredBuilder(const Info& entry, const TransferSequence& setup, const std::vector<std::uint64_t>& lengths)
        : entry_(entry), setup_(setup), lengths_(lengths) {}

    std::vector<TransferSequence> write() {
        triggers();
        works();
        return std::move(out_);
    }

private:
    void add(std::vector<Operation> operations) {
        TransferSequence e = setup_;
        e.operations = std::move(operations);
        out_.push_back(std::move(e));
    }

    void add_behind(std::vector<Operation> before, const std::vector<Operation>& operations) {
        before.insert(before.end(), operations.begin(), operations.end());
        add(std::move(before));
    }

    static Operation trigger(Side side, std::uint64_t count) {
        Operation o = op(Transfer::Trigger, CallForm::Plain, side);
        o.count = count;
        return o;
    }
    static Operation waiting(Operation o, std::uint64_t threshold) {
        o.flags |= FI_TRIGGER;
        o.threshold = threshold;
        return o;
    }

    // With FI_TRIGGER.
    void triggers() {
        const std::uint64_t sent = telling(setup_, true), received = telling(setup_, false);
        for (const bool tagged : {false, true}) {
            if (tagged ? !tags(entry_) : !sends(entry_)) continue;
            for (const std::uint64_t length : lengths_) {
                waits({receive(tagged, length)}, message(tagged, CallForm::Message, length, sent));
                waits({message(tagged, CallForm::Plain, length)}, receive(tagged, length, CallForm::Message, received));
            }
            const auto one = [&](std::uint64_t length, std::uint64_t threshold) {
                return waiting(message(tagged, CallForm::Message, length, sent), threshold);
            };
            const Operation r = receive(tagged, 64);
            add({r, r, one(8, 2), one(16, 1), trigger(Side::A, 2)});
            add({r, r, r, one(8, 3), one(16, 1), one(24, 2), trigger(Side::A, 5)});
            add({r, r, r, one(8, 2), one(16, 2), one(24, 2), trigger(Side::A, 2)});
        }
        if (remote(entry_)) {
            for (const Transfer what : {Transfer::Write, Transfer::Read}) {
                for (const std::uint64_t length : lengths_) waits({}, access(what, CallForm::Message, length, sent));
            }
        }
        if (atomics(entry_)) {
            for (const Transfer what : {Transfer::Atomic, Transfer::FetchAtomic}) {
                Operation o = sum(what, 1);
                o.form = CallForm::Message;
                o.flags = sent;
                waits({}, o);
            }
        }
    }

    // Waits for a counter that gets there in two steps, for one that is there already, and for one that is far beyond.
    void waits(const std::vector<Operation>& before, const Operation& o) {
        const Operation one = trigger(o.side, 1);
        add_behind(before, {waiting(o, 2), kProgress, one, kProgress, one});
        add_behind(before, {waiting(o, 0)});
        add_behind(before, {waiting(o, 1), trigger(o.side, 7)});
    }

    static Operation deferred(Operation o, std::uint64_t threshold, std::uint64_t flags = 0) {
        if (o.what < Transfer::Cancel) o.form = CallForm::Message;
        o.flags = flags;
        o.deferred = true;
        o.threshold = threshold;
        return o;
    }
    static Operation cancel_work(int of) {
        Operation o = op(Transfer::CancelWork, CallForm::Plain, Side::A);
        o.of = of;
        return o;
    }

    // Deferred work: each kind of it, and what it needs ahead of it.
    void works() {
        for (const std::uint64_t length : {std::uint64_t{8}, std::uint64_t{65536}}) {
            if (length > entry_.ep.max_msg_size) continue;
            for (const bool tagged : {false, true}) {
                if (tagged ? !tags(entry_) : !sends(entry_)) continue;
                work({receive(tagged, length)}, message(tagged, CallForm::Message, length));
                work({message(tagged, CallForm::Plain, length)}, receive(tagged, length));
            }
            if (!remote(entry_)) continue;
            for (const Transfer what : {Transfer::Write, Transfer::Read})
                work({}, access(what, CallForm::Message, length));
        }
        if (atomics(entry_)) {
            for (const Transfer what : {Transfer::Atomic, Transfer::FetchAtomic, Transfer::CompareAtomic}) {
                Operation o = sum(what, 1);
                if (what == Transfer::CompareAtomic) o.op = FI_CSWAP;
                work({}, o);
            }
        }
        for (const bool tagged : {false, true})
            if (tagged ? tags(entry_) : sends(entry_)) messages_of_work(tagged);
    }

    void work(const std::vector<Operation>& before, const Operation& o) {
        const Operation one = trigger(o.side, 1);
        add_behind(before, {deferred(o, 2), kProgress, one, kProgress, one});
        add_behind(before, {deferred(o, 1, FI_COMPLETION), one});
        add_behind(before, {deferred(o, 0)});
    }

    // What brings a message to its start, the order of several, and what keeps it from it.
    void messages_of_work(bool tagged) {
        const Operation r = receive(tagged, 64), last = message(tagged, CallForm::Plain, 32);
        const auto one = [&](std::uint64_t length, std::uint64_t threshold) {
            return deferred(message(tagged, CallForm::Message, length), threshold);
        };
        const auto counter = [](Transfer what, std::uint64_t count, std::uint64_t threshold) {
            Operation o = op(what, CallForm::Plain, Side::A);
            o.count = count;
            return deferred(o, threshold);
        };
        const auto adds = [&](std::uint64_t threshold) { return counter(Transfer::Trigger, 1, threshold); };
        Operation fails = trigger(Side::A, 1), flush = fails;
        fails.what = Transfer::TriggerError;
        flush.what = Transfer::FlushWork;
        flush.count = 0;
        const Operation next = trigger(Side::A, 1);
        add({r, one(8, 2), next, kProgress, fails});
        add({r, one(8, 2), adds(1), kProgress, next});
        add({r, one(8, 3), adds(1), adds(2), kProgress, next});
        add({r, one(8, 7), counter(Transfer::TriggerSet, 7, 1), kProgress, next});
        add({r, r, one(8, 2), one(16, 1), trigger(Side::A, 2)});
        add({r, r, r, one(8, 3), one(16, 1), one(24, 2), trigger(Side::A, 5)});
        add({r, r, r, one(8, 2), one(16, 2), one(24, 2), trigger(Side::A, 2)});
        add({r, one(8, 1), cancel_work(1), next, kProgress, last});
        add({r, r, one(8, 1), one(16, 1), cancel_work(2), next, kProgress, last});
        add({r, one(8, 1), one(16, 2), flush, trigger(Side::A, 2), kProgress, last});
        add({r, one(8, 1), kProgress, last});
    }

    const Info& entry_;
    const TransferSequence& setup_;
    const std::vector<std::uint64_t>& lengths_;
    std::vector<TransferSequence> out_;
};

}  // namespace

std::vector<TransferSequence> triggered_sequences(const Info& entry, const TransferSequence& setup,
                                                  const std::vector<std::uint64_t>& lengths) {
    if (!offers(entry, FI_TRIGGER) || entry.domain.cntr_cnt == 0) return {};
    return TriggeredBuilder(entry, setup, lengths).write();
}

}  // namespace selvage::conformance
