// See starts.h.
#include "model/traffic/starts.h"

#include <algorithm>
#include <tuple>

#include "model/traffic/words.h"

namespace selvage::model {
namespace {

class Clock {
public:
    Clock(std::span<const Operation> operations, const std::vector<bool>& cancelled, Starts& out)
        : operations_(operations), cancelled_(cancelled), out_(out) {}

    void run() {
        for (int i = 0; i < static_cast<int>(operations_.size()); ++i)
            if (at(i).ret == 0) step(i);
    }

private:
    struct Held {
        std::uint64_t threshold;
        int operation;
    };
    // The counter of a side.
    struct Counter {
        std::uint64_t called = 0;  // what calls have brought, from which thresholds are counted
        std::uint64_t value = 0, errors = 0;
        std::vector<Held> held;
    };

    [[nodiscard]] const Operation& at(int i) const { return operations_[static_cast<std::size_t>(i)]; }
    Counter& counter_of(int i) { return counters_[number_of(at(i).side)]; }

    void step(int i) {
        const Operation& o = at(i);
        if (o.what == Transfer::Cancel) return cancel(o);
        if (o.what == Transfer::CancelWork) return withdraw_one(i);
        if (o.what == Transfer::FlushWork) return withdraw_all(i);
        if (waits_for_counter(o)) {
            counter_of(i).held.push_back({counter_of(i).called + o.threshold, i});
            return release(i, o.threshold == 0 ? i : -1);
        }
        if (moves_counter(o)) {
            counter_of(i).called += o.count;
            move(i, counter_of(i).called);
            return release(i, -1);
        }
        if (is_posted(o)) begin(i, i);
    }

    void begin(int operation, int step) {
        out_.step[static_cast<std::size_t>(operation)] = step;
        out_.order.push_back(operation);
    }

    /// @param set what TriggerSet makes of it
    void move(int i, std::uint64_t set) {
        Counter& c = counter_of(i);
        if (at(i).what == Transfer::Trigger) c.value += at(i).count;
        if (at(i).what == Transfer::TriggerError) c.errors += at(i).count;
        if (at(i).what == Transfer::TriggerSet) c.value = set;
    }

    // What the counter has reached begins, in order; work that moves it may bring more.
    /// @param due begins in any case: it waits for nothing; -1: none
    void release(int step, int due) {
        auto& held = counter_of(step).held;
        for (;;) {
            const auto least = std::min_element(held.begin(), held.end(), [](const Held& a, const Held& b) {
                return std::tie(a.threshold, a.operation) < std::tie(b.threshold, b.operation);
            });
            const Counter& c = counter_of(step);
            if (least == held.end() || (least->threshold > c.value + c.errors && least->operation != due)) return;
            const Held begun = *least;
            held.erase(least);
            begin(begun.operation, step);
            // Whether errors count for FI_TRIGGER is left open.
            if (c.errors > 0 && is_triggered(at(begun.operation))) out_.known = false;
            if (moves_counter(at(begun.operation)))
                move(begun.operation, begun.threshold - at(begun.operation).threshold + at(begun.operation).count);
        }
    }

    // A cancel may come too late, or do nothing: what ended decides.
    void cancel(const Operation& o) {
        if (o.of < 0 || static_cast<std::size_t>(o.of) >= cancelled_.size()) return;
        if (!cancelled_[static_cast<std::size_t>(o.of)]) return;
        std::erase_if(counter_of(o.of).held, [&](const Held& h) { return h.operation == o.of; });
    }

    void withdraw(int by, int of) { out_.withdrawn[static_cast<std::size_t>(of)] = by; }

    // Of work that has begun nobody says what comes.
    void withdraw_one(int i) {
        const int of = at(i).of;
        if (of < 0 || of >= i) return;
        auto& held = counter_of(of).held;
        if (std::erase_if(held, [of](const Held& h) { return h.operation == of; }) == 0)
            out_.known = false;
        else
            withdraw(i, of);
    }

    // All of the domain: whether the other side's is the same is not known here.
    void withdraw_all(int i) {
        const auto is_held_work = [&](const Held& h) { return is_work(at(h.operation)); };
        for (Counter& c : counters_) {
            const bool own = &c == &counter_of(i);
            if (!own && std::any_of(c.held.begin(), c.held.end(), is_held_work)) out_.known = false;
            if (!own) continue;
            for (const Held& h : c.held)
                if (is_held_work(h)) withdraw(i, h.operation);
            std::erase_if(c.held, is_held_work);
        }
    }

    const std::span<const Operation> operations_;
    const std::vector<bool>& cancelled_;
    Starts& out_;
    Counter counters_[2];  // by side
};

}  // namespace

Starts starts_of(std::span<const Operation> operations, const std::vector<bool>& cancelled) {
    Starts out;
    out.step.assign(operations.size(), -1);
    out.withdrawn.assign(operations.size(), -1);
    Clock(operations, cancelled, out).run();
    return out;
}

}  // namespace selvage::model
