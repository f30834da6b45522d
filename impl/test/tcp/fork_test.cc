// A child of fork() opens endpoints of its own, whatever the flusher's thread was at when it was made.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "impl/test/tcp/fake_sink.h"

namespace selvage::impl::test {
namespace {

constexpr int kForks = 2000;  // of 400 one hung in one of three runs before the lock was held over fork()

TEST(TcpFork, AChildOpensAnEndpointWhateverTheThreadWasAt) {
    for (int i = 0; i < kForks; ++i) {
        Side parents;
        const pid_t child = fork();
        ASSERT_GE(child, 0);
        if (!child) {
            alarm(20);  // a child that hangs is ended by it
            Side own;
            _exit(0);
        }
        int status = -1;
        ASSERT_EQ(waitpid(child, &status, 0), child);
        ASSERT_TRUE(WIFEXITED(status)) << "child " << i << " of " << kForks;
    }
}

}  // namespace
}  // namespace selvage::impl::test
