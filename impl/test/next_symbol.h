// What a name of the C library means behind the program, for tests that stand in front of its calls.
//
// It is looked up once, or by several threads at once, which find the same. Not by the initialiser of a local static: a
// thread that has to wait for that calls syscall(), which is one of the names that tests stand in front of, and waits
// for the same again until its stack is used up.
#pragma once

#include <dlfcn.h>

#include <atomic>

namespace selvage::impl::test {

// REQUIRES: `known` is of one name alone, and constant-initialised.
template <typename Function>
Function* next_symbol(std::atomic<void*>& known, const char* name) {
    void* found = known.load(std::memory_order_relaxed);
    if (!found) {
        found = dlsym(RTLD_NEXT, name);
        known.store(found, std::memory_order_relaxed);  // with the load above, of any thread
    }
    return reinterpret_cast<Function*>(found);
}

}  // namespace selvage::impl::test

#define SELVAGE_NEXT(name)                                                       \
    (*[] {                                                                       \
        static constinit std::atomic<void*> known{nullptr};                      \
        return selvage::impl::test::next_symbol<decltype(::name)>(known, #name); \
    }())
