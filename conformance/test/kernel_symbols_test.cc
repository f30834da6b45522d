// Tests the copy of /proc/kallsyms that the processes of a run share.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>

#include "conformance/base/kernel_symbols.h"

namespace selvage::conformance {
namespace {

constexpr const char* kPath = "/proc/kallsyms";

// A file as fopen gives it.
struct Opened {
    std::string text;
    off_t size = 0;  // by its status; of what the kernel makes, 0
    ino_t inode = 0;
};

Opened open_and_read() {
    Opened out;
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(kPath, "r"), &std::fclose);
    if (!file) return out;
    struct stat status = {};
    fstat(fileno(file.get()), &status);
    out.size = status.st_size;
    out.inode = status.st_ino;
    char piece[65536];
    for (std::size_t n = 0; (n = std::fread(piece, 1, sizeof piece, file.get())) > 0;) out.text.append(piece, n);
    return out;
}

// What the kernel says.
std::string kernel_text() {
    std::ifstream in(kPath, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

TEST(KernelSymbols, TheKernelMakesThemOnce) {
    if (kernel_text().empty()) GTEST_SKIP() << "no " << kPath;
    const KernelSymbols symbols;
    const Opened first = open_and_read(), second = open_and_read();
    EXPECT_EQ(first.text, kernel_text());
    EXPECT_EQ(second.text, first.text);
    EXPECT_EQ(first.size, static_cast<off_t>(first.text.size())) << "a copy";
    EXPECT_EQ(second.inode, first.inode) << "the same one";
}

TEST(KernelSymbols, WithoutACopyTheKernelIsAsked) {
    if (kernel_text().empty()) GTEST_SKIP() << "no " << kPath;
    EXPECT_EQ(open_and_read().size, 0);
    const KernelSymbols symbols;
    setenv("SELVAGE_KERNEL_SYMBOLS", "/dev/null", 1);
    EXPECT_EQ(open_and_read().text, kernel_text()) << "what is no copy is not read";
}

TEST(KernelSymbols, ACopyThatWasLeftHalfIsMadeAgain) {
    if (kernel_text().empty()) GTEST_SKIP() << "no " << kPath;
    const KernelSymbols symbols;
    const int half = open(std::getenv("SELVAGE_KERNEL_SYMBOLS"), O_WRONLY | O_CLOEXEC);
    ASSERT_EQ(write(half, "half", 4), 4);
    close(half);
    const Opened again = open_and_read();
    EXPECT_EQ(again.text, kernel_text());
    EXPECT_EQ(again.size, static_cast<off_t>(again.text.size())) << "a copy";
}

}  // namespace
}  // namespace selvage::conformance
