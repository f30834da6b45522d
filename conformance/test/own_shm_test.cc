// A /dev/shm of its own for a process that drives a library: nobody else sees it, and its files have huge pages.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string>

#include "conformance/base/own_shm.h"
#include "conformance/test/subject_util.h"

namespace selvage::conformance {
namespace {

constexpr const char* kName = "selvage-own-shm-test";
constexpr std::size_t kLength = std::size_t{8} << 20;

bool there() { return access((std::string("/dev/shm/") + kName).c_str(), F_OK) == 0; }

long page_faults() {
    rusage used = {};
    getrusage(RUSAGE_SELF, &used);
    return used.ru_minflt;
}

// Makes a file in /dev/shm and writes to all of it.  @return the page faults that it took; -1 if it can't be made.
long fill_a_file() {
    const int fd = shm_open(kName, O_CREAT | O_EXCL | O_RDWR, 0600);
    if (fd < 0 || ftruncate(fd, kLength) != 0) return -1;
    void* const bytes = mmap(nullptr, kLength, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (bytes == MAP_FAILED) return -1;
    const long before = page_faults();
    std::memset(bytes, 1, kLength);
    return page_faults() - before;
}

// What a child says after use_own_shm(): "no", or the page faults of a file that it fills.
Seen fill_in_own(std::string_view library, const char* variable = "") {
    return in_child([&](Channel& channel) {
        setenv("SELVAGE_TEST", variable, 1);
        channel.send(use_own_shm(library) ? std::to_string(fill_a_file()) : "no");
    });
}

TEST(OwnShm, ItsFilesHaveHugePagesAndAreSeenByNobodyElse) {
    shm_unlink(kName);
    const Seen seen = fill_in_own("libfabric.so.1");
    ASSERT_EQ(seen.records.size(), 1U);
    if (seen.records.front() == "no") GTEST_SKIP() << "no mount namespace may be made here, or there are no huge pages";
    const long faults = std::stol(seen.records.front());
    EXPECT_GE(faults, 0);
    EXPECT_LE(faults, 64) << "of " << kLength / 4096 << " small pages";
    EXPECT_FALSE(there());
}

TEST(OwnShm, WhatThereIsInTheOneBeforeIsNotHidden) {
    const auto is_refused = [](std::string_view library, const char* variable = "") {
        return fill_in_own(library, variable).records == std::vector<std::string>{"no"};
    };
    EXPECT_TRUE(is_refused("/dev/shm/libfabric.so.1"));
    EXPECT_TRUE(is_refused("libfabric.so.1", "/opt/lib:/dev/shm/lib"));
    const Seen seen = in_child([](Channel& channel) {
        if (chdir("/dev/shm") == 0) channel.send(use_own_shm("./libfabric.so.1") ? "yes" : "no");
    });
    EXPECT_EQ(seen.records, std::vector<std::string>{"no"});
    char link[] = "/tmp/selvage-own-shm-XXXXXX";
    ASSERT_NE(mkdtemp(link), nullptr);
    const std::string path = std::string(link) + "/shm";
    ASSERT_EQ(symlink("/dev/shm", path.c_str()), 0);
    EXPECT_TRUE(is_refused(path + "/libfabric.so.1"));
    unlink(path.c_str());
    rmdir(link);
    EXPECT_FALSE(there());
}

}  // namespace
}  // namespace selvage::conformance
