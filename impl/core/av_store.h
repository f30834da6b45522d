// The slots of an address vector: an array of equal entries, used or free, indexed by fi_addr_t.
//
// Private to a process, or a named shared-memory file that every process with the same user and domain opens. The file
// carries a robust lock (a holder that dies does not block the others) and is removed by the last process that closes
// it; a file whose users all died is taken over by the next one that opens it.
// Every member but open and close is called with the lock held (lock(), unlock()).
#ifndef SELVAGE_IMPL_CORE_AV_STORE_H
#define SELVAGE_IMPL_CORE_AV_STORE_H

#include "impl/core/av_free.h"
#include "impl/core/lock.h"
#include "impl/core/rdma.h"

namespace selvage::impl {

inline constexpr size_t kAvFileNameMax = 128;

class AvStore {
public:
    enum class Access : uint8_t { kCreate, kReadOnly };

    AvStore() = default;
    ~AvStore() { close(); }
    AvStore(const AvStore&) = delete;
    AvStore& operator=(const AvStore&) = delete;

    int open_private(size_t entry_size, size_t expected);
    // `file` is a name for shm_open. -FI_ENOENT when read-only access finds none.
    int open_shared(const char* file, size_t entry_size, size_t expected, Access access);
    void close();

    void lock();
    void unlock();

    bool shared() const { return header_ != nullptr; }
    bool read_only() const { return read_only_; }
    // Makes room for so many more insertions.
    int reserve(size_t count);
    // Copies an entry to the lowest free index. There must be room.
    fi_addr_t insert(const void* entry, uint64_t user_id);
    // The entry, or nullptr when the index is free. Valid until the lock is released.
    const void* find(fi_addr_t index);
    void remove(fi_addr_t index);
    uint64_t user_id(fi_addr_t index);

    // Entries there are, and the index behind the highest that was ever used.
    uint64_t used() { return counts().used; }
    uint64_t extent();
    // How often anything but an addition at the end was done.
    uint64_t rewrites() { return counts().rewrites; }
    // Changes with every insertion and removal, in any process; without the lock. Never UINT32_MAX.
    uint32_t generation() const;
    // Where generation() looks, for those who ask often: with kGenerationMask, loaded with acquire. Stays where it is
    // until close().
    const uint32_t* generation_word() const;
    static constexpr uint32_t kGenerationMask = UINT32_MAX >> 1;

private:
    struct Header;
    struct Slot {
        uint64_t used;
        uint64_t user_id;
        unsigned char* bytes() { return reinterpret_cast<unsigned char*>(this + 1); }
    };
    struct Counts {
        uint64_t capacity;
        uint64_t used;
        uint64_t lowest_free;  // shared only: no free index below it
        uint64_t extent;       // no index from it on was ever used
        uint64_t rewrites;
        uint32_t generation;  // read without the lock
        uint32_t reserved;
    };

    Slot* slot(uint64_t index) const;
    Counts& counts();
    const Counts& counts() const;
    void changed();
    uint64_t take_index();
    int grow(uint64_t capacity);
    int map_header();
    int map_slots(size_t bytes);
    int attach(size_t expected, Access access);
    void refresh();
    void recount();
    uint64_t reachable();

    size_t stride_ = 0;
    size_t entry_size_ = 0;
    unsigned char* slots_ = nullptr;
    Counts own_counts_{};
    AvFree own_free_;  // below extent
    Mutex own_lock_;
    // Shared only.
    Header* header_ = nullptr;
    size_t mapped_ = 0;  // bytes of slots
    int file_ = -1;
    bool read_only_ = false;
    char name_[kAvFileNameMax] = {};
};

class AvLock {
public:
    explicit AvLock(AvStore& store) : store_(store) { store_.lock(); }
    ~AvLock() { store_.unlock(); }
    AvLock(const AvLock&) = delete;
    AvLock& operator=(const AvLock&) = delete;

private:
    AvStore& store_;
};

}  // namespace selvage::impl

#endif
