// Which of two ways transfers of 4 KiB and more take, measured: through the ring, or read out of the peer's memory by
// the kernel; and of reads and writes (standing_grants.h) by asking the peer, which is called the ring here, or at
// once.
//
// Which is faster depends on the size, on the kernel, on the processor, and on whether the two processors share a
// cache, which a hypervisor changes under us. So it is measured, here, where the bytes arrive: from the end of one
// transfer to the end of the next, per class of size, the time and the bytes that came meanwhile. Those are not always
// the transfer's own: several may come in pieces side by side, and end together. So a span ends no sooner than a whole
// transfer's bytes have come: it has all the waiting in it that they took. Once both ways are known the clock is not
// read any more, until after many transfers both are measured anew. The second time that comes soon: in the first,
// memory is touched for the first time, and a sender that helps to copy (shared_pull.h) has not been introduced. So it
// does where the faster way is another one than before: a mistake, or a machine that changes, costs few transfers. Of
// short transfers, of which many are made in a millisecond, it comes later and later where the same way is much faster.
//
// What a trial asks for need not come: what is injected is never read. A way that is not taken is given up until the
// next trial.
//
// What is longer than the ring changes hands several times on its way through it. Where more threads want to run than
// there are processors each time costs turns of the scheduler, and all that is measured there is how long others ran.
// So for these the kernel comes first, and the ring is not tried where other threads ran in half of the spans or more.
//
// Private to the endpoint that reads; its word() is published to the peer. No thread of its own, no clock of its own.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "impl/transport/shm/layout.h"

namespace selvage::impl::shm {

// Shorter transfers always come through the ring: what they complete with is then no answer of the peer, which programs
// with both ends in one thread rely on (impl.cost.Inline).
inline constexpr size_t kPullMin = 4 * 1024;

// 4 KiB, 8 KiB, ... 2 MiB and more.
inline constexpr unsigned kPullClasses = 10;
inline constexpr unsigned kChosenShift = 16;  // of an owner's word
constexpr unsigned pull_class(uint64_t length) {
    const unsigned log = static_cast<unsigned>(std::bit_width(length / kPullMin));  // 1 for the first class
    return std::min(log ? log - 1 : 0, kPullClasses - 1);
}
// What an owner's word says of a transfer: it is to be read.
constexpr bool says_pull(uint32_t word, uint64_t length) {
    return length >= kPullMin && (word >> pull_class(length) & 1);
}

// And: both ways are known for such transfers, and it says the better one.
constexpr bool says_chosen(uint32_t word, uint64_t length) {
    return length >= kPullMin && (word >> (kChosenShift + pull_class(length)) & 1);
}

class PullChoice {
public:
    enum class Way : uint8_t { Ring, Kernel };

    // Whether trials of long transfers come later and later, too, where the same way is much faster.
    enum class LongTrials : uint8_t { Often, Seldom };

    explicit PullChoice(LongTrials long_trials = LongTrials::Often) : long_trials_(long_trials) {}

    // Bit n: transfers of class n are to be read; kChosenShift + n: that is known to be the better way.
    uint32_t word() const { return word_; }

    // The kernel may read from the peer. Till then nothing is.
    void allow() {
        allowed_ = true;
        for (unsigned c = 0; c < kPullClasses; ++c) decide(c);
    }

    void forbid() {
        allowed_ = false;
        word_ = 0;
    }

    // Both ways are known for transfers of that length, and the word says the better one. REQUIRES: kPullMin or more.
    bool is_chosen(uint64_t length) const { return is_measured(pull_class(length)); }
    // And that is the ring, or there is no other. REQUIRES: as above.
    bool keeps_to_ring(uint64_t length) const { return is_chosen(length) && !says_pull(word_, length); }

    // A transfer of `length` bytes, at least kPullMin, has come. Whether finished() is to be called with its time.
    bool counts(uint64_t length) {
        const unsigned c = pull_class(length);
        if (!classes_[c].left--) begin_trial(c);
        if (!is_measured(c)) {
            watched_ = kWatched;
            if (is_long(c)) watched_long_ = kWatched;
        } else if (watched_) {
            --watched_;
            if (watched_long_) --watched_long_;
        }
        if (!watched_) is_span_ = false;
        return watched_ > 0;
    }
    // What came meanwhile came another way, and is no part of a span.
    void interrupt() { is_span_ = false; }

    // finished() is to have `switches`, which cost a system call.
    bool counts_switches() const { return watched_long_ > 0; }

    static constexpr uint64_t kUnknown = UINT64_MAX;
    struct Moment {
        uint64_t nanoseconds;
        uint64_t switches;  // how often threads of this process had to make room for others; or kUnknown
    };

    // It has come at this moment; since the one before, `moved` bytes have come in all. `transfers`: as many of about
    // that length have come together.
    void finished(Way way, uint64_t length, uint64_t moved, const Moment& now, size_t transfers = 1) {
        const unsigned c = pull_class(length);
        // What the first one came after is not known.
        if (is_span_) {
            moved_ += moved;
            if (moved_ < length) return;
            if (!is_measured(c)) measured(c, way, now, transfers);
        }
        last_ = now;
        is_span_ = true;
        moved_ = 0;
        decide(c);
    }

private:
    static constexpr uint16_t kTrial = 1024;      // transfers after which both are measured anew
    static constexpr uint16_t kTrialMost = 8192;  // likewise, of short ones whose choice is clear
    static constexpr uint32_t kSecondTrial = 32;  // likewise, once
    static constexpr uint32_t kConfirm = 64;      // likewise, where the better way is not what it was
    static constexpr uint32_t kWatched = 8;  // of other classes behind one that is to be measured: they end its spans
    static constexpr uint32_t kNotTaken = 256;  // transfers by the other way, after which a trial gives one up

    static constexpr float kClear = 1.5F;  // so much longer takes what is tried seldom
    static constexpr float kGivenUp = std::numeric_limits<float>::max();

    // Longer than the ring.
    static constexpr bool is_long(unsigned c) { return c >= pull_class(kRingBytes); }

    // Transfers that say what a way costs. Long ones are few, and what disturbs one is a smaller part of it.
    static constexpr uint16_t kFew = 4;
    static constexpr uint16_t enough(unsigned c) {
        return c >= pull_class(1 << 20) ? kFew : c >= pull_class(64 << 10) ? 8 : 16;
    }

    // Nanoseconds per byte, from one transfer to the next, of kFew groups of spans. Pauses of the application, turns of
    // others, and memory that is touched for the first time are in some groups, and are no cost: what counts is the
    // second shortest. Of the long ones, a span each, the shortest, as both ways take some to get as fast as they are.
    struct Cost {
        float shortest = kGivenUp;
        float second = kGivenUp;
        float sum = 0;         // of the group that is not full
        uint16_t known = 0;    // spans, up to enough(c)
        uint16_t crowded = 0;  // spans in which others ran

        void add(float span, uint32_t size) {
            sum += span;
            if (++known % size) return;
            const float group = sum / static_cast<float>(size);
            sum = 0;
            second = std::min(second, std::max(shortest, group));
            shortest = std::min(shortest, group);
        }
    };
    struct Class {
        Cost cost[2];                      // by Way
        uint32_t left = kSecondTrial - 1;  // transfers to the next trial
        uint16_t interval = kTrial;        // between two
        uint16_t not_taken = 0;            // transfers of this trial that came the other way
        bool decided = false;              // by a trial
        bool pulled = false;               // the better way of the last trial was the kernel
    };

    float mean(unsigned c, Way way) const {
        const Cost& cost = classes_[c].cost[way == Way::Kernel];
        return enough(c) == kFew ? cost.shortest : cost.second;
    }

    void measured(unsigned c, Way way, const Moment& now, size_t transfers) {
        Class& k = classes_[c];
        Cost& cost = k.cost[way == Way::Kernel];
        if (cost.known < enough(c)) {
            cost.crowded += now.switches != last_.switches && now.switches != kUnknown && last_.switches != kUnknown;
            const auto nanoseconds = static_cast<float>(now.nanoseconds - last_.nanoseconds);
            const float span = nanoseconds / static_cast<float>(moved_);
            for (size_t i = 0; i < transfers && cost.known < enough(c); ++i) cost.add(span, enough(c) / kFew);
        } else if (++k.not_taken == kNotTaken) {
            k.cost[way == Way::Ring] = {};
            k.cost[way == Way::Ring].known = enough(c);
        }
        if (is_measured(c)) concluded(c);
    }

    // A trial is over: when the next one comes.
    void concluded(unsigned c) {
        Class& k = classes_[c];
        const float ring = mean(c, Way::Ring), kernel = mean(c, Way::Kernel);
        const bool pulls = is_better(c);
        const bool clear = pulls ? ring > kClear * kernel : kernel > kClear * ring;
        if (!k.decided) {
            k.decided = true;
        } else if (pulls != k.pulled) {
            k.interval = kTrial;
            k.left = kConfirm;
        } else {
            const bool seldom = long_trials_ == LongTrials::Seldom || c < pull_class(16 << 10);
            k.interval = clear ? std::min<uint16_t>(2 * k.interval, seldom ? kTrialMost : kTrial) : kTrial;
            k.left = k.interval;
        }
        k.pulled = pulls;
    }

    bool is_measured(unsigned c) const { return is_known(c, Way::Ring) && is_known(c, Way::Kernel); }

    bool is_known(unsigned c, Way way) const {
        return classes_[c].cost[way == Way::Kernel].known == enough(c) || (way == Way::Ring && waits_for_turns(c));
    }

    bool waits_for_turns(unsigned c) const {
        const auto& [ring, kernel] = classes_[c].cost;
        const uint32_t crowded = ring.crowded + kernel.crowded;
        return is_long(c) && crowded > 1 && 2 * crowded >= ring.known + kernel.known;
    }

    bool is_better(unsigned c) const { return mean(c, Way::Kernel) < mean(c, Way::Ring) || waits_for_turns(c); }

    void begin_trial(unsigned c) {
        Class& k = classes_[c];
        k.cost[0] = k.cost[1] = {};
        k.left = k.interval;
        k.not_taken = 0;
        decide(c);
    }

    // First the one way is measured, then the other, then the better one is taken.
    void decide(unsigned c) {
        const bool is_next = is_long(c) ? !is_known(c, Way::Kernel) : is_known(c, Way::Ring);
        const bool chosen = is_measured(c);
        const bool pull = chosen ? is_better(c) : is_next;
        set(1U << c, allowed_ && pull);
        set(1U << (kChosenShift + c), allowed_ && chosen);
    }

    void set(uint32_t bit, bool on) { word_ = on ? word_ | bit : word_ & ~bit; }

    LongTrials long_trials_;
    bool allowed_ = false;
    uint32_t word_ = 0;
    uint32_t watched_ = 0;       // transfers of any class whose end is still looked at
    uint32_t watched_long_ = 0;  // likewise, for the sake of long ones
    bool is_span_ = false;       // the end of the transfer that came last is known
    Moment last_{};              // that moment
    uint64_t moved_ = 0;         // bytes since, of transfers that were too few for a span
    Class classes_[kPullClasses];
};

}  // namespace selvage::impl::shm
