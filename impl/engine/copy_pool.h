// Buffers for bytes that come from memory of a device, or go there (staging.h). A few that are no longer used are kept,
// as new memory costs as much as a copy: the kernel has to find every page of it. Not locked: its owner's lock protects
// it.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <new>

namespace selvage::impl {

class CopyPool {
public:
    // Kept while nobody uses them.
    static constexpr size_t kKeptMost = 8;
    static constexpr size_t kKeptBytesMost = size_t{64} << 20;

    CopyPool() = default;
    ~CopyPool() {
        while (kept_count_) free(kept_[--kept_count_]);
    }
    CopyPool(const CopyPool&) = delete;
    CopyPool& operator=(const CopyPool&) = delete;

    // At least so many bytes, or nullptr when memory is short.
    std::byte* take(size_t size) {
        for (size_t i = kept_count_; i-- > 0;) {
            Block* block = kept_[i];
            if (block->capacity < size || block->capacity / 2 > size) continue;
            kept_[i] = kept_[--kept_count_];
            kept_bytes_ -= block->capacity;
            return bytes_of(block);
        }
        if (size > SIZE_MAX - sizeof(Block)) return nullptr;
        void* memory = malloc(sizeof(Block) + size);
        return memory ? bytes_of(new (memory) Block{size}) : nullptr;
    }
    // What take() returned, or nullptr. The oldest that are kept make room.
    void give(std::byte* bytes) {
        if (!bytes) return;
        Block* block = reinterpret_cast<Block*>(bytes) - 1;
        if (block->capacity > kKeptBytesMost) return free(block);
        while (kept_count_ == kKeptMost || kept_bytes_ + block->capacity > kKeptBytesMost) drop_first();
        kept_[kept_count_++] = block;
        kept_bytes_ += block->capacity;
    }

private:
    struct alignas(std::max_align_t) Block {
        size_t capacity;
    };
    static std::byte* bytes_of(Block* block) { return reinterpret_cast<std::byte*>(block + 1); }

    void drop_first() {
        kept_bytes_ -= kept_[0]->capacity;
        free(kept_[0]);
        --kept_count_;
        for (size_t i = 0; i < kept_count_; ++i) kept_[i] = kept_[i + 1];
    }

    Block* kept_[kKeptMost] = {};
    size_t kept_count_ = 0;
    size_t kept_bytes_ = 0;
};

}  // namespace selvage::impl
