// The records of peers that are down, the oldest first: they may come again. At most kMost of them; the oldest goes for
// another. Owned until they are taken. What the engine counts (engine_counting.h) calls it, with the engine's lock.
#pragma once

#include <algorithm>
#include <cstring>

#include "impl/stat/stat_file.h"

namespace selvage::impl {

class LostPeers {
public:
    bool empty() const { return count_ == 0; }
    bool has(const char* name) const { return find(name) < count_; }
    // nullptr when there is none of that name.
    StatRecord* take(const char* name) {
        const size_t i = find(name);
        return i < count_ ? take_at(i) : nullptr;
    }
    // nullptr is none.
    void keep(StatRecord* record) {
        if (!record) return;
        if (count_ == kMost) release_stat_record(take_at(0));
        records_[count_++] = record;
    }
    void release_all() {
        for (StatRecord* record : *this) release_stat_record(record);
        count_ = 0;
    }
    StatRecord* const* begin() const { return records_; }
    StatRecord* const* end() const { return records_ + count_; }

private:
    static constexpr size_t kMost = 64;

    size_t find(const char* name) const {
        size_t i = 0;
        while (i < count_ && strcmp(records_[i]->name, name) != 0) ++i;
        return i;
    }
    StatRecord* take_at(size_t i) {
        StatRecord* record = records_[i];
        std::copy(records_ + i + 1, records_ + count_, records_ + i);
        --count_;
        return record;
    }

    StatRecord* records_[kMost] = {};
    size_t count_ = 0;
};

}  // namespace selvage::impl
