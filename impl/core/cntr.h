// The counter: successes and errors, and waiting for a threshold. Any thread may use it.
#ifndef SELVAGE_IMPL_CORE_CNTR_H
#define SELVAGE_IMPL_CORE_CNTR_H

#include "impl/core/object.h"
#include "impl/core/wait.h"

namespace selvage::impl {

struct Domain;

struct Counter {
    fid_cntr descriptor{};
    UseCount uses;
    Domain* domain = nullptr;
    WaitObject wait;
    WaitMember member;
    std::atomic<uint64_t> value{0};
    std::atomic<uint64_t> errors{0};
    std::atomic<uint64_t> op_flags{0};
    std::atomic<bool> changed{false};  // by a completion since the last fi_poll, fi_cntr_set or fi_cntr_add

    // For the engine.
    void count(uint64_t successes);
    void count_errors(uint64_t failures);
    bool pending() const { return changed.load(); }

    static Counter* of(fid_cntr* cntr) { return object_of<Counter>(cntr); }
};

}  // namespace selvage::impl

#endif
