// What is deferred leaves in time, whatever happens to the clock on the wall.
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>

#include "impl/test/tcp/fake_sink.h"

namespace {
std::atomic<time_t> ahead{0};  // seconds by which the clock on the wall is wrong
}

// In the place of the C library's, for this program: a clock that was ahead when it was read, and is set back at once.
extern "C" int clock_gettime(clockid_t clock, timespec* out) noexcept {
    const long result = syscall(SYS_clock_gettime, clock, out);
    if (!result && clock == CLOCK_REALTIME) out->tv_sec += ahead.load(std::memory_order_relaxed);
    return static_cast<int>(result);
}

namespace selvage::impl::test {
namespace {

TEST(TcpClock, ADeferredFrameLeavesThoughTheClockOnTheWallIsSetBack) {
    Side a, b;
    Peer* peer = a.peer(b);
    send_text(a.transport, *peer, "hello");
    ASSERT_TRUE(run({&a, &b}, [&] { return b.sink.frames.size() == 1; }));
    ahead = 3600;
    for (int round = 0; round < 3; ++round) {
        b.sink.frames.clear();
        for (uint64_t i = 0; i < 5; ++i) ASSERT_EQ(send_text(a.transport, *peer, "x", i), SendResult::Done);
        EXPECT_TRUE(run({&b}, [&] { return b.sink.frames.size() == 5; })) << "a is not called";
        a.progress();
    }
    ahead = 0;
}

}  // namespace
}  // namespace selvage::impl::test
