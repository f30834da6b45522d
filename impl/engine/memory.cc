// See memory.h.
#include "impl/engine/memory.h"

#include <algorithm>

#include "impl/base/copy.h"
#include "impl/domain/mr.h"
#include "impl/events/cntr.h"

namespace selvage::impl {
namespace {

// Takes the domain's lock where it is needed.
class MaybeLock {
public:
    MaybeLock(Mutex& mutex, bool locked) : mutex_(locked ? &mutex : nullptr) {
        if (mutex_) mutex_->lock();
    }
    ~MaybeLock() {
        if (mutex_) mutex_->unlock();
    }
    MaybeLock(const MaybeLock&) = delete;
    MaybeLock& operator=(const MaybeLock&) = delete;

private:
    Mutex* mutex_;
};

// Calls visit(address, size) for each piece of [offset, offset + size) of some ranges, as far as they reach.
template <typename Visit>
void walk(const iovec* ranges, size_t count, uint64_t offset, uint64_t size, Visit&& visit) {
    for (size_t i = 0; i < count && size; ++i) {
        if (offset >= ranges[i].iov_len) {
            offset -= ranges[i].iov_len;
            continue;
        }
        const size_t part = std::min<uint64_t>(ranges[i].iov_len - offset, size);
        visit(static_cast<std::byte*>(ranges[i].iov_base) + offset, part);
        size -= part;
        offset = 0;
    }
}

int resolve_one(const Domain& domain, const Target& target, uint64_t access, Resolved* out) {
    if (target.length == 0) return 0;
    const MemoryRegion* region = domain.regions.find(target.key);
    if (!region) return FI_ENOKEY;
    if ((region->access & access) != access) return FI_EACCES;
    const uint64_t offset = target.address - region->base;
    if (target.address < region->base || offset > region->length || target.length > region->length - offset) {
        return FI_EINVAL;
    }
    if (region->range_count > kRangesMax || out->count + region->range_count > Resolved::kPieces) return FI_EINVAL;
    out->count += slice(region->ranges, region->range_count, offset, target.length, out->pieces + out->count);
    out->regions[out->region_count++] = region;
    return 0;
}

}  // namespace

size_t slice(const iovec* ranges, size_t count, uint64_t offset, uint64_t size, iovec* out) {
    size_t used = 0;
    walk(ranges, count, offset, size, [&](std::byte* at, size_t part) { out[used++] = range_of(at, part); });
    return used;
}

size_t scatter(const iovec* ranges, size_t count, uint64_t offset, const void* bytes, size_t size) {
    const auto* from = static_cast<const std::byte*>(bytes);
    walk(ranges, count, offset, size, [&](std::byte* at, size_t part) {
        copy_bytes(at, from, part);
        from += part;
    });
    return static_cast<size_t>(from - static_cast<const std::byte*>(bytes));
}

size_t gather(const iovec* ranges, size_t count, uint64_t offset, void* bytes, size_t size) {
    auto* to = static_cast<std::byte*>(bytes);
    walk(ranges, count, offset, size, [&](const std::byte* at, size_t part) {
        copy_bytes(to, at, part);
        to += part;
    });
    return static_cast<size_t>(to - static_cast<std::byte*>(bytes));
}

int resolve_targets(Domain& domain, bool locked, const Target* targets, size_t count, uint64_t access, Resolved* out) {
    MaybeLock guard(domain.lock, locked);
    out->count = out->region_count = 0;
    for (size_t i = 0; i < count; ++i) {
        const int error = resolve_one(domain, targets[i], access, out);
        if (error) return error;
    }
    return 0;
}

std::byte* resolve_piece(Domain& domain, bool locked, const Target& target, uint64_t access) {
    MaybeLock guard(domain.lock, locked);
    const MemoryRegion* region = domain.regions.find(target.key);
    if (!region || region->range_count != 1 || (region->access & access) != access) return nullptr;
    const uint64_t offset = target.address - region->base;
    if (target.address < region->base || offset > region->length || target.length > region->length - offset) {
        return nullptr;
    }
    return static_cast<std::byte*>(region->ranges[0].iov_base) + offset;
}

void count_region_writes(Domain& domain, bool locked, const Target* targets, size_t count) {
    MaybeLock guard(domain.lock, locked);
    for (size_t i = 0; i < count; ++i) {
        const MemoryRegion* region = domain.regions.find(targets[i].key);
        if (region && region->write_counter) region->write_counter->count(1);
    }
}

}  // namespace selvage::impl
