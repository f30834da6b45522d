// Targets of peers' accesses where some may be memory of a device: what resolve_targets() and apply_atomic() are for
// the memory of the process. Called with the lock of an engine, so that no region of them is freed meanwhile; the
// domain's lock is taken.
#pragma once

#include "impl/endpoint/atomic_types.h"
#include "impl/engine/memory.h"

namespace selvage::impl {

// 0 or a positive errno, as resolve_targets().
int check_hmem_targets(Domain& domain, const Target* targets, size_t count, uint64_t access);

// The bytes [offset, offset + size) of the targets together. 0 or a positive errno; some bytes may have been copied.
int read_hmem_targets(Domain& domain, const Target* targets, size_t count, uint64_t offset, void* to, size_t size);
int write_hmem_targets(Domain& domain, const Target* targets, size_t count, uint64_t offset, const void* from,
                       size_t size);

struct AtomicOperation {
    fi_datatype type;
    fi_op op;
    const std::byte* operand;  // nullptr: none
    const std::byte* compare;
    std::byte* result;
    uint64_t access;  // FI_REMOTE_READ, FI_REMOTE_WRITE
};
// Atomic among the operations of this process on memory of devices.
int apply_hmem_atomic(Domain& domain, const Target* targets, size_t count, const AtomicOperation& operation);

}  // namespace selvage::impl
