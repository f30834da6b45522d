// Every atomic access of the library as a point at which a test may delay or switch threads.
//
// The library is compiled once more as for the thread sanitizer, which replaces each atomic access by a call. points.cc
// answers those calls in place of the sanitizer: it tells the observer, then does what was asked, in the order that was
// asked for. Nothing in the library's sources knows of it.
#pragma once

#include <cstdint>

namespace selvage::impl::test {

// Done: behind a store, which may have been what kept other threads from memory that is not atomic.
enum class Access : uint8_t { Load, Store, Exchange, Fence, Done };

// Called before the access, by the thread that makes it. nullptr: nobody looks. Set while one thread runs.
using Observer = void (*)(Access access, const volatile void* address);
void set_observer(Observer observer);

}  // namespace selvage::impl::test
