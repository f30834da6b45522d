// Endpoints with rails that close while something that they sent is on its way: it arrives, also by other links than it
// was sent by, before the peer learns of the end.
#include <gtest/gtest.h>
#include <poll.h>

#include <thread>

#include "impl/test/tcp/silent_pair.h"

namespace selvage::impl::test {
namespace {

constexpr int kShorts = 200;
constexpr size_t kInThree = 96u << 10;  // of which each link takes a part, of several frames at a time

// What the other end does meanwhile, until it has learnt of the end.
class Reader {
public:
    explicit Reader(RailSide& side, int after = 0)
        : thread_([&side, after] {
              (void)poll(nullptr, 0, after);
              wait_for_end(side);
          }) {}
    ~Reader() { join(); }
    void join() {
        if (thread_.joinable()) thread_.join();
    }
    Reader(const Reader&) = delete;
    Reader& operator=(const Reader&) = delete;

private:
    static void wait_for_end(RailSide& side) {
        EXPECT_TRUE(run(
            {&side}, [&] { return !side.sink.downs.empty(); }, 20'000));
    }
    std::thread thread_;
};

// Frames that are begun, though not taken by anybody.
size_t begin_divided_frames(RailPair& pair, size_t count) {
    for (size_t i = 0; i < count; ++i) {
        pair.texts.push_back(pattern(kInThree, static_cast<unsigned>(pair.texts.size())));
        const SendResult result =
            send_text(pair.a.transport, *pair.to_b, pair.texts.back(), pair.texts.size() - 1, false, &pair);
        if (result == SendResult::Again || result == SendResult::Down) return i;
        pair.a.progress();
    }
    return count;
}

void expect_frames(RailPair& pair, RailSide& at, size_t count) {
    ASSERT_EQ(at.sink.frames.size(), count);
    at.sink.downs.clear();
    pair.expect_whole(at);
}

// The one closes while the other reads, `after` milliseconds later.
void expect_after_close(RailPair& pair, RailSide& closes, RailSide& reads, size_t count, int after = 0) {
    Reader reader(reads, after);
    closes.transport.close();
    reader.join();
    expect_frames(pair, reads, count);
}

TEST(TcpClosing, WhoCalledDeliversByAnotherLinkWhatASilentOneDoesNot) {
    SilentPair pair;
    ASSERT_TRUE(pair.connect());
    const SilentLink silent = pair.silence(1);
    for (int i = 0; i < kShorts; ++i) ASSERT_TRUE(pair.send(pair.a, *pair.to_b, 500));
    expect_after_close(pair, pair.a, pair.b, pair.sent[0]);
}

TEST(TcpClosing, WhoWasCalledDeliversByAnotherLinkWhatASilentOneDoesNot) {
    SilentPair pair;
    ASSERT_TRUE(pair.connect());
    const SilentLink silent = pair.silence(1);
    for (int i = 0; i < kShorts; ++i) ASSERT_TRUE(pair.send(pair.b, *pair.to_a(), 500));
    expect_after_close(pair, pair.b, pair.a, pair.sent[1]);
}

TEST(TcpClosing, ASearchForAnotherLinkThatHasBegunIsFinished) {
    const LinkTimeout timeout("500");
    SilentPair pair;
    ASSERT_TRUE(pair.connect());
    const SilentLink silent = pair.silence(1);
    for (int i = 0; i < kShorts; ++i) ASSERT_TRUE(pair.send(pair.a, *pair.to_b, 500));
    ASSERT_TRUE(run({&pair.a}, [&] { return pair.to_b->rails->first.lost; }));
    expect_after_close(pair, pair.a, pair.b, pair.sent[0]);
}

TEST(TcpClosing, PartsOfARailThatIsSilentGoByAnother) {
    SilentPair pair;
    ASSERT_TRUE(pair.connect());
    const SilentLink silent = pair.silence(2);
    const size_t begun = begin_divided_frames(pair, 4);
    ASSERT_GT(begun, 0u);
    expect_after_close(pair, pair.a, pair.b, pair.sent[0] + begun);
}

TEST(TcpClosing, DividedFramesThatNobodyHasReadYetArrive) {
    RailPair pair;
    ASSERT_TRUE(pair.connect());
    const size_t begun = begin_divided_frames(pair, 4);
    ASSERT_GT(begun, 0u);
    expect_after_close(pair, pair.a, pair.b, pair.sent[0] + begun, 100);
}

// The kernel has all of it by then.
TEST(TcpClosing, DividedFramesThatAreReadAfterTheEndArrive) {
    RailPair pair;
    ASSERT_TRUE(pair.connect());
    const size_t begun = begin_divided_frames(pair, 4);
    ASSERT_GT(begun, 0u);
    pair.a.transport.close();
    Reader reader(pair.b);
    reader.join();
    expect_frames(pair, pair.b, pair.sent[0] + begun);
}

}  // namespace
}  // namespace selvage::impl::test
