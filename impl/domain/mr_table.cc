// See mr_table.h.
#include "impl/domain/mr_table.h"

#include <cstdlib>

#include "impl/domain/mr.h"

namespace selvage::impl {
namespace {

// Applications count keys up from zero as often as they draw them: mix before masking.
size_t mix(uint64_t key) {
    key ^= key >> 33;
    key *= 0xff51afd7ed558ccdULL;
    key ^= key >> 33;
    return static_cast<size_t>(key);
}

}  // namespace

MrTable::~MrTable() { free(buckets_); }

MemoryRegion** MrTable::bucket(uint64_t key) const { return &buckets_[mix(key) & (bucket_count_ - 1)]; }

MemoryRegion* MrTable::find(uint64_t key) const {
    if (!bucket_count_) return nullptr;
    MemoryRegion* region = *bucket(key);
    while (region && region->key != key) region = region->next_in_bucket;
    return region;
}

bool MrTable::holds(const MemoryRegion* region) const {
    for (size_t i = 0; i < bucket_count_; ++i) {
        const MemoryRegion* each = buckets_[i];
        while (each && each != region) each = each->next_in_bucket;
        if (each) return true;
    }
    return false;
}

bool MrTable::grow() {
    const size_t count = bucket_count_ ? bucket_count_ * 2 : 16;
    auto** fresh = static_cast<MemoryRegion**>(calloc(count, sizeof(MemoryRegion*)));
    if (!fresh) return false;
    for (size_t i = 0; i < bucket_count_; ++i) {
        for (MemoryRegion* region = buckets_[i]; region;) {
            MemoryRegion* next = region->next_in_bucket;
            MemoryRegion** home = &fresh[mix(region->key) & (count - 1)];
            region->next_in_bucket = *home;
            *home = region;
            region = next;
        }
    }
    free(buckets_);
    buckets_ = fresh;
    bucket_count_ = count;
    return true;
}

int MrTable::insert(MemoryRegion* region) {
    if (find(region->key)) return -FI_ENOKEY;
    if (size_ == bucket_count_ && !grow()) return -FI_ENOMEM;
    MemoryRegion** home = bucket(region->key);
    region->next_in_bucket = *home;
    *home = region;
    ++size_;
    return 0;
}

void MrTable::remove(MemoryRegion* region) {
    MemoryRegion** link = bucket(region->key);
    while (*link && *link != region) link = &(*link)->next_in_bucket;
    if (!*link) return;
    *link = region->next_in_bucket;
    --size_;
}

}  // namespace selvage::impl
