// A context that is full, at the side of a program that repeats the refused call and reads nothing in between.
#include "impl/test/engine/pair.h"

namespace selvage::impl::test {
namespace {

class EngineFullContext : public testing::TestWithParam<fi_threading> {
protected:
    static constexpr int kMany = 1'000;

    static Setting of(fi_threading threading) {
        Setting setting;
        setting.threading = threading;
        return setting;
    }
    EngineFullContext() : pair(of(GetParam())) { pair.net.capacity = 8; }

    // Until it is refused.
    template <typename Call>
    void fill(Call call) {
        int calls = 0;
        while (!call() && calls < kMany) ++calls;
        ASSERT_LT(calls, kMany);
    }
    // The other side has made room, and whoever repeats the call is taken in the end.
    template <typename Call>
    bool gets_through(Call call) {
        for (int i = 0; i < kMany; ++i) {
            pair.b.progress();
            if (call() == 0) return true;
        }
        return false;
    }

    Pair pair;
    Bytes bytes = pattern(100);
    Bytes memory = Bytes(100);
};

TEST_P(EngineFullContext, ASendThatIsRepeatedGetsThrough) {
    const auto send = [&] { return fi_send(pair.a.ep, bytes.data(), bytes.size(), nullptr, pair.to_b, nullptr); };
    fill(send);
    EXPECT_TRUE(gets_through(send));
}

TEST_P(EngineFullContext, AWriteThatIsRepeatedGetsThrough) {
    const uint64_t key = pair.b.exposes(memory.data(), memory.size());
    const auto write = [&] {
        return fi_write(pair.a.ep, bytes.data(), bytes.size(), nullptr, pair.to_b, 0, key, nullptr);
    };
    fill(write);
    EXPECT_TRUE(gets_through(write));
}

TEST_P(EngineFullContext, AnAtomicThatIsRepeatedGetsThrough) {
    const uint64_t key = pair.b.exposes(memory.data(), memory.size());
    const auto add = [&] {
        return fi_atomic(pair.a.ep, bytes.data(), 1, nullptr, pair.to_b, 0, key, FI_UINT64, FI_SUM, nullptr);
    };
    fill(add);
    EXPECT_TRUE(gets_through(add));
}

// Each waits until the other has read what it sent.
TEST_P(EngineFullContext, TwoThatBothSendAndReadNothingGetThrough) {
    const auto one = [&] { return fi_send(pair.a.ep, bytes.data(), bytes.size(), nullptr, pair.to_b, nullptr); };
    const auto other = [&] { return fi_send(pair.b.ep, bytes.data(), bytes.size(), nullptr, pair.to_a, nullptr); };
    fill(one);
    fill(other);
    bool through[2] = {};
    for (int i = 0; i < kMany && !(through[0] && through[1]); ++i) {
        through[0] |= !one();
        through[1] |= !other();
    }
    EXPECT_TRUE(through[0]);
    EXPECT_TRUE(through[1]);
}

INSTANTIATE_TEST_SUITE_P(Threading, EngineFullContext, testing::Values(FI_THREAD_DOMAIN, FI_THREAD_SAFE),
                         [](const auto& threading) {
                             return threading.param == FI_THREAD_SAFE ? "Safe" : "Serialised";
                         });

}  // namespace
}  // namespace selvage::impl::test
