// See av_store.h.
#include "impl/core/av_store.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace selvage::impl {
namespace {

constexpr uint64_t kMagic = 0x73656c7661676502;  // "selvage", layout 2
constexpr uint64_t kFirstCapacity = 64;
constexpr uint64_t kExpectedMax = 65536;  // an expectation beyond this is met by growing
constexpr uint64_t kCapacityMax = uint64_t{1} << 31;
constexpr size_t kHeaderBytes = 4096;  // a page of its own: the lock in it must not move when the slots do

uint64_t first_capacity(size_t expected) { return std::clamp<uint64_t>(expected, kFirstCapacity, kExpectedMax); }

}  // namespace

struct AvStore::Header {
    uint64_t magic;  // written last
    uint64_t entry_size;
    Counts counts;
    pthread_mutex_t mutex;
};

AvStore::Slot* AvStore::slot(uint64_t index) const { return reinterpret_cast<Slot*>(slots_ + index * stride_); }

AvStore::Counts& AvStore::counts() { return header_ ? header_->counts : own_counts_; }
const AvStore::Counts& AvStore::counts() const { return header_ ? header_->counts : own_counts_; }

uint64_t AvStore::extent() { return std::min(counts().extent, reachable()); }

// Pairs with the release in changed(): who sees a generation and then takes the lock finds at least what it counts.
uint32_t AvStore::generation() const { return __atomic_load_n(generation_word(), __ATOMIC_ACQUIRE) & kGenerationMask; }

const uint32_t* AvStore::generation_word() const { return &counts().generation; }

void AvStore::changed() { __atomic_add_fetch(&counts().generation, 1, __ATOMIC_RELEASE); }

int AvStore::open_private(size_t entry_size, size_t expected) {
    entry_size_ = entry_size;
    stride_ = sizeof(Slot) + (entry_size + 7) / 8 * 8;
    return grow(first_capacity(expected));
}

void AvStore::lock() {
    if (!header_) {
        own_lock_.lock();
        return;
    }
    const bool abandoned = pthread_mutex_lock(&header_->mutex) == EOWNERDEAD;
    refresh();
    if (!abandoned) return;
    recount();
    pthread_mutex_consistent(&header_->mutex);
}

void AvStore::unlock() {
    if (header_) {
        pthread_mutex_unlock(&header_->mutex);
    } else {
        own_lock_.unlock();
    }
}

// A holder died between two stores. Slots are marked last and whole, so only the counts can be wrong.
void AvStore::recount() {
    Counts& now = counts();
    now.used = 0;
    now.lowest_free = 0;
    now.extent = 0;
    for (uint64_t index = 0; index < reachable(); ++index) {
        if (!slot(index)->used) continue;
        ++now.used;
        now.extent = index + 1;
    }
    ++now.rewrites;
    changed();
}

// The indices that this process has mapped: all, unless memory was too short to follow another process's growth.
uint64_t AvStore::reachable() {
    const uint64_t capacity = counts().capacity;
    return header_ ? std::min<uint64_t>(capacity, mapped_ / stride_) : capacity;
}

// Another process may have grown the file.
void AvStore::refresh() {
    const size_t bytes = header_->counts.capacity * stride_;
    if (bytes > mapped_) map_slots(bytes);
}

int AvStore::map_header() {
    void* address = mmap(nullptr, kHeaderBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
    if (address == MAP_FAILED) return -FI_ENOMEM;
    header_ = static_cast<Header*>(address);
    return 0;
}

int AvStore::map_slots(size_t bytes) {
    void* address = slots_ ? mremap(slots_, mapped_, bytes, MREMAP_MAYMOVE)
                           : mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file_, kHeaderBytes);
    if (address == MAP_FAILED) return -FI_ENOMEM;
    slots_ = static_cast<unsigned char*>(address);
    mapped_ = bytes;
    return 0;
}

int AvStore::grow(uint64_t capacity) {
    if (capacity > kCapacityMax) return -FI_ENOMEM;
    if (header_) {
        const size_t bytes = capacity * stride_;
        // posix_fallocate, so that a full /dev/shm is an error here and not a signal later.
        if (posix_fallocate(file_, 0, static_cast<off_t>(kHeaderBytes + bytes))) return -FI_ENOMEM;
        const int error = map_slots(bytes);
        if (error) return error;
    } else {
        auto* larger = static_cast<unsigned char*>(realloc(slots_, capacity * stride_));
        if (!larger) return -FI_ENOMEM;
        slots_ = larger;
        if (!own_free_.grow_to(capacity)) return -FI_ENOMEM;
    }
    counts().capacity = capacity;
    return 0;
}

int AvStore::reserve(size_t count) {
    const Counts& now = counts();
    if (count > kCapacityMax || now.used + count > kCapacityMax) return -FI_ENOMEM;
    const uint64_t wanted = now.used + count;
    if (wanted <= now.capacity) return reachable() == now.capacity ? 0 : -FI_ENOMEM;
    return grow(std::max(wanted, now.capacity * 2));
}

// A new file of shared memory is zero; memory of this process is looked at below the extent only.
uint64_t AvStore::take_index() {
    Counts& now = counts();
    if (now.used == now.extent) return now.extent;
    if (!header_) return own_free_.take();
    uint64_t index = now.lowest_free;
    while (slot(index)->used) ++index;
    now.lowest_free = index + 1;
    return index;
}

fi_addr_t AvStore::insert(const void* entry, uint64_t user_id) {
    Counts& now = counts();
    const uint64_t index = take_index();
    Slot* target = slot(index);
    memcpy(target->bytes(), entry, entry_size_);
    target->user_id = user_id;
    target->used = 1;
    ++now.used;
    if (index == now.extent) {
        ++now.extent;
    } else {
        ++now.rewrites;
    }
    changed();
    return index;
}

const void* AvStore::find(fi_addr_t index) {
    if (index >= extent() || !slot(index)->used) return nullptr;
    return slot(index)->bytes();
}

void AvStore::remove(fi_addr_t index) {
    Counts& now = counts();
    slot(index)->used = 0;
    --now.used;
    now.lowest_free = std::min(now.lowest_free, index);
    if (!header_) own_free_.put(index);
    ++now.rewrites;
    changed();
}

uint64_t AvStore::user_id(fi_addr_t index) { return slot(index)->user_id; }

namespace {

int init_mutex(pthread_mutex_t* mutex) {
    pthread_mutexattr_t attributes;
    if (pthread_mutexattr_init(&attributes)) return -FI_ENOMEM;
    pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    const int error = pthread_mutex_init(mutex, &attributes);
    pthread_mutexattr_destroy(&attributes);
    return -error;
}

// One process at a time sets a file up. A record lock, apart from the flock that says "in use".
bool lock_setup(int file, short type) {
    struct flock range {};
    range.l_type = type;
    range.l_whence = SEEK_SET;
    range.l_len = 1;
    return fcntl(file, F_OFD_SETLKW, &range) == 0;
}

// Opens the file, marks it as in use and takes the lock of those who set it up. The file may have been removed in
// between, in which case there is a newer one of that name, or none.
int open_current(const char* name, int flags, int* file) {
    for (;;) {
        const int opened = shm_open(name, flags, 0600);
        if (opened < 0) return -errno;
        struct stat status {};
        if (flock(opened, LOCK_SH) || !lock_setup(opened, F_WRLCK) || fstat(opened, &status)) {
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
    const auto size = static_cast<size_t>(status.st_size);
    if (size >= kHeaderBytes) {
        const int error = map_header();
        if (error) return error;
        const bool fits = header_->magic == kMagic && header_->entry_size == entry_size_ &&
                          header_->counts.capacity <= (size - kHeaderBytes) / stride_;
        if (fits) return map_slots(header_->counts.capacity * stride_);
        if (header_->magic != 0) return -FI_EINVAL;
    }
    if (access == Access::kReadOnly) return -FI_ENOENT;
    if (posix_fallocate(file_, 0, kHeaderBytes)) return -FI_ENOMEM;
    int error = header_ ? 0 : map_header();
    if (!error) error = init_mutex(&header_->mutex);
    if (!error) error = grow(first_capacity(expected));
    if (error) return error;
    header_->entry_size = entry_size_;
    header_->magic = kMagic;
    return 0;
}

int AvStore::open_shared(const char* file, size_t entry_size, size_t expected, Access access) {
    entry_size_ = entry_size;
    stride_ = sizeof(Slot) + (entry_size + 7) / 8 * 8;
    read_only_ = access == Access::kReadOnly;
    snprintf(name_, sizeof name_, "%s", file);
    int error = open_current(name_, O_RDWR | O_CLOEXEC | (read_only_ ? 0 : O_CREAT), &file_);
    if (error) return error;
    error = attach(expected, access);
    lock_setup(file_, F_UNLCK);
    if (error) close();
    return error;
}

void AvStore::close() {
    if (file_ < 0) {
        free(slots_);
        slots_ = nullptr;
        return;
    }
    if (slots_) munmap(slots_, mapped_);
    if (header_) munmap(header_, kHeaderBytes);
    header_ = nullptr;
    slots_ = nullptr;
    // Nobody else holds it: the last one out removes it.
    if (flock(file_, LOCK_EX | LOCK_NB) == 0) shm_unlink(name_);
    ::close(file_);
    file_ = -1;
}

}  // namespace selvage::impl
