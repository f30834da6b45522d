// The slots of an address vector: an array of equal entries, used or free, indexed by fi_addr_t.
//
// Private to a process, or a named shared-memory file that every process with the same user and domain opens. The file
// is removed by the last process that closes it; a file whose users all died is taken over by the next one that opens
// it.
//
// Nothing in the file is trusted: any process of the user may write there at any time. Whatever is read from it is read
// once, into memory of this process, and checked before it is an index or a length; slots are looked at only where the
// file was seen to reach. The lock is the kernel's (a record lock on a byte of the file), since a mutex in the file is
// itself data that others may write; it ends with the process that holds it. Who shortens the file raises SIGBUS in the
// others: a mapping cannot be protected from that.
//
// Every member but open, close, generation, copy_unlocked and word_unlocked is called with the lock held (lock(),
// unlock()).
#pragma once

#include "impl/av/av_chunks.h"
#include "impl/av/av_free.h"
#include "impl/base/lock.h"
#include "impl/base/rdma.h"

namespace selvage::impl {

inline constexpr size_t kAvFileNameMax = 128;
inline constexpr size_t kAvEntryMax = 128;

// Room for a copy of an entry.
struct AvCopy {
    alignas(8) unsigned char bytes[kAvEntryMax];
};

class AvStore {
public:
    enum class Access : uint8_t { Create, ReadOnly };

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
    // Copies an entry to the lowest free index, used once. FI_ADDR_NOTAVAIL when there is no room, which cannot be
    // after reserve() unless another process broke the counts.
    // REQUIRES: keep_user_ids(), or user_id is FI_ADDR_NOTAVAIL.
    fi_addr_t insert(const void* entry, uint64_t user_id);
    // Counts one more use of an entry. What was used 2^32 - 1 times stays until close().
    void use_again(fi_addr_t index);
    // The entry, or nullptr when the index is free. Valid until the lock is released: it is the slot's, or, in a shared
    // store, a copy in `copy` that nobody else can change.
    const void* find(fi_addr_t index, AvCopy* copy);
    // Without the lock: copies kBytes of an entry of a private store, from `offset` on, to `out`. False: there is none,
    // or the store was just changed, and whoever has the lock can tell. REQUIRES: both are multiples of four.
    template <size_t kBytes>
    bool copy_unlocked(fi_addr_t index, size_t offset, void* out) const;
    // Without the lock: eight bytes of an entry of a private store, from kWordAt on, as one insertion stored them. 0:
    // there is none, and whoever has the lock can tell. REQUIRES: keeps_words(); no entry has a zero there.
    uint64_t word_unlocked(fi_addr_t index) const;
    static constexpr size_t kWordAt = 4;
    bool keeps_words() const { return !header_ && stride_ % sizeof(uint64_t) == 0 && stride_ > sizeof(uint64_t); }
    bool holds(fi_addr_t index);
    // Counts one use less of an entry that there is. True when that was the last, and the index is free.
    bool remove(fi_addr_t index);
    bool used_once(fi_addr_t index);
    // From now on entries have identifiers of the user, those that there are FI_ADDR_NOTAVAIL: most stores have none,
    // and are the smaller for it. 0 or -FI_ENOMEM. REQUIRES: !shared()
    int keep_user_ids();
    uint64_t user_id(fi_addr_t index) const;  // FI_ADDR_NOTAVAIL where none are kept
    // REQUIRES: holds(index), and keep_user_ids() before.
    void set_user_id(fi_addr_t index, uint64_t user_id);

    // Entries there are, and the index behind the highest that was ever used.
    uint64_t used();
    uint64_t extent();
    // How often anything but an addition at the end was done.
    uint64_t rewrites();
    // Shared only: an array whose element i is i, for the first kMapEntries indices: every index that any process was
    // given is in it. It stays where it is until close().
    const fi_addr_t* map() const { return map_; }
    // Changes with every insertion and removal, in any process; without the lock. Never UINT32_MAX.
    uint32_t generation() const;
    // Where generation() looks, for those who ask often: with kGenerationMask, loaded with acquire. Stays where it is
    // until close().
    const uint32_t* generation_word() const;
    static constexpr uint32_t kGenerationMask = UINT32_MAX >> 1;
    static constexpr uint64_t kMapEntries = uint64_t{1} << 20;

private:
    struct Header;
    struct Slot {
        uint32_t used;  // how many insertions are not removed yet; 0: free
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
    uint64_t take_shared_index(uint64_t extent);
    void set_uses(uint64_t index, uint32_t uses);
    int reserve_shared(uint64_t wanted);
    void write_entry(Slot& slot, const void* entry);
    int grow(uint64_t capacity);
    int grow_private(uint64_t capacity);
    bool grow_ids();
    uint64_t* id_at(uint64_t index) const { return reinterpret_cast<uint64_t*>(own_ids_.at(index)); }
    int grow_file(uint64_t capacity);
    int write_map(uint64_t capacity);
    int map_header();
    int map_slots(uint64_t capacity);
    int map_indices();
    int attach(size_t expected, Access access);
    int start_file(size_t expected);
    void refresh();
    void recount();
    void begin_change();
    void end_change();
    bool reopen_after_fork();
    uint64_t reachable();

    size_t stride_ = 0;
    size_t entry_size_ = 0;
    AvChunks own_slots_;
    AvChunks own_ids_;  // of the user; none, or one for each slot
    Counts own_counts_{};
    AvFree own_free_;  // below extent
    Mutex own_lock_;
    // Shared only.
    Header* header_ = nullptr;
    unsigned char* slots_ = nullptr;
    uint64_t mapped_ = 0;  // slots
    const fi_addr_t* map_ = nullptr;
    int file_ = -1;
    pid_t owner_ = 0;  // the process that opened file_
    bool read_only_ = false;
    char name_[kAvFileNameMax] = {};
};

inline AvStore::Slot* AvStore::slot(uint64_t index) const {
    return reinterpret_cast<Slot*>(header_ ? slots_ + index * stride_ : own_slots_.at(index));
}

// The protocol with who changes a private store meanwhile:
//   insert   stores the words of the entry, then `used`, then `extent`, and counts the generation
//   remove   clears `used`, then counts the generation
//   this     loads the generation, `extent`, `used`, the words, `used` and the generation again
// Each store is a release, each load an acquire. Whoever loads a word of an entry that came to a used slot since sees
// that its removal was counted: the generation has changed since it was loaded first, or had already, and then `used`
// was loaded from the insertion, which came after all words.
template <size_t kBytes>
bool AvStore::copy_unlocked(fi_addr_t index, size_t offset, void* out) const {
    if (header_) return false;
    const uint32_t before = __atomic_load_n(&own_counts_.generation, __ATOMIC_ACQUIRE);
    if (index >= __atomic_load_n(&own_counts_.extent, __ATOMIC_ACQUIRE)) return false;
    Slot& from = *slot(index);
    if (!__atomic_load_n(&from.used, __ATOMIC_ACQUIRE)) return false;
    const auto* words = reinterpret_cast<const uint32_t*>(from.bytes() + offset);
    uint32_t copy[kBytes / sizeof(uint32_t)];
    for (size_t i = 0; i < kBytes / sizeof *copy; ++i) copy[i] = __atomic_load_n(&words[i], __ATOMIC_ACQUIRE);
    if (!__atomic_load_n(&from.used, __ATOMIC_ACQUIRE)) return false;
    if (__atomic_load_n(&own_counts_.generation, __ATOMIC_ACQUIRE) != before) return false;
    __builtin_memcpy(out, copy, sizeof copy);
    return true;
}

// A word is stored whole when its entry comes, and cleared when it goes, so it needs no other check: what is loaded is
// what the index had at that moment. Pairs with insert(), which stores the chunk and the word before `extent`.
inline uint64_t AvStore::word_unlocked(fi_addr_t index) const {
    if (index >= __atomic_load_n(&own_counts_.extent, __ATOMIC_ACQUIRE)) return 0;
    const unsigned char* at = own_slots_.at(index) + sizeof(Slot) + kWordAt;
    return __atomic_load_n(reinterpret_cast<const uint64_t*>(at), __ATOMIC_ACQUIRE);
}

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
