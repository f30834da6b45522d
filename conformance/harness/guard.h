// Buffers that notice when somebody reads or writes past them, and a way to survive the crash that follows.
//
// The last byte of a GuardedBuffer's view touches a page that nobody may access; the bytes before the view hold
// canaries.  For child processes; each object is for one thread.
#pragma once

#include <cstddef>
#include <utility>

#include "conformance/harness/faults.h"

namespace selvage::conformance {

class GuardedBuffer {
public:
    /// Room for views of up to `capacity` bytes.  Throws std::bad_alloc.
    explicit GuardedBuffer(std::size_t capacity);
    ~GuardedBuffer();
    GuardedBuffer(const GuardedBuffer&) = delete;
    GuardedBuffer& operator=(const GuardedBuffer&) = delete;

    /// A view of `length` bytes, filled with `fill`, that ends at the guard page.  Ends the previous view.  Length 0
    /// gives the address of the guard page itself.
    char* take(std::size_t length, char fill = '\0');
    /// True while no byte before the view has changed.
    [[nodiscard]] bool intact() const;
    [[nodiscard]] std::size_t capacity() const { return capacity_; }
    /// True if `address` lies in the guard page.
    [[nodiscard]] bool guards(const void* address) const;

private:
    std::size_t capacity_;
    std::size_t room_;  ///< bytes before the guard page
    char* start_;
    char* view_;
};

/// Runs `fn` and returns which signal (SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL) ended it, 0 if it returned.  See
/// survive_installed() for what is left behind.
template <class Fn>
int survive(Fn&& fn) noexcept {
    install_fault_handler();
    return survive_installed(std::forward<Fn>(fn));
}

}  // namespace selvage::conformance
