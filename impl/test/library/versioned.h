// Entry points by the node that a program is bound to, and structures that end where a page does.
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <rdma/fabric.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>

namespace selvage::test {

using GetInfoCall = int (*)(uint32_t, const char*, const char*, uint64_t, const fi_info*, fi_info**);
using FreeInfoCall = void (*)(fi_info*);
using DupInfoCall = fi_info* (*)(const fi_info*);
using FabricCall = int (*)(fi_fabric_attr*, fid_fabric**, void*);

template <typename Call>
Call symbol(const char* name, const char* version) {
    // The library is already loaded by the test's own linkage; ask it and not the test program.
    static void* library = dlopen("libfabric.so.1", RTLD_NOW);
    return reinterpret_cast<Call>(dlvsym(library, name, version));
}

// A structure that ends where an unreadable page begins.
template <typename T>
class AtEdge {
public:
    explicit AtEdge(size_t size) {
        const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
        base_ = static_cast<char*>(mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
        EXPECT_NE(base_, MAP_FAILED);
        EXPECT_EQ(mprotect(base_ + page, page, PROT_NONE), 0);
        object_ = reinterpret_cast<T*>(base_ + page - size);
        length_ = 2 * page;
    }
    ~AtEdge() { munmap(base_, length_); }
    AtEdge(const AtEdge&) = delete;
    AtEdge& operator=(const AtEdge&) = delete;
    T* operator->() const { return object_; }
    T* get() const { return object_; }

private:
    char* base_;
    T* object_;
    size_t length_;
};

}  // namespace selvage::test
