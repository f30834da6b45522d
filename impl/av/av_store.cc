// See av_store.h.
#include "impl/av/av_store.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>

namespace selvage::impl {
namespace {

constexpr uint64_t kMagic = 0x73656c7661676504;  // "selvage", layout 4
constexpr uint64_t kFirstCapacity = 64;
constexpr uint64_t kExpectedMax = 65536;  // an expectation beyond this is met by growing
constexpr uint64_t kCapacityMax = uint64_t{1} << 31;
// The file: a page of header, the array of indices (of which only as many pages exist as there are slots), the slots.
constexpr size_t kHeaderBytes = 4096;
constexpr size_t kMapBytes = AvStore::kMapEntries * sizeof(fi_addr_t);
constexpr size_t kSlotsAt = kHeaderBytes + kMapBytes;
// Bytes of the file whose record locks mean something.
constexpr off_t kSetupByte = 0;
constexpr off_t kDataByte = 1;

uint64_t first_capacity(size_t expected) { return std::clamp<uint64_t>(expected, kFirstCapacity, kExpectedMax); }

// Of memory that others may write meanwhile: one load, so that what was checked is what is used.
template <typename Word>
Word load_once(const Word& word) {
    return __atomic_load_n(&word, __ATOMIC_RELAXED);
}

// A lock of the open file description, apart from the flock that says "in use".
bool lock_byte(int file, off_t byte, short type) {
    struct flock range {};
    range.l_type = type;
    range.l_whence = SEEK_SET;
    range.l_start = byte;
    range.l_len = 1;
    int result;
    do {
        result = fcntl(file, F_OFD_SETLKW, &range);
    } while (result && errno == EINTR);
    return result == 0;
}

constexpr unsigned char kNoWord[sizeof(uint64_t)] = {};

size_t stride_of(size_t slot_size, size_t entry_size) { return slot_size + (entry_size + 3) / 4 * 4; }

}  // namespace

struct AvStore::Header {
    uint64_t magic;  // written last
    uint64_t entry_size;
    uint64_t changing;  // not 0: who holds the lock, or died with it, is between two stores of a change
    Counts counts;
};

AvStore::Counts& AvStore::counts() { return header_ ? header_->counts : own_counts_; }
const AvStore::Counts& AvStore::counts() const { return header_ ? header_->counts : own_counts_; }

uint64_t AvStore::extent() { return std::min(load_once(counts().extent), reachable()); }
uint64_t AvStore::used() { return std::min(load_once(counts().used), extent()); }
uint64_t AvStore::rewrites() { return load_once(counts().rewrites); }

// Pairs with the release in changed(): who sees a generation and then takes the lock finds at least what it counts.
uint32_t AvStore::generation() const { return __atomic_load_n(generation_word(), __ATOMIC_ACQUIRE) & kGenerationMask; }

const uint32_t* AvStore::generation_word() const { return &counts().generation; }

void AvStore::changed() { __atomic_add_fetch(&counts().generation, 1, __ATOMIC_RELEASE); }

int AvStore::open_private(size_t entry_size, size_t expected) {
    if (entry_size > kAvEntryMax) return -FI_EINVAL;
    entry_size_ = entry_size;
    stride_ = stride_of(sizeof(Slot), entry_size);
    own_slots_.set_sizes(stride_, first_capacity(expected));
    return grow(first_capacity(expected));
}

void AvStore::lock() {
    own_lock_.lock();
    if (!header_) return;
    reopen_after_fork();
    lock_byte(file_, kDataByte, F_WRLCK);
    refresh();
    if (load_once(header_->changing)) recount();
}

void AvStore::unlock() {
    if (header_) lock_byte(file_, kDataByte, F_UNLCK);
    own_lock_.unlock();
}

// A child of fork has its parent's file description, whose locks are those of both: it needs one of its own. True when
// it has.
bool AvStore::reopen_after_fork() {
    const pid_t self = getpid();
    if (owner_ == self) return true;
    char path[32];
    snprintf(path, sizeof path, "/proc/self/fd/%d", file_);
    const int own = ::open(path, O_RDWR | O_CLOEXEC);
    if (own < 0) return false;
    if (flock(own, LOCK_SH)) {
        ::close(own);
        return false;
    }
    ::close(file_);
    file_ = own;
    owner_ = self;
    return true;
}

// The fences are for the compiler: a process that dies has made its stores in the order of the program.
void AvStore::begin_change() {
    if (!header_) return;
    __atomic_store_n(&header_->changing, 1, __ATOMIC_RELAXED);
    std::atomic_signal_fence(std::memory_order_seq_cst);
}

void AvStore::end_change() {
    changed();
    if (header_) __atomic_store_n(&header_->changing, 0, __ATOMIC_RELEASE);
}

// A holder died between two stores. Slots are marked last and whole, so only the counts can be wrong.
void AvStore::recount() {
    Counts& now = counts();
    uint64_t used = 0;
    uint64_t extent = 0;
    const uint64_t end = reachable();
    for (uint64_t index = 0; index < end; ++index) {
        if (!load_once(slot(index)->used)) continue;
        ++used;
        extent = index + 1;
    }
    now.used = used;
    now.lowest_free = 0;
    now.extent = extent;
    ++now.rewrites;
    end_change();
}

// The indices that this process has mapped: all, unless memory was too short to follow another process's growth, or the
// capacity is not what the file has room for.
uint64_t AvStore::reachable() {
    const uint64_t capacity = load_once(counts().capacity);
    return header_ ? std::min(capacity, mapped_) : capacity;
}

// Another process may have grown the file.
void AvStore::refresh() {
    const uint64_t capacity = load_once(header_->counts.capacity);
    if (capacity > mapped_) map_slots(capacity);
}

int AvStore::map_header() {
    void* address = mmap(nullptr, kHeaderBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
    if (address == MAP_FAILED) return -FI_ENOMEM;
    header_ = static_cast<Header*>(address);
    return 0;
}

// -FI_EINVAL when the file does not reach so far: behind its end there is no memory, whatever the header says.
int AvStore::map_slots(uint64_t capacity) {
    struct stat status {};
    if (fstat(file_, &status)) return -errno;
    const auto size = static_cast<size_t>(status.st_size);
    if (!capacity || capacity > kCapacityMax || size < kSlotsAt || capacity > (size - kSlotsAt) / stride_) {
        return -FI_EINVAL;
    }
    const size_t bytes = capacity * stride_;
    void* address = slots_ ? mremap(slots_, mapped_ * stride_, bytes, MREMAP_MAYMOVE)
                           : mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file_, kSlotsAt);
    if (address == MAP_FAILED) return -FI_ENOMEM;
    slots_ = static_cast<unsigned char*>(address);
    mapped_ = capacity;
    return 0;
}

int AvStore::map_indices() {
    void* address = mmap(nullptr, kMapBytes, PROT_READ, MAP_SHARED, file_, kHeaderBytes);
    if (address == MAP_FAILED) return -FI_ENOMEM;
    map_ = static_cast<const fi_addr_t*>(address);
    return 0;
}

// Every index from those that are mapped to `capacity`, before any of them is given to anybody.
int AvStore::write_map(uint64_t capacity) {
    constexpr uint64_t kAtOnce = 512;
    fi_addr_t indices[kAtOnce];
    const uint64_t end = std::min(capacity, kMapEntries);
    for (uint64_t first = mapped_; first < end; first += kAtOnce) {
        const uint64_t count = std::min(kAtOnce, end - first);
        for (uint64_t i = 0; i < count; ++i) indices[i] = first + i;
        const size_t bytes = count * sizeof *indices;
        const auto at = static_cast<off_t>(kHeaderBytes + first * sizeof *indices);
        if (pwrite(file_, indices, bytes, at) != static_cast<ssize_t>(bytes)) return -FI_ENOMEM;
    }
    return 0;
}

// posix_fallocate, so that a full /dev/shm is an error here and not a signal later.
int AvStore::grow_file(uint64_t capacity) {
    const auto from = static_cast<off_t>(kSlotsAt + mapped_ * stride_);
    const auto bytes = static_cast<off_t>((capacity - mapped_) * stride_);
    if (posix_fallocate(file_, from, bytes)) return -FI_ENOMEM;
    const int error = write_map(capacity);
    return error ? error : map_slots(capacity);
}

int AvStore::grow(uint64_t capacity) {
    if (capacity > kCapacityMax) return -FI_ENOMEM;
    if (!header_) return grow_private(capacity);
    const int error = capacity > mapped_ ? grow_file(capacity) : 0;
    if (!error) header_->counts.capacity = capacity;
    return error;
}

int AvStore::grow_private(uint64_t capacity) {
    if (!own_slots_.grow_to(capacity) || !own_free_.grow_to(own_slots_.capacity())) return -FI_ENOMEM;
    if (own_ids_.capacity() && !grow_ids()) return -FI_ENOMEM;
    own_counts_.capacity = own_slots_.capacity();
    return 0;
}

bool AvStore::grow_ids() {
    const uint64_t before = own_ids_.capacity();
    const bool grown = own_ids_.grow_to(own_slots_.capacity());
    for (uint64_t index = before; index < own_ids_.capacity(); ++index) *id_at(index) = FI_ADDR_NOTAVAIL;
    return grown;
}

int AvStore::keep_user_ids() {
    if (own_ids_.capacity() >= own_slots_.capacity()) return 0;
    if (!own_ids_.capacity()) own_ids_.set_sizes(sizeof(uint64_t), own_slots_.first());
    return grow_ids() ? 0 : -FI_ENOMEM;
}

uint64_t AvStore::user_id(fi_addr_t index) const {
    return index < own_ids_.capacity() ? *id_at(index) : FI_ADDR_NOTAVAIL;
}

void AvStore::set_user_id(fi_addr_t index, uint64_t user_id) { *id_at(index) = user_id; }

int AvStore::reserve(size_t count) {
    if (count > kCapacityMax || used() + count > kCapacityMax) return -FI_ENOMEM;
    const uint64_t wanted = used() + count;
    if (header_) return reserve_shared(wanted);
    const uint64_t capacity = own_counts_.capacity;
    return wanted <= capacity ? 0 : grow(wanted);
}

// What is mapped is what there is to grow from: the capacity that the file names may be anything. One beyond what is
// mapped may be another process's growth that this one had no memory to follow, and is not made smaller.
int AvStore::reserve_shared(uint64_t wanted) {
    const uint64_t capacity = load_once(header_->counts.capacity);
    if (wanted > mapped_) return wanted <= capacity ? -FI_ENOMEM : grow(std::max(wanted, mapped_ * 2));
    if (wanted > capacity) header_->counts.capacity = mapped_;
    return 0;
}

// A new file of shared memory is zero; memory of this process is looked at below the extent only.
uint64_t AvStore::take_index() {
    const uint64_t end = extent();
    if (used() == end) return end;
    return header_ ? take_shared_index(end) : own_free_.take();
}

// The lowest free index below the extent. If the counts are right there is one, and the first pass finds it.
uint64_t AvStore::take_shared_index(uint64_t end) {
    Counts& now = counts();
    for (const uint64_t first : {std::min(load_once(now.lowest_free), end), uint64_t{0}}) {
        for (uint64_t index = first; index < end; ++index) {
            if (load_once(slot(index)->used)) continue;
            now.lowest_free = index + 1;
            return index;
        }
    }
    return end;
}

namespace {

// `size` bytes in stores of one word each.
template <typename Word>
void store_words(unsigned char* to, const unsigned char* from, size_t size) {
    for (size_t at = 0; at < size; at += sizeof(Word)) {
        Word word = 0;
        memcpy(&word, from + at, std::min(sizeof word, size - at));
        __atomic_store_n(reinterpret_cast<Word*>(to + at), word, __ATOMIC_RELEASE);
    }
}

}  // namespace

// Of a private store word by word, for copy_unlocked() and word_unlocked().
void AvStore::write_entry(Slot& target, const void* entry) {
    const auto* from = static_cast<const unsigned char*>(entry);
    if (header_) {
        memcpy(target.bytes(), from, entry_size_);
        return;
    }
    const size_t narrow = keeps_words() ? kWordAt : entry_size_;
    store_words<uint32_t>(target.bytes(), from, narrow);
    store_words<uint64_t>(target.bytes() + narrow, from + narrow, entry_size_ - narrow);
}

fi_addr_t AvStore::insert(const void* entry, uint64_t user_id) {
    const uint64_t index = take_index();
    if (index >= reachable()) return FI_ADDR_NOTAVAIL;
    const bool at_end = index == extent();
    Counts& now = counts();
    begin_change();
    Slot* target = slot(index);
    write_entry(*target, entry);
    if (index < own_ids_.capacity()) set_user_id(index, user_id);
    set_uses(index, 1);
    ++now.used;
    if (at_end) {
        __atomic_store_n(&now.extent, index + 1, __ATOMIC_RELEASE);
    } else {
        ++now.rewrites;
    }
    end_change();
    return index;
}

// Last of a slot, so that a slot in use is whole.
void AvStore::set_uses(uint64_t index, uint32_t uses) { __atomic_store_n(&slot(index)->used, uses, __ATOMIC_RELEASE); }

void AvStore::use_again(fi_addr_t index) {
    const uint32_t uses = load_once(slot(index)->used);
    if (uses && uses != UINT32_MAX) set_uses(index, uses + 1);
}

bool AvStore::holds(fi_addr_t index) { return index < extent() && load_once(slot(index)->used); }

const void* AvStore::find(fi_addr_t index, AvCopy* copy) {
    if (!holds(index)) return nullptr;
    if (!header_) return slot(index)->bytes();
    memcpy(copy->bytes, slot(index)->bytes(), entry_size_);
    return copy->bytes;
}

bool AvStore::used_once(fi_addr_t index) { return load_once(slot(index)->used) == 1; }

bool AvStore::remove(fi_addr_t index) {
    const uint32_t uses = load_once(slot(index)->used);
    if (uses > 1) {
        if (uses != UINT32_MAX) set_uses(index, uses - 1);
        return false;
    }
    Counts& now = counts();
    begin_change();
    if (keeps_words()) store_words<uint64_t>(slot(index)->bytes() + kWordAt, kNoWord, sizeof kNoWord);
    set_uses(index, 0);
    --now.used;
    now.lowest_free = std::min(load_once(now.lowest_free), index);
    if (!header_) own_free_.put(index);
    ++now.rewrites;
    end_change();
    return true;
}

namespace {

// Opens the file, marks it as in use and takes the lock of those who set it up. The file may have been removed in
// between, in which case there is a newer one of that name, or none.
int open_current(const char* name, int flags, int* file) {
    for (;;) {
        const int opened = shm_open(name, flags, 0600);
        if (opened < 0) return -errno;
        struct stat status {};
        if (flock(opened, LOCK_SH) || !lock_byte(opened, kSetupByte, F_WRLCK) || fstat(opened, &status)) {
            const int error = -errno;
            ::close(opened);
            return error;
        }
        if (status.st_nlink > 0) {
            *file = opened;
            return 0;
        }
        ::close(opened);
    }
}

}  // namespace

// With the set-up lock held: maps the file and initialises it when it is new.
int AvStore::attach(size_t expected, Access access) {
    struct stat status {};
    if (fstat(file_, &status)) return -errno;
    if (status.st_uid != geteuid()) return -FI_EACCES;
    if (static_cast<size_t>(status.st_size) >= kHeaderBytes) {
        const int error = map_header();
        if (error) return error;
        const uint64_t magic = load_once(header_->magic);
        if (magic == kMagic && load_once(header_->entry_size) == entry_size_) {
            const int unmapped = map_slots(load_once(header_->counts.capacity));
            return unmapped ? unmapped : map_indices();
        }
        if (magic != 0) return -FI_EINVAL;
    }
    return access == Access::ReadOnly ? -FI_ENOENT : start_file(expected);
}

int AvStore::start_file(size_t expected) {
    if (posix_fallocate(file_, 0, kHeaderBytes)) return -FI_ENOMEM;
    int error = header_ ? 0 : map_header();
    if (!error) error = grow(first_capacity(expected));
    if (!error) error = map_indices();
    if (error) return error;
    header_->entry_size = entry_size_;
    __atomic_store_n(&header_->magic, kMagic, __ATOMIC_RELEASE);
    return 0;
}

int AvStore::open_shared(const char* file, size_t entry_size, size_t expected, Access access) {
    if (entry_size > kAvEntryMax) return -FI_EINVAL;
    entry_size_ = entry_size;
    stride_ = stride_of(sizeof(Slot), entry_size);
    read_only_ = access == Access::ReadOnly;
    snprintf(name_, sizeof name_, "%s", file);
    int error = open_current(name_, O_RDWR | O_CLOEXEC | (read_only_ ? 0 : O_CREAT), &file_);
    if (error) return error;
    owner_ = getpid();
    error = attach(expected, access);
    lock_byte(file_, kSetupByte, F_UNLCK);
    if (error) close();
    return error;
}

void AvStore::close() {
    own_slots_.clear();
    own_ids_.clear();
    if (file_ < 0) return;
    if (slots_) munmap(slots_, mapped_ * stride_);
    if (map_) munmap(const_cast<fi_addr_t*>(map_), kMapBytes);
    if (header_) munmap(header_, kHeaderBytes);
    header_ = nullptr;
    slots_ = nullptr;
    map_ = nullptr;
    mapped_ = 0;
    // Nobody else holds it: the last one out removes it. (A lock that is shared with the parent would not tell.)
    if (reopen_after_fork() && flock(file_, LOCK_EX | LOCK_NB) == 0) shm_unlink(name_);
    ::close(file_);
    file_ = -1;
}

}  // namespace selvage::impl
