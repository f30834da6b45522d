// Two rings of cache lines in memory that both processes share, one each way: what a message that is a line costs where
// no library is. Each message has the line behind that of the one before, as a library's must that keeps several;
// its answer gives the line back.
//
// Made before the far process, which then has them, too.
#pragma once

#include <atomic>
#include <cstdint>

#include "conformance/bench/transfer/blocks.h"
#include "conformance/bench/transfer/link.h"

namespace selvage::conformance::bench::transfer {

class RawRings {
public:
    /// @throws CannotMeasure
    RawRings();
    ~RawRings();
    RawRings(const RawRings&) = delete;
    RawRings& operator=(const RawRings&) = delete;

    /// The near side: message `turn`, counted from 1, there and back.  `since` when nothing has hung.
    void ping(Link& link, std::uint64_t turn, Clock::time_point since);
    /// The far side: answers all that come, until `ended()`.
    template <class Ended>
    void answer(Ended ended) {
        for (std::uint64_t turn = 1; !ended();) {
            if (came(shared_->there, turn)) put(shared_->back, turn++);
        }
    }

private:
    static constexpr std::uint64_t kLines = 1024;  // 64 KiB each way
    struct alignas(64) Line {
        std::atomic<std::uint64_t> turn;
        std::uint64_t payload;
    };
    struct Shared {
        Line there[kLines];
        Line back[kLines];
    };
    static void put(Line (&ring)[kLines], std::uint64_t turn) {
        Line& line = ring[turn % kLines];
        line.payload = turn;
        line.turn.store(turn, std::memory_order_release);  // pairs with the acquire of came()
    }
    static bool came(const Line (&ring)[kLines], std::uint64_t turn) {
        const Line& line = ring[turn % kLines];
        return line.turn.load(std::memory_order_acquire) == turn && line.payload == turn;
    }

    Shared* shared_;
};

}  // namespace selvage::conformance::bench::transfer
