// See alloc_hooks.h.
#include "conformance/harness/alloc_hooks.h"

#include <cerrno>
#include <cstddef>

namespace selvage::conformance {
namespace {
// constinit and trivial, so that the test is one load relative to the thread pointer and works before any constructor.
constinit thread_local Allocations* inside = nullptr;
}  // namespace

Allocations* subject_allocations() { return inside; }
void set_subject_allocations(Allocations* into) { inside = into; }

#ifdef SELVAGE_SANITIZED

bool allocations_available() { return false; }

}  // namespace selvage::conformance

#else

bool allocations_available() { return true; }

namespace {

/// Notes one allocation that is about to be made.
/// @return false if it must fail.
bool may_allocate() {
    if (inside == nullptr) [[likely]]
        return true;
    if (++inside->tried != inside->fail_at) return true;
    inside->failed = true;
    errno = ENOMEM;
    return false;
}

void* given(void* block) {
    if (inside != nullptr && block != nullptr) [[unlikely]]
        ++inside->allocated;
    return block;
}

void taken(const void* block) {
    if (inside != nullptr && block != nullptr) [[unlikely]]
        ++inside->freed;
}

bool power_of_two(std::size_t n) { return n != 0 && (n & (n - 1)) == 0; }

}  // namespace
}  // namespace selvage::conformance

using selvage::conformance::given;
using selvage::conformance::may_allocate;
using selvage::conformance::power_of_two;
using selvage::conformance::taken;

extern "C" {

void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* block, std::size_t size);
void __libc_free(void* block);
void* __libc_memalign(std::size_t alignment, std::size_t size);

void* malloc(std::size_t size) { return may_allocate() ? given(__libc_malloc(size)) : nullptr; }

void* calloc(std::size_t count, std::size_t size) {
    return may_allocate() ? given(__libc_calloc(count, size)) : nullptr;
}

void* realloc(void* block, std::size_t size) {
    const bool release = block != nullptr && size == 0;
    if (!release && !may_allocate()) return nullptr;
    void* const moved = __libc_realloc(block, size);
    if (block == nullptr) return given(moved);
    if (release && moved == nullptr) taken(&moved);
    return moved;
}

void free(void* block) {
    taken(block);
    __libc_free(block);
}

void* memalign(std::size_t alignment, std::size_t size) {
    return may_allocate() ? given(__libc_memalign(alignment, size)) : nullptr;
}

void* aligned_alloc(std::size_t alignment, std::size_t size) { return memalign(alignment, size); }

int posix_memalign(void** block, std::size_t alignment, std::size_t size) {
    if (!power_of_two(alignment) || alignment % sizeof(void*) != 0) return EINVAL;
    const int saved = errno;
    void* const made = memalign(alignment, size);
    errno = saved;
    if (made == nullptr) return ENOMEM;
    *block = made;
    return 0;
}

void* valloc(std::size_t size) { return memalign(4096, size); }

}  // extern "C"

#endif
