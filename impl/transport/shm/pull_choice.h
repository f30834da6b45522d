// How transfers of 4 KiB and more come from one peer: through the ring, or read out of its memory by the kernel.
//
// Which is faster depends on the size, on the kernel, on the processor, and on whether the two processors share a
// cache, which a hypervisor changes under us. So it is measured, here, where the bytes arrive: from the end of one
// transfer to the end of the next, per class of size, the time and the bytes that came meanwhile. Those are not always
// the transfer's own: several may come in pieces side by side, and end together. So a span ends no sooner than a whole
// transfer's bytes have come: it has all the waiting in it that they took. Once both ways are known the clock is not
// read any more, until after many transfers both are measured anew. The second time that comes soon: in the first,
// memory is touched for the first time, and a sender that helps to copy (shared_pull.h) has not been introduced.
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

#include "impl/transport/shm/layout.h"

namespace selvage::impl::shm {

// Shorter transfers always come through the ring.
inline constexpr size_t kPullMin = 4 * 1024;

// 4 KiB, 8 KiB, ... 2 MiB and more.
inline constexpr unsigned kPullClasses = 10;
constexpr unsigned pull_class(uint64_t length) {
    const unsigned log = static_cast<unsigned>(std::bit_width(length / kPullMin));  // 1 for the first class
    return std::min(log ? log - 1 : 0, kPullClasses - 1);
}
// What an owner's word says of a transfer: it is to be read.
constexpr bool says_pull(uint32_t word, uint64_t length) {
    return length >= kPullMin && (word >> pull_class(length) & 1);
}

class PullChoice {
public:
    enum class Way : uint8_t { Ring, Kernel };

    // Bit n: transfers of class n are to be read.
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

    // A transfer of `length` bytes, at least kPullMin, has come. Whether finished() is to be called with its time.
    bool counts(uint64_t length) {
        const unsigned c = pull_class(length);
        const uint32_t transfers = ++classes_[c].transfers;
        if (transfers == kSecondTrial || transfers % kTrial == 0) begin_trial(c);
        if (!is_measured(c)) {
            watched_ = kWatched;
        } else if (watched_) {
            --watched_;
        }
        if (!watched_) is_span_ = false;
        return watched_ > 0;
    }

    struct Moment {
        uint64_t nanoseconds;
        uint64_t switches;  // how often threads of this process had to make room for others
    };

    // It has come at this moment; since the one before, `moved` bytes have come in all.
    void finished(Way way, uint64_t length, uint64_t moved, const Moment& now) {
        const unsigned c = pull_class(length);
        // What the first one came after is not known.
        if (is_span_) {
            moved_ += moved;
            if (moved_ < length) return;
            if (!is_measured(c)) {
                Cost& cost = classes_[c].cost[way == Way::Kernel];
                if (cost.known < enough(c)) cost.crowded += now.switches != last_.switches;
                note(cost, enough(c), now.nanoseconds - last_.nanoseconds, moved_);
            }
        }
        last_ = now;
        is_span_ = true;
        moved_ = 0;
        decide(c);
    }

private:
    static constexpr uint32_t kTrial = 1024;      // transfers after which both are measured anew
    static constexpr uint32_t kSecondTrial = 32;  // likewise, once
    static constexpr uint32_t kWatched = 8;  // of other classes behind one that is to be measured: they end its spans

    // The ring is measured behind the kernel, while it fills: as it goes on it is a little faster than that.
    static constexpr float kMargin = 0.875F;

    // Longer than the ring.
    static constexpr bool is_long(unsigned c) { return c >= pull_class(kRingBytes); }

    // Transfers that say what a way costs. Long ones are few, and what disturbs one is a smaller part of it.
    static constexpr uint32_t kFew = 4;
    static constexpr uint32_t enough(unsigned c) {
        return c >= pull_class(1 << 20) ? kFew : c >= pull_class(64 << 10) ? 8 : 16;
    }

    // Nanoseconds per byte, from one transfer to the next.
    struct Cost {
        float mean = 0;        // of kFew the least, as both ways take some to get as fast as they are
        uint32_t known = 0;    // transfers that it is made of, up to enough(c)
        uint32_t crowded = 0;  // spans in which others ran
    };
    struct Class {
        Cost cost[2];  // by Way
        uint32_t transfers = 0;
    };

    // A pause of the application is no cost: nothing counts more than four times what is usual.
    static void note(Cost& cost, uint32_t most, uint64_t nanoseconds, uint64_t bytes) {
        constexpr float kSlow = 4;
        const float now = static_cast<float>(nanoseconds) / static_cast<float>(bytes);
        if (!cost.known) {
            cost.mean = now;
            cost.known = 1;
            return;
        }
        if (cost.known < most) ++cost.known;
        if (most == kFew) {
            cost.mean = std::min(cost.mean, now);
            return;
        }
        // The first ones may have been pauses themselves: what is shorter corrects them at once.
        if (now * kSlow < cost.mean) cost.mean = now;
        cost.mean += (std::min(now, kSlow * cost.mean) - cost.mean) / static_cast<float>(cost.known);
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

    void begin_trial(unsigned c) {
        classes_[c].cost[0] = classes_[c].cost[1] = {};
        decide(c);
    }

    // First the one way is measured, then the other, then the better one is taken.
    void decide(unsigned c) {
        const auto& [ring, kernel] = classes_[c].cost;
        const bool is_better = kernel.mean < kMargin * ring.mean || waits_for_turns(c);
        const bool is_next = is_long(c) ? !is_known(c, Way::Kernel) : is_known(c, Way::Ring);
        const bool pull = is_measured(c) ? is_better : is_next;
        const uint32_t bit = 1U << c;
        word_ = allowed_ && pull ? word_ | bit : word_ & ~bit;
    }

    bool allowed_ = false;
    uint32_t word_ = 0;
    uint32_t watched_ = 0;  // transfers of any class whose end is still looked at
    bool is_span_ = false;  // the end of the transfer that came last is known
    Moment last_{};         // that moment
    uint64_t moved_ = 0;    // bytes since, of transfers that were too few for a span
    Class classes_[kPullClasses];
};

}  // namespace selvage::impl::shm
