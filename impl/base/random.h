// Random bytes of the kernel's, that nobody can guess.
#pragma once

#include <cstddef>

namespace selvage::impl {

// Fills all of `bytes`. 0, or a negative errno when the kernel refuses (a seccomp profile, an old kernel); then what
// they hold must not be used. Any thread.
[[nodiscard]] int draw_random(void* bytes, size_t size);

}  // namespace selvage::impl
