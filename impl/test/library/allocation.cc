// See allocation.h: malloc and its family, in front of those of the C library.
#include "impl/test/library/allocation.h"

#include <malloc.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace selvage::test {
namespace {
std::atomic<long> blocks{0};
thread_local size_t countdown = 0;
thread_local bool failed = false;
thread_local unsigned long made = 0;

[[maybe_unused]] bool refuse() {
    ++made;
    if (countdown == 0 || --countdown != 0) return false;
    failed = true;
    errno = ENOMEM;
    return true;
}
}  // namespace

void fail_allocation(size_t n) {
    failed = false;
    countdown = n;
}
bool allocation_failed() { return failed; }
long live_blocks() { return blocks.load(); }
size_t bytes_in_use() {
    const struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}
unsigned long allocations() { return made; }

#ifdef SELVAGE_SANITIZED
bool allocation_control() { return false; }
#else
bool allocation_control() { return true; }
#endif

}  // namespace selvage::test

#ifndef SELVAGE_SANITIZED
using selvage::test::blocks;
using selvage::test::refuse;

extern "C" {
void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void __libc_free(void*);

void* malloc(size_t size) {
    void* block = refuse() ? nullptr : __libc_malloc(size);
    if (block) blocks.fetch_add(1, std::memory_order_relaxed);
    return block;
}
void* calloc(size_t count, size_t size) {
    void* block = refuse() ? nullptr : __libc_calloc(count, size);
    if (block) blocks.fetch_add(1, std::memory_order_relaxed);
    return block;
}
void* realloc(void* old, size_t size) {
    void* block = refuse() ? nullptr : __libc_realloc(old, size);
    if (block && !old) blocks.fetch_add(1, std::memory_order_relaxed);
    return block;
}
void free(void* block) {
    if (block) blocks.fetch_sub(1, std::memory_order_relaxed);
    __libc_free(block);
}
}
#endif
