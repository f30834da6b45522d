// Objects that are taken and given back on the hot path: slabs that never move, a list of free ones, and ids under
// which a peer may name them.
//
// Item has: Item* next; uint32_t index; uint32_t generation. The generation is odd while the item is taken and changes
// with every take and give, so an id that a peer invents, repeats or keeps too long finds nothing. Not locked.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <new>

#include "impl/base/list.h"

namespace selvage::impl {

template <typename Item>
class Pool {
public:
    Pool() = default;
    ~Pool() {
        for (uint32_t i = 0; i < slab_count_; ++i) free(slabs_[i]);
        free(slabs_);
    }
    Pool(const Pool&) = delete;
    Pool& operator=(const Pool&) = delete;

    // No more than so many at a time.
    void set_limit(size_t limit) { limit_ = limit; }
    size_t taken() const { return taken_; }
    size_t left() const { return taken_ < limit_ ? limit_ - taken_ : 0; }

    // nullptr when the limit is reached or memory is short.
    Item* take() {
        if (taken_ >= limit_) [[unlikely]]
            return nullptr;
        return take_beyond();
    }
    // The same, whatever the limit.
    Item* take_beyond() {
        if (!free_ && !grow()) [[unlikely]]
            return nullptr;
        Item* item = free_;
        free_ = item->next;
        ++item->generation;
        ++taken_;
        return item;
    }
    void give(Item* item) {
        ++item->generation;
        item->next = free_;
        free_ = item;
        --taken_;
    }

    static uint64_t id(const Item* item) { return uint64_t{item->generation} << 32 | item->index; }
    // The item that was given this id and is still taken, or nullptr.
    Item* find(uint64_t id) const {
        const auto index = static_cast<uint32_t>(id);
        const auto generation = static_cast<uint32_t>(id >> 32);
        if (index / kSlab >= slab_count_ || !(generation & 1)) return nullptr;
        Item* item = &slabs_[index / kSlab][index % kSlab];
        return item->generation == generation ? item : nullptr;
    }
    // The item that is taken and has this at `offset` from its beginning, or nullptr: the address may be anything.
    Item* find_by_part(const void* part, size_t offset) const {
        const auto at = reinterpret_cast<uintptr_t>(part);
        for (uint32_t i = slab_count_; i-- > 0;) {
            const auto first = reinterpret_cast<uintptr_t>(slabs_[i]) + offset;
            if (at < first || at - first >= kSlab * sizeof(Item) || (at - first) % sizeof(Item)) continue;
            Item* item = &slabs_[i][(at - first) / sizeof(Item)];
            return item->generation & 1 ? item : nullptr;
        }
        return nullptr;
    }
    template <typename Visit>
    void for_each_taken(Visit visit) {
        for (uint32_t i = 0; i < slab_count_ * kSlab; ++i) {
            Item* item = &slabs_[i / kSlab][i % kSlab];
            if (item->generation & 1) visit(item);
        }
    }

private:
    static constexpr uint32_t kSlab = 64;

    bool grow() {
        auto** slabs = static_cast<Item**>(realloc(slabs_, (slab_count_ + 1) * sizeof(Item*)));
        if (!slabs) return false;
        slabs_ = slabs;
        auto* slab = static_cast<Item*>(malloc(kSlab * sizeof(Item)));
        if (!slab) return false;
        for (uint32_t i = kSlab; i-- > 0;) {
            Item* item = new (&slab[i]) Item;
            item->index = slab_count_ * kSlab + i;
            item->generation = 0;
            item->next = free_;
            free_ = item;
        }
        slabs_[slab_count_++] = slab;
        return true;
    }

    Item* free_ = nullptr;
    size_t taken_ = 0;
    size_t limit_ = SIZE_MAX;
    Item** slabs_ = nullptr;
    uint32_t slab_count_ = 0;
};

}  // namespace selvage::impl
