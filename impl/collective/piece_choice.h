// Whether the blocks of a group's collective operations come in pieces or whole (Plan::divided), measured.
//
// Pieces of a frame go through rings, and are copied twice by programs; a whole block is announced, and may be read out
// of its sender's memory by the kernel. Which is faster depends on the machine by a factor of two, either way, and on
// how many members share a processor (docs/performance-collectives.md).
//
// All members must do the same. So the group's first member decides, and who has completed an operation knows what was
// decided for the next one of its class:
//
//   first member                                    each other one
//   1. an operation is the first of those that are  1. it begins, as the one before of its class said
//      under way: begin() says how the next one of
//      its class comes
//   2. each message of its first round says so      2. takes that from the first member's message (MemberStep::arrived)
//   3. it ends: the group has the answer            3. it ends: the group has the answer
//
// Operations of a group run one after another, in the same order at all members, so nobody begins one before it has the
// answer, and nobody has one of a later operation. models/piece_choice.pml checks that.
//
// In a trial both come in turn, in rows of operations of which the first is not counted: caches have other data then.
// What counts is the lower mean of each, as a processor may do something else meanwhile. The first two trials are
// short, as programs may have few operations of a size, and the second comes soon. Whole blocks become faster
// meanwhile, as the transport learns how to move them and which senders help (shared_pull.h): so the first trial
// favours them.
//
// A value of the first member. Called with the endpoint's lock held.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>

#include "impl/collective/schedule.h"

namespace selvage::impl {

// Operations that are measured together: of the same call, by the length of a block.
inline constexpr unsigned kPieceLengths = 8;  // up to 32 KiB, 64 KiB, ... 2 MiB, and more
inline constexpr unsigned kPieceClasses = 3 * kPieceLengths;
// Of what is never divided it means nothing.
constexpr unsigned piece_class(const Shape& shape) {
    const unsigned call = shape.collective == FI_ALLREDUCE ? 0 : shape.collective == FI_ALLGATHER ? 1 : 2;
    const auto length = static_cast<unsigned>(std::bit_width(shape.unit >> 15));
    return call * kPieceLengths + std::min(length, kPieceLengths - 1);
}

class PieceChoice {
public:
    // An operation of the class begins. Whether the next one is to have whole blocks.
    bool begin(unsigned c) {
        Class& k = classes_[c];
        if (k.is_tried()) return tries_whole(k, k.turn + 1);
        if (--k.left) return k.whole;
        k.turn = 0;
        k.row = k.interval > kThirdTrial ? kLongRow : kShortRow;
        k.cost[0] = k.cost[1] = std::numeric_limits<float>::max();
        return false;
    }
    // Whether finish() is to have the time of the one that begins.
    bool is_timed(unsigned c) const { return classes_[c].is_tried(); }
    // It took so long. REQUIRES: is_timed() when it began, and no begin() of another one since.
    void finish(unsigned c, int64_t nanoseconds) {
        Class& k = classes_[c];
        if (k.turn % k.row) k.sum += static_cast<float>(nanoseconds);
        float& cost = k.cost[tries_whole(k, k.turn)];
        if (++k.turn % k.row == 0) {
            cost = std::min(cost, k.sum);
            k.sum = 0;
        }
        if (k.is_tried()) return;
        // What is done already is kept where the other is hardly better.
        const bool first = k.interval == kSecondTrial;
        k.whole = k.cost[1] < (first ? kFirstMargin : k.whole ? 1 / kMargin : kMargin) * k.cost[0];
        k.left = k.interval;
        k.interval = std::min(kTrialMost, 4 * k.interval);
    }

private:
    static constexpr uint32_t kRows = 4;          // of a trial
    static constexpr uint32_t kShortRow = 2;      // of operations
    static constexpr uint32_t kLongRow = 4;       // likewise, from the third trial on
    static constexpr uint32_t kSecondTrial = 32;  // operations after which both are measured anew
    static constexpr uint32_t kThirdTrial = 4 * kSecondTrial;
    static constexpr uint32_t kTrialMost = 2048;  // likewise, at last
    static constexpr float kMargin = 0.95F;
    static constexpr float kFirstMargin = 1.125F;

    struct Class {
        float cost[2] = {std::numeric_limits<float>::max(), std::numeric_limits<float>::max()};
        float sum = 0;
        uint32_t row = kShortRow;
        uint32_t turn = 0;  // of the trial
        uint32_t left = 1;  // operations to the next trial
        uint32_t interval = kSecondTrial;
        bool whole = false;

        bool is_tried() const { return turn < kRows * row; }
    };
    // The last one of a trial is not measured yet when the next one is decided: that is as it is.
    static bool tries_whole(const Class& k, uint32_t turn) { return std::min(turn, kRows * k.row - 1) / k.row % 2; }

    Class classes_[kPieceClasses];
};

}  // namespace selvage::impl
