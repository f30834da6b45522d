// Bytes of messages that no entry tells of, and that come behind the barrier: they are waited for, and not called lost.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>
#include <vector>

#include "conformance/test/pair_util.h"

namespace selvage::conformance {
namespace {

#ifdef SELVAGE_OWN_LIBRARY
using model::Seen;
using Clock = std::chrono::steady_clock;

// Longer than anything waits without a barrier, shorter than bytes are waited for behind one.
constexpr auto kLate = std::chrono::milliseconds(100);
constexpr std::uint64_t kShadow = kArenaOffset + kArenaLength / 2;
constexpr unsigned char kNothing = 0x3D;

// Places the bytes of messages in memory of its own first, and in that of the receive much later.
class LateBytes : public WrappedEndpoint {
public:
    using WrappedEndpoint::WrappedEndpoint;
    Outcome cover(std::size_t used) override {
        return WrappedEndpoint::cover(std::max<std::size_t>(used, kArenaLength));
    }

    std::int64_t post(const PostedCall& call) override {
        if (call.operation.what != model::Transfer::Recv || call.buffer == 0) return WrappedEndpoint::post(call);
        Receive late{.buffer = call.buffer, .shadow = kShadow + shadows_, .length = call.operation.length};
        shadows_ += late.length;
        std::memset(memory() + late.shadow, kNothing, late.length);
        PostedCall changed = call;
        changed.buffer = late.shadow;
        receives_.push_back(late);
        return WrappedEndpoint::post(changed);
    }

    void read(unsigned looks, Arrivals& out) override {
        WrappedEndpoint::read(looks, out);
        for (Receive& r : receives_) {
            if (r.placed || memory()[r.shadow] == kNothing) continue;
            if (r.came == Clock::time_point{}) r.came = Clock::now();
            if (Clock::now() - r.came < kLate) continue;
            std::memcpy(memory() + r.buffer, memory() + r.shadow, r.length);
            r.placed = true;
        }
    }

private:
    struct Receive {
        std::uint64_t buffer, shadow, length;
        Clock::time_point came{};
        bool placed = false;
    };
    std::vector<Receive> receives_;
    std::uint64_t shadows_ = 0;
};

// What is seen of the receive of the first operation, on the reference library's shm.
std::string seen_of(const std::string& operations) {
    return on_own_pair("selective = receive\n" + operations, [](Pair& pair, const TransferSequence& sequence) {
        pair.wrap(model::Side::B, [](auto end) { return std::make_unique<LateBytes>(std::move(end)); });
        Patience patience;
        model::Traffic out;
        run_sequence(pair, sequence, patience, out);
        return out.operations.front().local == Seen::Whole ? "whole" : "not whole";
    });
}

TEST(LateBytes, AreWaitedForBehindTheBarrier) {
    EXPECT_EQ(seen_of("B recv length=4096\nA send length=4096\n"), "whole");
}

TEST(LateBytes, AreWaitedForThoughAnotherReceiveWasCancelled) {
    EXPECT_EQ(seen_of("B recv length=4096\nA send length=4096\nA recv length=64\nA cancel of=2\n"), "whole");
}
#endif

}  // namespace
}  // namespace selvage::conformance
