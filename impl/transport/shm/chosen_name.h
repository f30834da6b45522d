// Addresses of endpoints for which the application chose none.
//
// Processes that share /dev/shm need share nothing else: two containers have the same process ids. So a name is random,
// 128 bits of it, and nobody can take it in advance.
#pragma once

#include "impl/base/random.h"
#include "impl/net/address.h"

namespace selvage::impl::shm {

using DrawRandom = int (*)(void* bytes, size_t size);

// An address of which there is no region yet. 0 or a negative fabric errno: there is no randomness to be had, or
// (-FI_EADDRINUSE) many draws in a row gave names that are taken. Any thread.
int choose_text(char (&out)[kShmTextMax], DrawRandom draw);
inline int choose_text(char (&out)[kShmTextMax]) { return choose_text(out, draw_random); }

}  // namespace selvage::impl::shm
