// Which of two ways payload of kPullMin and more gets into a ring, where its sender does not know better
// (far_copies.h): by plain stores, or past the caches. Measured as pull_choice.h measures, here, where it is taken out,
// since it is the reading that differs the most: out of the sender's cache, or out of memory, of which the processor
// reads ahead.
//
// The sender reads the word for each frame, and what is in the ring when the word changes came by the other way: until
// as much has come as the ring holds, nothing counts.
//
// Private to the endpoint that reads, as the word is that it reports (SlotControl::copies). No clock of its own.
#pragma once

#include "impl/transport/shm/pull_choice.h"

namespace selvage::impl::shm {

class CopyChoice {
public:
    CopyChoice() { ways_.allow(); }

    // As PullChoice's: a bit for each class of size, and one for each that is known to be the better way.
    uint32_t word() const { return ways_.word(); }

    // A frame of `size` bytes, at least kPullMin, has come; `position` is behind it. Whether came() is to be called.
    bool counts(uint64_t size, uint64_t position) {
        if (!ways_.counts(size)) return false;
        // In the first lap memory is touched for the first time.
        if (position >= changed_at_ + kRingLines) return true;
        ways_.interrupt();
        return false;
    }
    void came(uint64_t size, uint64_t position, uint64_t nanoseconds) {
        const auto way = says_pull(word(), size) ? PullChoice::Way::Kernel : PullChoice::Way::Ring;
        const uint32_t before = word();
        ways_.finished(way, size, (position - measured_at_) * kLine, {nanoseconds, PullChoice::kUnknown});
        measured_at_ = position;
        if (word() != before) changed_at_ = position;
    }
    // What came meanwhile came by no ring, and is no part of a span.
    void interrupt() { ways_.interrupt(); }

private:
    PullChoice ways_{PullChoice::LongTrials::Seldom};  // Ring: by plain stores; Kernel: past the caches
    uint64_t changed_at_ = 0;                          // where the word was another one before
    uint64_t measured_at_ = 0;                         // behind the frame that came() was called for
};

}  // namespace selvage::impl::shm
