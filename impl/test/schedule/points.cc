// See points.h. The functions are those that gcc calls with -fsanitize=thread; what is not atomic passes.
#include "impl/test/schedule/points.h"

#include <cstddef>

namespace selvage::impl::test {
namespace {

Observer observer_now = nullptr;

}  // namespace

void set_observer(Observer observer) { observer_now = observer; }

void reach_point(Access access, const volatile void* address);
void reach_point(Access access, const volatile void* address) {
    if (observer_now) observer_now(access, address);
}

}  // namespace selvage::impl::test

using selvage::impl::test::Access;
using selvage::impl::test::reach_point;

// An order that is known at run time only would be taken for the strongest, and hide what a weaker one does.
#define SELVAGE_STORE(address, value, order)                                          \
    ((order) == __ATOMIC_SEQ_CST ? __atomic_store_n(address, value, __ATOMIC_SEQ_CST) \
                                 : __atomic_store_n(address, value, __ATOMIC_RELEASE))

// Exchanges are locked instructions on x86, whatever their order.
#define SELVAGE_ATOMIC(bits, Type)                                                                                    \
    Type __tsan_atomic##bits##_load(const volatile Type* address, int) {                                              \
        reach_point(Access::Load, address);                                                                           \
        return __atomic_load_n(address, __ATOMIC_ACQUIRE);                                                            \
    }                                                                                                                 \
    void __tsan_atomic##bits##_store(volatile Type* address, Type value, int order) {                                 \
        reach_point(Access::Store, address);                                                                          \
        SELVAGE_STORE(address, value, order);                                                                         \
        reach_point(Access::Done, address);                                                                           \
    }                                                                                                                 \
    Type __tsan_atomic##bits##_exchange(volatile Type* address, Type value, int) {                                    \
        reach_point(Access::Exchange, address);                                                                       \
        return __atomic_exchange_n(address, value, __ATOMIC_SEQ_CST);                                                 \
    }                                                                                                                 \
    Type __tsan_atomic##bits##_fetch_add(volatile Type* address, Type value, int) {                                   \
        reach_point(Access::Exchange, address);                                                                       \
        return __atomic_fetch_add(address, value, __ATOMIC_SEQ_CST);                                                  \
    }                                                                                                                 \
    Type __tsan_atomic##bits##_fetch_sub(volatile Type* address, Type value, int) {                                   \
        reach_point(Access::Exchange, address);                                                                       \
        return __atomic_fetch_sub(address, value, __ATOMIC_SEQ_CST);                                                  \
    }                                                                                                                 \
    Type __tsan_atomic##bits##_fetch_and(volatile Type* address, Type value, int) {                                   \
        reach_point(Access::Exchange, address);                                                                       \
        return __atomic_fetch_and(address, value, __ATOMIC_SEQ_CST);                                                  \
    }                                                                                                                 \
    Type __tsan_atomic##bits##_fetch_or(volatile Type* address, Type value, int) {                                    \
        reach_point(Access::Exchange, address);                                                                       \
        return __atomic_fetch_or(address, value, __ATOMIC_SEQ_CST);                                                   \
    }                                                                                                                 \
    Type __tsan_atomic##bits##_fetch_xor(volatile Type* address, Type value, int) {                                   \
        reach_point(Access::Exchange, address);                                                                       \
        return __atomic_fetch_xor(address, value, __ATOMIC_SEQ_CST);                                                  \
    }                                                                                                                 \
    int __tsan_atomic##bits##_compare_exchange_strong(volatile Type* address, Type* expected, Type value, int, int) { \
        reach_point(Access::Exchange, address);                                                                       \
        return __atomic_compare_exchange_n(address, expected, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);      \
    }                                                                                                                 \
    int __tsan_atomic##bits##_compare_exchange_weak(volatile Type* address, Type* expected, Type value, int, int) {   \
        reach_point(Access::Exchange, address);                                                                       \
        return __atomic_compare_exchange_n(address, expected, value, true, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);       \
    }

#define SELVAGE_PLAIN(size)                     \
    void __tsan_read##size(void*) {}            \
    void __tsan_write##size(void*) {}           \
    void __tsan_unaligned_read##size(void*) {}  \
    void __tsan_unaligned_write##size(void*) {} \
    void __tsan_volatile_read##size(void*) {}   \
    void __tsan_volatile_write##size(void*) {}

// NOLINTBEGIN: names of the compiler's
#pragma GCC diagnostic ignored "-Wmissing-declarations"
extern "C" {

SELVAGE_ATOMIC(8, uint8_t)
SELVAGE_ATOMIC(16, uint16_t)
SELVAGE_ATOMIC(32, uint32_t)
SELVAGE_ATOMIC(64, uint64_t)

void __tsan_atomic_thread_fence(int order) {
    reach_point(Access::Fence, nullptr);
    if (order == __ATOMIC_SEQ_CST)
        __atomic_thread_fence(__ATOMIC_SEQ_CST);
    else
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
}
void __tsan_atomic_signal_fence(int) { __atomic_signal_fence(__ATOMIC_SEQ_CST); }

SELVAGE_PLAIN(1)
SELVAGE_PLAIN(2)
SELVAGE_PLAIN(4)
SELVAGE_PLAIN(8)
SELVAGE_PLAIN(16)
void __tsan_read_range(void*, size_t) {}
void __tsan_write_range(void*, size_t) {}
void __tsan_vptr_update(void*, void*) {}
void __tsan_vptr_read(void*) {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_init() {}

}  // extern "C"
// NOLINTEND
