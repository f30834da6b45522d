// Whoever asks after a change of the address space has returned is told of it.
#include "impl/transport/verbs/page_watch.h"

#include <gtest/gtest.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fcntl.h>
#include <algorithm>
#include <csignal>
#include <functional>
#include <thread>
#include <vector>

#include "impl/test/verbs/mapping.h"

namespace selvage::test {
namespace {

using impl::verbs::PageWatch;

constexpr size_t kPage = 4096;

class Watch : public ::testing::Test {
protected:
    void SetUp() override { ASSERT_NE(watch, nullptr) << "this system has no userfaultfd for this process"; }
    ~Watch() override {
        if (watch) PageWatch::let_go();
    }
    PageWatch* watch = PageWatch::hold();
};

TEST_F(Watch, ARangeHoldsWhileItsPagesAreUsed) {
    Mapping memory(16 * kPage);
    const int number = watch->add(memory.at(100), 5 * kPage);
    ASSERT_NE(number, PageWatch::kNone);
    memset(memory.bytes, 'x', memory.size);
    EXPECT_EQ(mprotect(memory.bytes, memory.size, PROT_READ), 0);
    EXPECT_EQ(mprotect(memory.bytes, memory.size, PROT_READ | PROT_WRITE), 0);
    EXPECT_TRUE(watch->holds(number));
    watch->remove(number);
}

TEST_F(Watch, EveryWayToOtherPagesEndsIt) {
    Mapping elsewhere(64 * kPage);
    const std::function<void(Mapping&)> ways[] = {
        [](Mapping& memory) { memory.renew('n'); },
        [](Mapping& memory) { EXPECT_EQ(munmap(memory.bytes + kPage, kPage), 0); },
        [](Mapping& memory) { EXPECT_EQ(madvise(memory.bytes + kPage, kPage, MADV_DONTNEED), 0); },
        [](Mapping& memory) { EXPECT_EQ(madvise(memory.bytes + kPage, kPage, MADV_FREE), 0); },
        [](Mapping& memory) {
            EXPECT_NE(mmap(memory.bytes + kPage, kPage, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0),
                      MAP_FAILED);
        },
        [&](Mapping& memory) {
            EXPECT_EQ(mremap(memory.bytes, memory.size, elsewhere.size, MREMAP_MAYMOVE | MREMAP_FIXED, elsewhere.bytes),
                      elsewhere.bytes);
        },
        [&](Mapping& memory) {
            EXPECT_EQ(mremap(memory.bytes, memory.size, memory.size, MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP,
                             elsewhere.bytes),
                      elsewhere.bytes);
        },
        [](Mapping& memory) { EXPECT_EQ(mremap(memory.bytes, memory.size, kPage, 0), memory.bytes); },
    };
    for (const auto& change : ways) {
        Mapping memory(4 * kPage);
        const int number = watch->add(memory.at(), memory.size);
        ASSERT_NE(number, PageWatch::kNone);
        const uint32_t changes = watch->changes();
        change(memory);
        EXPECT_FALSE(watch->holds(number)) << "way " << &change - ways;
        EXPECT_EQ(watch->changes(), changes + 1);
        watch->remove(number);
    }
}

TEST_F(Watch, AChangeBesideARangeIsNoneOfIt) {
    Mapping memory(8 * kPage);
    const int first = watch->add(memory.at(), 2 * kPage), second = watch->add(memory.at(4 * kPage), kPage);
    EXPECT_EQ(munmap(memory.bytes + 2 * kPage, kPage), 0);
    EXPECT_TRUE(watch->holds(first));
    EXPECT_EQ(madvise(memory.bytes + 4 * kPage, kPage, MADV_DONTNEED), 0);
    EXPECT_TRUE(watch->holds(first));
    EXPECT_FALSE(watch->holds(second));
    watch->remove(first), watch->remove(second);
}

// The promise that everything rests on: no asker is quicker than the note.
TEST_F(Watch, WhoeverAsksRightBehindAChangeIsTold) {
    const auto trial = [&](char fill) {
        Mapping memory(2 * kPage);
        for (int round = 0; round < 2000; ++round) {
            const int number = watch->add(memory.at(), memory.size);
            ASSERT_NE(number, PageWatch::kNone);
            ASSERT_TRUE(watch->holds(number));
            if (round % 2) {
                memory.renew(fill);
            } else {
                madvise(memory.bytes, memory.size, MADV_DONTNEED);
            }
            ASSERT_FALSE(watch->holds(number)) << "round " << round;
            watch->remove(number);
        }
    };
    std::thread beside(trial, 'a');
    trial('b');
    beside.join();
}

TEST_F(Watch, RangesThatShareAPageAreWatchedEachForItself) {
    Mapping memory(4 * kPage);
    const int first = watch->add(memory.at(), 2 * kPage), second = watch->add(memory.at(kPage), 2 * kPage);
    watch->remove(first);
    EXPECT_EQ(madvise(memory.bytes + kPage, kPage, MADV_DONTNEED), 0);
    EXPECT_FALSE(watch->holds(second));
    watch->remove(second);
}

TEST_F(Watch, MemoryThatIsSharedOrOfAFileIsNotPrivate) {
    Mapping own(4 * kPage), shared(4 * kPage, MAP_SHARED);
    EXPECT_TRUE(watch->is_private(own.at(10), 3 * kPage, true));
    EXPECT_FALSE(watch->is_private(shared.at(), kPage, false));
    const auto code = reinterpret_cast<uintptr_t>(&PageWatch::hold);
    EXPECT_FALSE(watch->is_private(code, 16, false));
    EXPECT_EQ(madvise(own.bytes + kPage, kPage, MADV_DONTNEED), 0);
    EXPECT_TRUE(watch->is_private(own.at(), own.size, false));
    EXPECT_FALSE(watch->is_private(own.at(), own.size, true)) << "a page was never touched";
    EXPECT_FALSE(watch->is_private(0, kPage, true));
}

TEST_F(Watch, WhatIsNoMemoryIsNotTaken) {
    Mapping memory(2 * kPage);
    EXPECT_EQ(watch->add(memory.at(), 0), PageWatch::kNone);
    EXPECT_EQ(watch->add(memory.at(), UINTPTR_MAX - memory.at()), PageWatch::kNone);
    EXPECT_EQ(watch->add(0, kPage), PageWatch::kNone);
    // Nor what somebody else watches.
    const auto faults = static_cast<int>(syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY));
    ASSERT_GE(faults, 0);
    uffdio_api api{.api = UFFD_API, .features = 0, .ioctls = 0};
    ASSERT_EQ(ioctl(faults, UFFDIO_API, &api), 0);
    uffdio_register request{};
    request.range = {.start = memory.at(), .len = memory.size};
    request.mode = UFFDIO_REGISTER_MODE_MISSING;
    ASSERT_EQ(ioctl(faults, UFFDIO_REGISTER, &request), 0);
    EXPECT_EQ(watch->add(memory.at(), memory.size), PageWatch::kNone);
    close(faults);
    const int number = watch->add(memory.at(), memory.size);
    EXPECT_NE(number, PageWatch::kNone);
    watch->remove(number);
}

TEST_F(Watch, NumbersThatAreGivenBackAreUsedAgainAndThereAreOnlySoMany) {
    Mapping memory(4 * kPage);
    std::vector<int> numbers;
    for (int i = 0; i < PageWatch::kRanges; ++i) numbers.push_back(watch->add(memory.at(), memory.size));
    EXPECT_EQ(*std::max_element(numbers.begin(), numbers.end()), PageWatch::kRanges - 1);
    EXPECT_EQ(watch->add(memory.at(), memory.size), PageWatch::kNone);
    for (const int number : numbers) watch->remove(number);
    EXPECT_EQ(watch->add(memory.at(), memory.size), 0);
    watch->remove(0);
}

// A thread that reads no more must hold up nobody: not after the end, and not when a child has what the parent had
// open.
TEST(WatchEnds, WhatWasWatchedIsFreeAfterwardsWhateverChildrenThereAre) {
    alarm(20);
    for (int round = 0; round < 2; ++round) {
        PageWatch* watch = PageWatch::hold();
        ASSERT_NE(watch, nullptr);
        Mapping memory(4 * kPage);
        const int first = watch->add(memory.at(), 2 * kPage), second = watch->add(memory.at(kPage), 2 * kPage);
        watch->remove(first), watch->remove(second);  // the first page stays on
        const pid_t child = fork();
        if (child == 0) {
            alarm(20);
            pause();
            _exit(0);
        }
        PageWatch::let_go();
        EXPECT_EQ(munmap(memory.bytes, memory.size), 0);
        EXPECT_EQ(kill(child, SIGKILL), 0);
        EXPECT_EQ(waitpid(child, nullptr, 0), child);
    }
    alarm(0);
}

}  // namespace
}  // namespace selvage::test
