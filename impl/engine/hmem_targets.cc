// See hmem_targets.h.
#include "impl/engine/hmem_targets.h"

#include <algorithm>

#include "impl/base/lock.h"
#include "impl/engine/atomic_kernels.h"
#include "impl/engine/hmem_ranges.h"

namespace selvage::impl {
namespace {

Mutex atomics_lock;  // held around each atomic operation on memory of a device

// A part of a target's region.
struct Part {
    Hmem memory;
    Resolved where;
};

int resolve_part(Domain& domain, const Target& target, uint64_t access, uint64_t offset, uint64_t size, Part* out) {
    LockGuard guard(domain.lock);
    out->where.count = out->where.region_count = 0;
    if (!target.length) return 0;
    const MemoryRegion* region = domain.regions.find(target.key);
    if (!region) return FI_ENOKEY;
    const uint64_t granted = region->hmem.ops ? region->hmem_access : region->access;
    if ((granted & access) != access) return FI_EACCES;
    const uint64_t begin = target.address - region->base;
    if (target.address < region->base || begin > region->length || target.length > region->length - begin) {
        return FI_EINVAL;
    }
    if (region->range_count > kRangesMax) return FI_EINVAL;
    out->memory = region->hmem;
    out->where.count = slice(region->ranges, region->range_count, begin + offset, size, out->where.pieces);
    return 0;
}

// Calls copy(memory, piece, bytes done before) for each piece of [offset, offset + size), until one fails.
template <typename Copy>
int for_each_piece(Domain& domain, const Target* targets, size_t count, uint64_t access, uint64_t offset, size_t size,
                   Copy copy) {
    size_t done = 0;
    for (size_t i = 0; i < count && done < size; ++i) {
        if (offset >= targets[i].length) {
            offset -= targets[i].length;
            continue;
        }
        Part part;
        const uint64_t length = std::min<uint64_t>(targets[i].length - offset, size - done);
        int error = resolve_part(domain, targets[i], access, offset, length, &part);
        for (size_t k = 0; !error && k < part.where.count; ++k) {
            error = copy(part.memory, part.where.pieces[k], done);
            done += part.where.pieces[k].iov_len;
        }
        if (error) return error;
        offset = 0;
    }
    return 0;
}

// All of one target, on a copy if it is a device's.
int apply_to_target(Domain& domain, const Target& target, const AtomicOperation& operation, size_t done,
                    size_t elements) {
    const auto at = [done](auto* bytes) { return bytes ? bytes + done : nullptr; };
    const auto apply = [&](const Resolved& where) {
        apply_atomic(operation.type, operation.op, where, at(operation.operand), at(operation.compare),
                     at(operation.result), elements);
    };
    Part part;
    const int unknown = resolve_part(domain, target, operation.access, 0, target.length, &part);
    if (unknown) return unknown;
    if (!part.memory.ops) {
        apply(part.where);
        return 0;
    }
    std::byte copy[kAtomicBytesMax];
    int error = read_hmem_targets(domain, &target, 1, 0, copy, target.length);
    if (error) return error;
    Resolved where;
    where.pieces[0] = range_of(copy, target.length);
    where.count = 1;
    apply(where);
    return operation.op == FI_ATOMIC_READ ? 0 : write_hmem_targets(domain, &target, 1, 0, copy, target.length);
}

}  // namespace

int check_hmem_targets(Domain& domain, const Target* targets, size_t count, uint64_t access) {
    for (size_t i = 0; i < count; ++i) {
        Part part;
        if (const int error = resolve_part(domain, targets[i], access, 0, targets[i].length, &part)) return error;
    }
    return 0;
}

int read_hmem_targets(Domain& domain, const Target* targets, size_t count, uint64_t offset, void* to, size_t size) {
    return for_each_piece(
        domain, targets, count, 0, offset, size, [&](const Hmem& memory, const iovec& piece, size_t done) {
            return copy_from_memory(memory, piece.iov_base, static_cast<std::byte*>(to) + done, piece.iov_len);
        });
}

int write_hmem_targets(Domain& domain, const Target* targets, size_t count, uint64_t offset, const void* from,
                       size_t size) {
    return for_each_piece(
        domain, targets, count, 0, offset, size, [&](const Hmem& memory, const iovec& piece, size_t done) {
            return copy_to_memory(memory, piece.iov_base, static_cast<const std::byte*>(from) + done, piece.iov_len);
        });
}

int apply_hmem_atomic(Domain& domain, const Target* targets, size_t count, const AtomicOperation& operation) {
    const size_t size = atomic_type_size(operation.type);
    // An element that lies in two regions is in none.
    for (size_t i = 0; i < count; ++i) {
        if (targets[i].length % size || targets[i].length > kAtomicBytesMax) return FI_EINVAL;
    }
    LockGuard guard(atomics_lock);
    size_t done = 0;
    for (size_t i = 0; i < count; ++i) {
        const int error = apply_to_target(domain, targets[i], operation, done, targets[i].length / size);
        if (error) return error;
        done += targets[i].length;
    }
    return 0;
}

}  // namespace selvage::impl
