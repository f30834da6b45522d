// From an address to its index in an address vector, in constant time: an open-addressing hash table in the memory of
// the process. Not locked; used with the lock of the vector's store held.
//
// A vector of one process keeps it up to date with every change. One that is shared with other processes catches up
// when it is asked, by what the store counts: only additions at the end since the last time, or a new start.
// Of equal addresses (which differ in the user's identifier) one is known; when that one is removed, the table is built
// again to find another.
#pragma once

#include "impl/av/av_store.h"
#include "impl/net/address.h"

namespace selvage::impl {

class AvIndex {
public:
    // `text`: entries are texts (shm), else SocketAddress.
    explicit AvIndex(AvStore& store) : store_(store) {}
    ~AvIndex();
    AvIndex(const AvIndex&) = delete;
    AvIndex& operator=(const AvIndex&) = delete;
    void set_text(bool text) { text_ = text; }

    // Room for so many more addresses. False when memory is short.
    bool reserve(uint64_t more);
    // `entry` was stored at `index`; there must be room.
    void add(const void* entry, fi_addr_t index);
    // `entry` is about to be removed from `index`.
    void remove(const void* entry, fi_addr_t index);
    // FI_ADDR_NOTAVAIL when there is none. For a shared store it catches up first; without memory for that, it looks
    // at every entry.
    fi_addr_t find(const void* entry);

private:
    struct Cell {
        uint32_t place;  // index + 1; 0: empty
        uint32_t hash;
    };

    uint32_t hash(const void* entry) const;
    bool same(const void* a, const void* b) const;
    Cell* cell_of(const void* entry, uint32_t hash);
    bool resize(uint64_t cells);
    void put(Cell cell);
    void erase(Cell* cell);
    void add_range(uint64_t first, uint64_t last);
    void rebuild(uint64_t extent);
    bool catch_up();
    fi_addr_t search(const void* entry);

    AvStore& store_;
    bool text_ = false;
    Cell* cells_ = nullptr;
    uint64_t mask_ = 0;  // cells - 1, when there are any
    uint64_t used_ = 0;
    uint64_t hidden_ = 0;  // entries that equal one that is known
    bool stale_ = false;
    // Shared stores: as of the last catching up.
    bool started_ = false;
    uint64_t rewrites_ = 0;
    uint64_t extent_ = 0;
};

}  // namespace selvage::impl
