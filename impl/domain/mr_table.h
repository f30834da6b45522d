// The memory regions of a domain by key. Not locked: the domain's lock protects it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace selvage::impl {

struct MemoryRegion;

// A hash table of chained regions. Invariant: a key is in it at most once.
class MrTable {
public:
    MrTable() = default;
    ~MrTable();
    MrTable(const MrTable&) = delete;
    MrTable& operator=(const MrTable&) = delete;

    MemoryRegion* find(uint64_t key) const;
    // Whether it is one of them, whatever it points to. Takes time with their number.
    bool holds(const MemoryRegion* region) const;
    // Returns 0, -FI_ENOKEY when the key is taken, -FI_ENOMEM.
    int insert(MemoryRegion* region);
    void remove(MemoryRegion* region);

private:
    MemoryRegion** bucket(uint64_t key) const;
    bool grow();

    MemoryRegion** buckets_ = nullptr;
    size_t bucket_count_ = 0;  // a power of two, or 0
    size_t size_ = 0;
};

}  // namespace selvage::impl
