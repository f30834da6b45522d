// Processes in namespaces of their own, as containers are, that share /dev/shm: on the library as programs see it.
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include "impl/test/crowd/station.h"

namespace selvage::impl::test {
namespace {

// Nothing of this machine is missing but the permission.
constexpr int kNotPermitted = 77;

// An endpoint that lives until `end` is closed at its other side; its name and process id go to `out`.
int live_alone(int out, int end) {
    if (unshare(CLONE_NEWPID)) return kNotPermitted;
    const pid_t child = fork();
    if (child == 0) {
        Station station({.provider = "shm", .service = {}});
        const std::string line = std::to_string(getpid()) + " " + station.name().c_str() + "\n";
        if (write(out, line.data(), line.size()) != static_cast<ssize_t>(line.size())) _exit(1);
        char byte;
        _exit(read(end, &byte, 1) == 0 ? 0 : 1);
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child) return 1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 2;
}

std::string read_line(int file) {
    std::string line;
    for (char byte; read(file, &byte, 1) == 1 && byte != '\n';) line += byte;
    return line;
}

TEST(ShmNamespaces, EndpointsOfTwoProcessesWithTheSameIdLiveSideBySide) {
    int end[2];
    ASSERT_EQ(pipe(end), 0);
    pid_t children[2];
    std::string said[2];
    for (int i = 0; i < 2; ++i) {
        int out[2];
        ASSERT_EQ(pipe(out), 0);
        children[i] = fork();
        if (children[i] == 0) {
            close(end[1]);
            close(out[0]);
            _exit(live_alone(out[1], end[0]));
        }
        close(out[1]);
        said[i] = read_line(out[0]);
        close(out[0]);
    }
    close(end[1]);
    close(end[0]);
    for (const pid_t child : children) {
        int status = 0;
        ASSERT_EQ(waitpid(child, &status, 0), child);
        if (WIFEXITED(status) && WEXITSTATUS(status) == kNotPermitted) GTEST_SKIP() << "no new namespaces here";
        EXPECT_EQ(status, 0);
    }
    EXPECT_EQ(said[0].substr(0, 2), "1 ") << said[0];
    EXPECT_EQ(said[1].substr(0, 2), "1 ") << said[1];
    EXPECT_NE(said[0], said[1]);
}

}  // namespace
}  // namespace selvage::impl::test
