// A barrier between what an exchange posted and the verdict that something of it never came.
//
// A provider that works on a thread of its own is not done because nothing has come for a while.  What is posted later
// on the same pair is: a message each way, and a read of each side's memory, in orders that the provider promises
// (msg_order), come through only behind all that was posted before.
//
// Invariants:
// 1. A barrier takes part in nothing that is judged: its contexts, buffers and tag are its own, and it sends no message
//    that a receive of the exchange could take, nor takes one of the exchange.  Where it would, that step is left out.
// 2. Whoever reads the queues gives it each entry first (took()).
// 3. What it leaves behind when it does not come through makes the pair unusable.
//
// Only for child processes.  One thread.
#pragma once

#include <chrono>
#include <functional>
#include <vector>

#include "conformance/drive/transfer/pair.h"
#include "model/traffic/traffic.h"

namespace selvage::conformance {

/// Of each side's contexts those from here on are the barrier's.
inline constexpr std::size_t kBarrierContexts = 4096;

/// For what is limited by work, on a machine that is busy beyond measure.
inline constexpr std::chrono::seconds kLongestWait{8};

/// How long this thread has been on a processor.
std::int64_t worked_micros();

class Barrier {
public:
    Barrier(Pair& pair, const TransferSequence& sequence) : pair_(pair), sequence_(sequence) {}

    /// True if the entry is the barrier's.
    bool took(const QueueEntry& entry);

    /// Sends it through behind what has been posted and what came of it, `done`.
    /// @param poll reads all queues once
    /// @param micros of this thread's work that are spent on it at most
    /// @return false: an error, or it did not come through meanwhile.
    bool pass(const model::Traffic& done, unsigned micros, const std::function<void()>& poll);

    /// True if the last one had a step at all.
    [[nodiscard]] bool tried() const { return tried_; }

    /// True if an order that the provider promises makes it come through behind all that was posted.
    [[nodiscard]] bool proves(const model::Traffic& done) const;

private:
    enum class Step : std::uint8_t { Tagged, Message, Read };
    [[nodiscard]] std::vector<Step> steps(const model::Traffic& done) const;
    [[nodiscard]] bool may_tag(const model::Traffic& done, std::uint64_t tag) const;
    [[nodiscard]] bool may_send(const model::Traffic& done) const;
    bool message(Step step, model::Side from);
    bool read(model::Side from);
    bool post(PostedCall call, std::size_t buffer);
    bool come(unsigned entries);
    bool wait();

    Pair& pair_;
    const TransferSequence& sequence_;
    const std::function<void()>* poll_ = nullptr;
    unsigned rounds_ = 0;
    std::int64_t until_worked_ = 0;
    std::chrono::steady_clock::time_point until_;
    std::uint64_t tag_ = 0;
    unsigned came_ = 0;  // entries of the step under way
    bool failed_ = false;
    bool tried_ = false;
};

}  // namespace selvage::conformance
