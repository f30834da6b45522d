// Every class of object, opened and closed ten thousand times on shm and on tcp: nothing stays behind. Neither memory,
// nor mappings, nor file descriptors, nor threads, nor files in /dev/shm. Prints what each class kept.
#include <gtest/gtest.h>
#include <malloc.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include "impl/test/library/allocation.h"
#include "impl/test/library/cycles.h"

namespace selvage::test {
namespace {

namespace fs = std::filesystem;

// A sanitizer's own memory grows, and it is slow; it finds leaks by itself.
#ifdef SELVAGE_SANITIZED
constexpr int kCycles = 200;
#else
constexpr int kCycles = 10000;
#endif
constexpr int kWarmUp = 64;  // fills the allocator's per-thread cache, which counts as allocated

size_t entries(const char* folder) {
    std::error_code ignored;
    size_t count = 0;
    for ([[maybe_unused]] const auto& entry : fs::directory_iterator(folder, ignored)) ++count;
    return count;
}

// Files in /dev/shm; other processes come and go, so those that bear the number of this one are counted apart.
struct SharedFiles {
    long all = 0;
    long own = 0;
    SharedFiles() {
        std::error_code ignored;
        const std::string number = std::to_string(getpid());
        for (const auto& file : fs::directory_iterator("/dev/shm", ignored)) {
            ++all;
            own += file.path().filename().string().find(number) != std::string::npos;
        }
    }
};

long mapped_pages() {
    std::ifstream statm("/proc/self/statm");
    long pages = 0;
    statm >> pages;
    return pages;
}

struct Figures {
    long blocks = live_blocks();
    long bytes = 0;
    long pages = 0;
    long files = static_cast<long>(entries("/proc/self/fd"));
    long threads = static_cast<long>(entries("/proc/self/task"));
    SharedFiles shared;

    Figures() {
        if (!allocation_control()) return;
        const struct mallinfo2 heap = mallinfo2();
        bytes = static_cast<long>(heap.uordblks + heap.hblkhd);
        pages = mapped_pages();
    }
};

int repeat(const Cycle& cycle, const Setting& setting, int times) {
    for (int i = 0; i < times; ++i) {
        const int result = cycle.once(setting);
        if (result) return result;
    }
    return 0;
}

// What kCycles of one class changed. Blocks, descriptors, threads and files are exact. Bytes and pages are the
// allocator's and the kernel's: they may move, but not by as much as a byte or a page per some ten cycles.
void expect_nothing_kept(const Cycle& cycle, const Setting& setting) {
    SCOPED_TRACE(cycle.name);
    const SharedFiles at_first;  // one file of one name is left but once
    ASSERT_EQ(repeat(cycle, setting, kWarmUp), 0);
    const Figures before;
    ASSERT_EQ(repeat(cycle, setting, kCycles), 0);
    const Figures after;
    const long blocks = after.blocks - before.blocks;
    const long bytes = after.bytes - before.bytes;
    const long pages = after.pages - before.pages;
    const long files = after.files - before.files;
    const long threads = after.threads - before.threads;
    printf("%s %-24s %6d cycles: %ld blocks, %ld bytes, %ld pages, %ld descriptors, %ld threads, %ld files\n",
           setting.provider, cycle.name.c_str(), kCycles, blocks, bytes, pages, files, threads,
           after.shared.own - at_first.own);
    EXPECT_EQ(blocks, 0);
    EXPECT_LT(bytes, kCycles / 10);
    EXPECT_LT(pages, kCycles / 10);
    EXPECT_EQ(files, 0);
    EXPECT_EQ(threads, 0);
    EXPECT_EQ(after.shared.own, at_first.own);
    EXPECT_LT(after.shared.all - before.shared.all, kCycles / 2);
}

class Cycles : public testing::TestWithParam<const char*> {};

TEST_P(Cycles, OfEveryClassKeepNothing) {
    const Setting setting(GetParam());
    ASSERT_EQ(setting.rdm.result, 0);
    for (const Cycle& cycle : all_cycles(setting)) expect_nothing_kept(cycle, setting);
}

INSTANTIATE_TEST_SUITE_P(Providers, Cycles, testing::Values("shm", "tcp"),
                         [](const auto& param_info) { return std::string(param_info.param); });

}  // namespace
}  // namespace selvage::test
