// Counts what a library allocates and frees, and makes its n-th allocation fail.
//
// The executable's own malloc, calloc, realloc, free and their aligned kin stand before glibc's; glibc itself (strdup,
// getaddrinfo) goes through them too.  They count only while the calling thread is inside the subject, and cost one
// thread-local test elsewhere.  alloc_hooks.cc must be linked into the executable as an object, not out of an archive
// that the linker may skip.  Sanitizers bring their own allocator: there available() is false and nothing is counted.
#pragma once

#include <cstdint>

namespace selvage::conformance {

/// What happened while a thread was inside the subject.
struct Allocations {
    std::uint64_t allocated = 0;  ///< blocks given out
    std::uint64_t freed = 0;      ///< blocks taken back, whoever allocated them
    std::uint64_t fail_at = 0;    ///< which allocation (from 1) returns NULL with ENOMEM; 0: none
    std::uint64_t tried = 0;      ///< allocations asked for, failed ones included
    bool failed = false;          ///< the failing one was reached
    std::uint64_t lookups = 0;    ///< names handed to the resolver to be looked up: see name_hooks.cc

    /// Blocks that are still out there.
    [[nodiscard]] std::int64_t left() const { return static_cast<std::int64_t>(allocated - freed); }
};

/// Whether allocations can be watched in this build.
bool allocations_available();

/// What the calling thread counts into, nullptr outside the subject.
Allocations* subject_allocations();
void set_subject_allocations(Allocations* into);

/// The calling thread is inside the subject for the life of this object.  nullptr: not watched.
class InsideSubject {
public:
    explicit InsideSubject(Allocations* into) : outer_(subject_allocations()) { set_subject_allocations(into); }
    ~InsideSubject() { set_subject_allocations(outer_); }
    InsideSubject(const InsideSubject&) = delete;
    InsideSubject& operator=(const InsideSubject&) = delete;

private:
    Allocations* outer_;
};

}  // namespace selvage::conformance
