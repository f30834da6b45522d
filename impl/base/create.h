// Making and destroying objects without exceptions: operator new, even its nothrow form, throws inside when memory is
// short, and the throw itself allocates.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <new>

namespace selvage::impl {

// A new object, or nullptr.
template <typename T>
T* create() {
    static_assert(alignof(T) <= alignof(std::max_align_t));
    void* block = malloc(sizeof(T));
    return block ? new (block) T : nullptr;
}

template <typename T>
void destroy(T* object) {
    object->~T();
    free(object);
}

}  // namespace selvage::impl
