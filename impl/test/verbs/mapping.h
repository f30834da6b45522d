// Pages of a test's own, at addresses that it chooses what becomes of.
#pragma once

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstdint>
#include <cstring>

namespace selvage::test {

struct Mapping {
    explicit Mapping(size_t length, int kind = MAP_PRIVATE) : size(length) {
        bytes = static_cast<char*>(mmap(nullptr, size, PROT_READ | PROT_WRITE, kind | MAP_ANONYMOUS, -1, 0));
        EXPECT_NE(bytes, MAP_FAILED);
        memset(bytes, 'm', size);
    }
    ~Mapping() { munmap(bytes, size); }
    Mapping(const Mapping&) = delete;
    Mapping& operator=(const Mapping&) = delete;
    // Gives all pages back and gets others at the same addresses, in one call: another thread could be given them.
    void renew(char fill) {
        ASSERT_EQ(mmap(bytes, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0), bytes);
        memset(bytes, fill, size);
    }
    uintptr_t at(size_t offset = 0) const { return reinterpret_cast<uintptr_t>(bytes) + offset; }

    char* bytes;
    size_t size;
};

}  // namespace selvage::test
