// Names in /dev/shm: those that the library chooses, and those that somebody else has taken.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "impl/test/shm/deny_call.h"
#include "impl/test/shm/fake_sink.h"
#include "impl/transport/shm/chosen_name.h"

namespace selvage::impl::test {
namespace {

constexpr uid_t kNobody = 65534;

TEST(ShmChosenName, TwoDrawsDiffer) {
    char one[kShmTextMax], two[kShmTextMax];
    ASSERT_EQ(shm::choose_text(one), 0);
    ASSERT_EQ(shm::choose_text(two), 0);
    EXPECT_STRNE(one, two);
    EXPECT_TRUE(shm::valid_text(one)) << one;
}

int g_draws = 0;

// The same twice, then another.
int draw_twice_the_same(void* bytes, size_t size) {
    memset(bytes, ++g_draws <= 2 ? 1 : 2, size);
    return 0;
}
int draw_the_same(void* bytes, size_t size) {
    memset(bytes, 1, size);
    return 0;
}
int draw_nothing(void*, size_t) { return -EPERM; }

TEST(ShmChosenName, ATakenNameIsDrawnAgain) {
    char taken[kShmTextMax], next[kShmTextMax];
    g_draws = 0;
    ASSERT_EQ(shm::choose_text(taken, draw_twice_the_same), 0);
    ShmTransport owner;
    ASSERT_EQ(owner.open_at(taken, {}), 0);
    ASSERT_EQ(shm::choose_text(next, draw_twice_the_same), 0);
    EXPECT_EQ(g_draws, 3);
    EXPECT_STRNE(taken, next);
    EXPECT_EQ(shm::choose_text(next, draw_the_same), -FI_EADDRINUSE);
}

TEST(ShmChosenName, WithoutRandomnessThereIsNone) {
    char text[kShmTextMax];
    EXPECT_EQ(shm::choose_text(text, draw_nothing), -FI_EPERM);
}

// 0, or the number of the first failed step; 77: not possible here.
int live_without_getrandom() {
    char text[kShmTextMax];
    if (!deny_call(SYS_getrandom, EPERM)) return 77;
    alarm(5);
    if (shm::choose_text(text) != -FI_EPERM) return 1;
    ShmTransport transport;
    return transport.open_at(Name("random").text, {}) == -FI_EPERM ? 0 : 2;
}

TEST(ShmChosenName, ADeniedGetrandomIsAnErrorAndNoEndlessLoop) {
    const pid_t child = fork();
    if (child == 0) _exit(live_without_getrandom());
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77) GTEST_SKIP() << "seccomp is not available";
    EXPECT_EQ(status, 0);
}

// As another user, who can make files in /dev/shm but not remove ours.
bool make_as_nobody(const std::string& path, mode_t mode) {
    const pid_t child = fork();
    if (child == 0) {
        if (setresuid(kNobody, kNobody, kNobody)) _exit(1);
        const int file = open(path.c_str(), O_CREAT | O_EXCL | O_RDWR, mode);
        _exit(file < 0 || ftruncate(file, 1 << 20) ? 1 : 0);
    }
    int status = 0;
    return waitpid(child, &status, 0) == child && status == 0;
}

TEST(ShmForeignFile, ANameThatAnotherUserHasTakenIsNamedInTheLog) {
    if (geteuid() != 0) GTEST_SKIP() << "only root can become another user";
    Name name("squatted"), own("sender");
    ASSERT_TRUE(make_as_nobody(file_of(name), 0666));
    ShmTransport transport, sender;
    testing::internal::CaptureStderr();
    EXPECT_EQ(transport.open_at(name.text, {}), -FI_EADDRINUSE);
    const std::string at_open = testing::internal::GetCapturedStderr();
    EXPECT_NE(at_open.find(file_of(name)), std::string::npos) << at_open;
    EXPECT_NE(at_open.find("user 65534"), std::string::npos) << at_open;

    ShmPeer* peer = nullptr;
    ASSERT_EQ(sender.open_at(own.text, {}), 0);
    testing::internal::CaptureStderr();
    EXPECT_EQ(sender.find_peer_at(name.text, &peer), -FI_EACCES);
    const std::string at_send = testing::internal::GetCapturedStderr();
    EXPECT_NE(at_send.find("user 65534"), std::string::npos) << at_send;
    EXPECT_EQ(unlink(file_of(name).c_str()), 0) << "it was left where it is";
}

TEST(ShmForeignFile, WhatIsNoFileIsNotTakenForALivingEndpoint) {
    Name name("folder"), own("sender");
    ASSERT_EQ(mkdir(file_of(name).c_str(), 0700), 0);
    ShmTransport transport, sender;
    ShmPeer* peer = nullptr;
    testing::internal::CaptureStderr();
    EXPECT_EQ(transport.open_at(name.text, {}), -FI_EADDRINUSE);
    EXPECT_EQ(sender.open_at(own.text, {}), 0);
    EXPECT_EQ(sender.find_peer_at(name.text, &peer), -FI_EACCES);
    EXPECT_NE(testing::internal::GetCapturedStderr().find("is not used"), std::string::npos);
    rmdir(file_of(name).c_str());
}

}  // namespace
}  // namespace selvage::impl::test
