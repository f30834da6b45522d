// Records of short sends that wait for counters, of one type: slabs that never move, and a list of free ones.
//
// It grows by a slab when none is free, to what its owner takes at most at a time, and gives memory back when it is
// destroyed. Not locked.
#pragma once

#include <cstdlib>
#include <new>
#include <type_traits>

#include "impl/domain/work.h"

namespace selvage::impl {

// A Record has a member `next`, by which free ones are linked.
template <typename Record>
class WorkPool {
public:
    WorkPool() = default;
    ~WorkPool() {
        while (Slab* slab = slabs_) {
            slabs_ = slab->next;
            free(slab);
        }
    }
    WorkPool(const WorkPool&) = delete;
    WorkPool& operator=(const WorkPool&) = delete;

    // As it was given back. nullptr when memory is short.
    Record* take() { return free_ || grow() ? take_free() : nullptr; }
    bool has_free() const { return free_ != nullptr; }
    // REQUIRES: has_free()
    Record* take_free() {
        Record* const record = free_;
        free_ = record->next;
        return record;
    }
    // A chain of records, linked by `next`.
    void give(Record* first, Record* last) {
        last->next = free_;
        free_ = first;
    }
    // Records that were allocated, whether taken or not.
    size_t size() const { return size_; }

private:
    static constexpr size_t kSlab = 64;
    struct Slab {
        Slab* next;
        Record records[kSlab];
    };
    static_assert(std::is_trivially_destructible_v<Record>);

    [[gnu::noinline, gnu::cold]] bool grow() {
        auto* const slab = static_cast<Slab*>(malloc(sizeof(Slab)));
        if (!slab) return false;
        slab->next = slabs_;
        slabs_ = slab;
        for (size_t i = kSlab; i-- > 0;) {
            Record* const record = new (&slab->records[i]) Record;
            give(record, record);
        }
        size_ += kSlab;
        return true;
    }

    Record* free_ = nullptr;
    Slab* slabs_ = nullptr;
    size_t size_ = 0;
};

}  // namespace selvage::impl
