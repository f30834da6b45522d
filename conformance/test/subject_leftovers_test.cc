// What a killed namesake left in /dev/shm is gone before a library is used, what a child left when it has ended, and
// nothing else is.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <string>
#include <vector>

#include "conformance/base/leftovers.h"
#include "conformance/test/subject_util.h"

namespace selvage::conformance {
namespace {

void leave(const std::string& name) {
    const int fd = shm_open(name.c_str(), O_CREAT | O_RDWR, 0600);
    ASSERT_GE(fd, 0) << name;
    close(fd);
}

bool there(const std::string& name) { return access(("/dev/shm/" + name).c_str(), F_OK) == 0; }

TEST(Leftovers, OnlyThoseThatBearTheIdOfThisProcessGo) {
    const std::string self = std::to_string(getpid());
    const std::string others[] = {"1" + self + ":0:0", self + "-selvage-test", "selvage-test-" + self + ":0:0"};
    leave(self + ":0:0");
    leave(self + ":1:7");
    for (const auto& name : others) leave(name);
    remove_leftovers_of_namesakes();
    EXPECT_FALSE(there(self + ":0:0"));
    EXPECT_FALSE(there(self + ":1:7"));
    for (const auto& name : others) {
        EXPECT_TRUE(there(name)) << name;
        shm_unlink(name.c_str());
    }
}

TEST(Leftovers, WhatAChildLeftGoesWhenItHasEndedOrWasKilled) {
    for (const bool killed : {false, true}) {
        const Seen seen = in_child([&](Channel& channel) {
            const std::string name = std::to_string(getpid()) + ":0:0";
            leave(name);
            channel.send(name);
            if (killed) raise(SIGKILL);
        });
        ASSERT_EQ(seen.records.size(), 1U);
        EXPECT_FALSE(there(seen.records.front())) << killed;
    }
}

// In a namespace of its own a process knows about which id its child will get; the run-time of a sanitizer may take
// some.
TEST(Leftovers, AChildThatUsesALibraryFindsItsNameFree) {
    constexpr int kNoNamespace = 77;
    const pid_t outside = fork();
    if (outside == 0) {
        if (unshare(CLONE_NEWPID) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWPID) != 0) _exit(kNoNamespace);
        const pid_t first = fork();
        if (first == 0) {
            const auto name = [](pid_t id) { return std::to_string(id) + ":0:0"; };
            for (pid_t id = 2; id < 9; ++id) leave(name(id));
            const Seen seen = in_child([&](Channel& c) { c.send(there(name(getpid())) ? "taken" : "free"); });
            int left = 0;
            for (pid_t id = 2; id < 9; ++id) left += shm_unlink(name(id).c_str()) == 0 ? 1 : 0;
            _exit(seen.records == std::vector<std::string>{"free"} && left == 6 ? 0 : 1);
        }
        int status = 1;
        _exit(first > 0 && waitpid(first, &status, 0) == first && WIFEXITED(status) ? WEXITSTATUS(status) : 1);
    }
    int status = 1;
    ASSERT_EQ(waitpid(outside, &status, 0), outside);
    ASSERT_TRUE(WIFEXITED(status));
    if (WEXITSTATUS(status) == kNoNamespace) GTEST_SKIP() << "no namespace of process ids may be made here";
    EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace selvage::conformance
