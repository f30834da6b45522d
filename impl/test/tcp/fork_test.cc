// A child of fork() opens endpoints of its own, whatever the flusher's thread was at when it was made.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "impl/test/tcp/fake_sink.h"

#ifdef __SANITIZE_THREAD__
// Otherwise the run-time ends a child that starts a thread, and nothing is tested.
extern "C" const char* __tsan_default_options() { return "die_after_fork=0"; }  // NOLINT(bugprone-reserved-identifier)
#endif

namespace selvage::impl::test {
namespace {

// Of 400 one hung in one of three runs before the lock was held over fork().
#ifdef SELVAGE_SANITIZED  // 2,000 take 10 s of processor time
constexpr int kForks = 200;
#else
constexpr int kForks = 2000;
#endif

TEST(TcpFork, AChildOpensAnEndpointWhateverTheThreadWasAt) {
    for (int i = 0; i < kForks; ++i) {
        Side parents;
        const pid_t child = fork();
        ASSERT_GE(child, 0);
        if (!child) {
            alarm(20);  // a child that hangs is ended by it
            Side own;
            _exit(own.result ? 1 : 0);
        }
        int status = -1;
        ASSERT_EQ(waitpid(child, &status, 0), child);
        ASSERT_EQ(status, 0) << "child " << i << " of " << kForks;
    }
}

}  // namespace
}  // namespace selvage::impl::test
