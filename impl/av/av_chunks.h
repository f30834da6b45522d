// An array of equal elements that never move: chunks, each as large as all before it, the first of a given size.
//
// 1. An element keeps its address until the object is destroyed, so who found it needs no lock to read it.
// 2. One thread at a time grows it. Others may call at() for elements whose number they have from a release store that
//    came after grow_to() (AvStore's `extent`).
// 3. Memory is not cleared.
#pragma once

#include <sys/mman.h>

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

namespace selvage::impl {

class AvChunks {
public:
    AvChunks() = default;
    ~AvChunks() { clear(); }
    AvChunks(const AvChunks&) = delete;
    AvChunks& operator=(const AvChunks&) = delete;

    // REQUIRES: there is no chunk. `first`, of elements, is made a power of two.
    void set_sizes(size_t element, uint64_t first) {
        element_ = element;
        shift_ = static_cast<unsigned>(std::bit_width(std::bit_ceil(first))) - 1;
    }
    // Of the first chunk, in elements.
    uint64_t first() const { return uint64_t{1} << shift_; }
    // Elements there is memory for.
    uint64_t capacity() const { return count_ ? uint64_t{1} << (shift_ + count_ - 1) : 0; }
    // False when memory is short, or more than 2^31 elements are wanted.
    bool grow_to(uint64_t elements) {
        while (capacity() < elements) {
            if (count_ == kChunks) return false;
            unsigned char* chunk = allocate((count_ ? capacity() : uint64_t{1} << shift_) * element_);
            if (!chunk) return false;
            const uintptr_t origin = reinterpret_cast<uintptr_t>(chunk) - first_of(count_);
            origins_[count_++].store(origin, std::memory_order_relaxed);
        }
        return true;
    }
    // REQUIRES: index < capacity(), as of a moment before. Without a branch: whether an index of many is in the first
    // chunk no processor predicts, and what it has begun of the calls behind a wrong guess is lost with their misses.
    unsigned char* at(uint64_t index) const {
        const auto chunk = static_cast<unsigned>(std::bit_width(index >> shift_ << 1 | 1)) - 1;
        return reinterpret_cast<unsigned char*>(origins_[chunk].load(std::memory_order_relaxed) + index * element_);
    }
    void clear() {
        while (count_) {
            --count_;
            free(reinterpret_cast<void*>(origins_[count_].load(std::memory_order_relaxed) + first_of(count_)));
        }
    }

private:
    static constexpr unsigned kChunks = 26;  // of 64 elements and more: 2^31
    static constexpr size_t kHugePage = size_t{2} << 20;

    // Bytes of the elements before a chunk.
    uintptr_t first_of(unsigned chunk) const { return chunk ? (uint64_t{1} << (shift_ + chunk - 1)) * element_ : 0; }

    // Of a large array nearly every element is on another page, and the processor knows the places of few.
    static unsigned char* allocate(size_t bytes) {
        if (bytes < kHugePage) return static_cast<unsigned char*>(malloc(bytes));
        const size_t whole = (bytes + kHugePage - 1) / kHugePage * kHugePage;
        void* chunk = aligned_alloc(kHugePage, whole);
        if (chunk) madvise(chunk, whole, MADV_HUGEPAGE);
        return static_cast<unsigned char*>(chunk);
    }

    // Where element 0 would be, if the chunk's elements followed it without a gap.
    std::atomic<uintptr_t> origins_[kChunks] = {};
    size_t element_ = 0;
    unsigned shift_ = 0;
    unsigned count_ = 0;
};

}  // namespace selvage::impl
