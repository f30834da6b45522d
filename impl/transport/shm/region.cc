// See region.h.
#include "impl/transport/shm/region.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string_view>

#include "impl/base/random.h"
#include "impl/config/log.h"
#include "impl/net/context_id.h"
#include "impl/transport/shm/forked.h"
#include "impl/transport/shm/ring.h"
#include "impl/transport/shm/socket_file.h"

namespace selvage::impl::shm {
namespace {

constexpr char kFolder[] = "/dev/shm";
constexpr int kOpenFlags = O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
constexpr int kTries = 1000;  // a name that changes hands that often is being played with
constexpr useconds_t kSweepPauseUs = 500;

bool file_name(const char* text, char (&out)[kFileNameMax]) {
    constexpr std::string_view kPrefix = "/selvage-shm-";
    const std::string_view rest(text + kShmScheme.size());
    if (kPrefix.size() + std::numeric_limits<uid_t>::digits10 + 2 + rest.size() >= sizeof out) return false;
    char* end = std::copy(kPrefix.begin(), kPrefix.end(), out);
    end = std::to_chars(end, out + sizeof out, geteuid()).ptr;
    *end++ = '-';
    // The slash before a context (context_id.h): no name of an endpoint has a space either.
    end = std::replace_copy(rest.begin(), rest.end(), end, '/', ' ');
    *end = '\0';
    return true;
}

struct flock lock_range(short type, int64_t byte) {
    struct flock range {};
    range.l_type = type;
    range.l_whence = SEEK_SET;
    range.l_start = byte;
    range.l_len = 1;
    return range;
}

// 0, -FI_EAGAIN when another holds it, or another error.
int take_lock(int file, int64_t byte) {
    struct flock range = lock_range(F_WRLCK, byte);
    if (fcntl(file, F_OFD_SETLK, &range) == 0) return 0;
    return errno == EACCES ? -FI_EAGAIN : -errno;
}

void drop_lock(int file, int64_t byte) {
    struct flock range = lock_range(F_UNLCK, byte);
    fcntl(file, F_OFD_SETLK, &range);
}

// Held through another descriptor than this one. When in doubt, it is.
bool is_held(int file, int64_t byte) {
    struct flock range = lock_range(F_WRLCK, byte);
    return fcntl(file, F_OFD_GETLK, &range) != 0 || range.l_type != F_UNLCK;
}

// What the name leads to, if it leads anywhere.
bool find_file(const char* name, struct stat* status) {
    char path[kFileNameMax + sizeof kFolder];
    snprintf(path, sizeof path, "%s%s", kFolder, name);
    return lstat(path, status) == 0;
}

// The name still leads to this file.
bool is_linked(int file, const char* name) {
    struct stat here {
    }, there{};
    return fstat(file, &here) == 0 && find_file(name, &there) && here.st_ino == there.st_ino &&
           here.st_dev == there.st_dev;
}

int open_noted(const char* name, int flags, int* file) {
    const int opened = shm_open(name, flags, 0600);
    if (opened < 0) return -errno;
    const int error = note_descriptor(opened);
    if (error) {
        ::close(opened);
        return error;
    }
    *file = opened;
    return 0;
}

// Only files of our own that no one else may write are looked into.
int check_owner(int file, size_t* size) {
    struct stat status {};
    if (fstat(file, &status)) return -errno;
    if (status.st_uid != geteuid() || !S_ISREG(status.st_mode) || (status.st_mode & 077)) return -FI_EACCES;
    *size = static_cast<size_t>(status.st_size);
    return 0;
}

// Anybody can make a file in /dev/shm under the name of an address of ours, to keep us from using it or to be taken for
// us.
void report_foreign(const char* name) {
    struct stat status {};
    if (!find_file(name, &status)) return;
    log_for("shm", FI_LOG_WARN, FI_LOG_EP_CTRL,
            "%s%s is not used: it belongs to user %u and has mode %o, and should be a file of user %u alone", kFolder,
            name, status.st_uid, status.st_mode, geteuid());
}

// What opening a file of another user gives, or something that is no file (shm_open: EINVAL for a folder).
bool is_foreign(int error) { return error == -EACCES || error == -ELOOP || error == -ENXIO || error == -EINVAL; }

// Of the dead owner of a region.
void remove_sockets(int file) {
    uint8_t instance[kIdBytes];
    const ssize_t got = pread(file, instance, sizeof instance, offsetof(RegionHeader, instance));
    if (got == static_cast<ssize_t>(sizeof instance)) remove_socket_files(instance);
}

enum class Owner : uint8_t { Gone, Lives, Unknown, Foreign };

// A file whose owner is dead is removed: Gone. Whoever looks holds the owner's lock for a moment, and says so before
// by another; Unknown: somebody else is looking. Foreign: it is none of this user's regions.
Owner remove_if_dead(const char* name) {
    int file = -1;
    const int error = open_noted(name, kOpenFlags, &file);
    if (is_foreign(error)) return Owner::Foreign;
    if (error) return error == -ENOENT ? Owner::Gone : Owner::Lives;
    size_t size;
    Owner owner = Owner::Lives;
    if (check_owner(file, &size) != 0) {
        owner = Owner::Foreign;
    } else if (take_lock(file, kSweepLock) != 0) {
        owner = Owner::Unknown;
    } else if (take_lock(file, kOwnerLock) == 0) {
        if (is_linked(file, name)) {
            remove_sockets(file);
            shm_unlink(name);
        }
        owner = Owner::Gone;
    }
    close_noted(file);
    return owner;
}

// A file of that name with our lock on it.
int create_file(const char* name, int* file) {
    for (int i = 0; i < kTries; ++i) {
        const int error = open_noted(name, kOpenFlags | O_CREAT | O_EXCL, file);
        if (error == -EEXIST) {
            const Owner owner = remove_if_dead(name);
            if (owner == Owner::Foreign) report_foreign(name);
            if (owner == Owner::Foreign || owner == Owner::Lives) return -FI_EADDRINUSE;
            if (owner == Owner::Unknown) usleep(kSweepPauseUs);
            continue;
        }
        if (error) return error;
        // Between the two steps somebody may have taken it for dead.
        if (take_lock(*file, kOwnerLock) == 0 && is_linked(*file, name)) return 0;
        close_noted(*file);
    }
    return -FI_EADDRINUSE;
}

void region_proof(Bytes key, const uint8_t (&instance)[kIdBytes], const char (&text)[kShmTextMax],
                  uint8_t (&out)[kProofBytes]) {
    static constexpr uint8_t kLabel[] = {'r', 'e', 'g', 'i', 'o', 'n'};
    const Bytes pieces[] = {kLabel, instance, {reinterpret_cast<const uint8_t*>(text), strnlen(text, sizeof text)}};
    keyed_digest(key, pieces, out);
}

template <typename T>
T* map_shared(int file, size_t offset, size_t bytes) {
    void* address = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, static_cast<off_t>(offset));
    if (address == MAP_FAILED) return nullptr;
    madvise(address, bytes, MADV_DONTFORK);
    return static_cast<T*>(address);
}

constexpr size_t kMappedSlot = kPage + 2 * kRingBytes;

SlotControl* map_slot_of(int file, size_t slot, int* error) {
    *error = -FI_ENOMEM;
    const auto offset = static_cast<off_t>(slot_offset(slot));
    // Once with what lies behind the slot, in whose place the ring comes again. Pages that nobody writes to are not
    // wanted: what is mapped ahead takes longer than all the rest of meeting a peer.
    void* space = mmap(nullptr, kMappedSlot, PROT_READ | PROT_WRITE, MAP_SHARED, file, offset);
    if (space == MAP_FAILED) return nullptr;
    if (mmap(static_cast<std::byte*>(space) + kPage + kRingBytes, kRingBytes, PROT_READ | PROT_WRITE,
             MAP_SHARED | MAP_FIXED, file, offset + static_cast<off_t>(kPage)) == MAP_FAILED) {
        munmap(space, kMappedSlot);
        return nullptr;
    }
    madvise(space, kMappedSlot, MADV_DONTFORK);
    *error = 0;
    return static_cast<SlotControl*>(space);
}

// The memory of a range of the file, so that a full /dev/shm is an error here and no signal later.
int allocate(int file, size_t offset, size_t bytes) {
    for (;;) {
        if (fallocate(file, 0, static_cast<off_t>(offset), static_cast<off_t>(bytes)) == 0) return 0;
        if (errno != EINTR) return errno == ENOSPC ? -FI_ENOSPC : -errno;
    }
}

}  // namespace

bool valid_text(const char (&text)[kShmTextMax]) {
    ParsedAddress parsed;
    char plain[kShmTextMax];
    uint16_t context;
    memcpy(plain, text, sizeof plain);
    if (!take_context(plain, &context)) return false;
    return read_address(FI_ADDR_STR, plain, sizeof plain, &parsed) && parsed.kind == AddressKind::Shm &&
           strlen(parsed.shm) > kShmScheme.size() && strcmp(parsed.shm, plain) == 0;
}

void hello_proof(Bytes key, const uint8_t (&owner)[kIdBytes], const uint8_t (&sender)[kIdBytes],
                 const char (&text)[kShmTextMax], uint8_t (&out)[kProofBytes]) {
    static constexpr uint8_t kLabel[] = {'h', 'e', 'l', 'l', 'o'};
    const Bytes pieces[] = {
        kLabel, owner, sender, {reinterpret_cast<const uint8_t*>(text), strnlen(text, sizeof text)}};
    keyed_digest(key, pieces, out);
}

bool region_exists(const char* text) {
    char name[kFileNameMax];
    struct stat status {};
    return file_name(text, name) && find_file(name, &status);
}

void unmap_slot(SlotControl* slot) { munmap(slot, kMappedSlot); }

bool reclaim_region(const char* text) {
    char name[kFileNameMax];
    return !file_name(text, name) || remove_if_dead(name) != Owner::Unknown;
}

void sweep_stale_regions() {
    char prefix[64];
    const int length = snprintf(prefix, sizeof prefix, "selvage-shm-%u-", geteuid());
    DIR* folder = opendir(kFolder);
    if (!folder) return;
    while (const dirent* entry = readdir(folder)) {
        if (strncmp(entry->d_name, prefix, static_cast<size_t>(length)) != 0) continue;
        char name[kFileNameMax];
        const int written = snprintf(name, sizeof name, "/%s", entry->d_name);
        if (written > 0 && static_cast<size_t>(written) < sizeof name) remove_if_dead(name);
    }
    closedir(folder);
}

int OwnRegion::create(Identity* self, bool senders_fence) {
    if (!valid_text(self->text)) return -FI_EINVAL;
    if (!file_name(self->text, name)) return -FI_EINVAL;
    int error = draw_random(self->instance, sizeof self->instance);
    if (error) return error;
    error = create_file(name, &file);
    if (error) {
        file = -1;
        return error;
    }
    error = ftruncate(file, kWindowBytes) ? -errno : allocate(file, 0, kHeaderBytes);
    if (!error) header = map_shared<RegionHeader>(file, 0, kHeaderBytes);
    if (!error && !header) error = -FI_ENOMEM;
    if (error) {
        remove();
        return error;
    }
    header->version = kGeometry.version;
    header->header_bytes = kGeometry.header_bytes;
    header->slot_bytes = kGeometry.slot_bytes;
    header->ring_bytes = kGeometry.ring_bytes;
    header->senders_fence = senders_fence;
    memcpy(header->instance, self->instance, sizeof self->instance);
    memcpy(header->text, self->text, sizeof self->text);
    region_proof(self->key, self->instance, self->text, header->proof);
    header->magic.store(kGeometry.magic, std::memory_order_release);
    return 0;
}

void OwnRegion::remove() {
    if (file < 0) return;
    if (is_linked(file, name)) shm_unlink(name);
    if (header) munmap(header, kHeaderBytes);
    close_noted(file);
    file = -1;
    header = nullptr;
}

void OwnRegion::forget() {
    file = -1;
    header = nullptr;
}

int OwnRegion::reserve(size_t slot) const { return allocate(file, slot_offset(slot), kSlotBytes); }

// Whoever comes first finds its pages in the file, and the owner has them in its page table.
SlotControl* OwnRegion::prepare_slot(size_t slot) const {
    if (allocate(file, slot_offset(slot), kFirstBytes)) return nullptr;
    int error;
    SlotControl* control = map_slot(slot, &error);
    if (!control) return nullptr;
    static_cast<void>(control->closed.load(std::memory_order_relaxed));
    static_cast<void>(first_word(ring_of(control)).load(std::memory_order_relaxed));
    return control;
}

SlotControl* OwnRegion::map_slot(size_t slot, int* error) const {
    struct stat status {};
    *error = -FI_EINVAL;
    // A slot is said to be ready by others: the file must really reach that far.
    if (fstat(file, &status) || static_cast<size_t>(status.st_size) < slot_offset(slot) + kSlotBytes) return nullptr;
    return map_slot_of(file, slot, error);
}

bool OwnRegion::slot_is_held(size_t slot) const { return is_held(file, slot_lock(slot)); }

void OwnRegion::free_slot(size_t slot) const {
    fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(slot_offset(slot)),
              static_cast<off_t>(kSlotBytes));
    // The next sender that sees "free" (acquire) finds the memory given back.
    header->state[slot].store(kSlotFree, std::memory_order_release);
}

namespace {

int check_header(const RegionHeader& header, const char* text, Bytes key) {
    if (header.magic.load(std::memory_order_acquire) == 0) return -FI_EAGAIN;
    RegionHeader copy_of;
    memcpy(static_cast<void*>(&copy_of), static_cast<const void*>(&header), offsetof(RegionHeader, attention));
    const Geometry theirs = {copy_of.magic.load(std::memory_order_relaxed), copy_of.version, copy_of.header_bytes,
                             copy_of.slot_bytes, copy_of.ring_bytes};
    if (memcmp(&theirs, &kGeometry, sizeof kGeometry) != 0) return -FI_EOPNOTSUPP;
    char expected_text[kShmTextMax] = {};
    memcpy(expected_text, text, strnlen(text, kShmTextMax - 1));
    uint8_t expected[kProofBytes];
    region_proof(key, copy_of.instance, expected_text, expected);
    return same_digest(expected, copy_of.proof) ? 0 : -FI_EACCES;
}

bool slot_is_free(const RegionHeader& header, size_t slot) {
    return header.state[slot].load(std::memory_order_acquire) == kSlotFree;
}

// A free slot, locked. Before it had the lock, another sender may have had it, and made the slot ready.
int take_slot(int file, const RegionHeader& header, size_t* slot) {
    for (size_t i = 0; i < kSlots; ++i) {
        if (!slot_is_free(header, i)) continue;
        const int error = take_lock(file, slot_lock(i));
        if (error == -FI_EAGAIN) continue;
        if (!error && !slot_is_free(header, i)) {
            drop_lock(file, slot_lock(i));
            continue;
        }
        *slot = i;
        return error;
    }
    return -FI_ECONNREFUSED;
}

// Senders of other slots do the same meanwhile.
void count_slot(RegionHeader& header, size_t slot) {
    const auto needed = static_cast<uint32_t>(slot + 1);
    uint32_t used = header.slots_used.load(std::memory_order_relaxed);
    while (used < needed && !header.slots_used.compare_exchange_weak(used, needed, std::memory_order_relaxed)) continue;
}

void write_hello(SlotControl* slot, const Identity& self, const uint8_t (&owner)[kIdBytes],
                 const RemoteSlot::Answers& answers) {
    memcpy(slot->text, self.text, sizeof self.text);
    memcpy(slot->instance, self.instance, sizeof self.instance);
    hello_proof(self.key, owner, self.instance, self.text, slot->proof);
    slot->instance_at = reinterpret_cast<uintptr_t>(self.instance);
    slot->answered = answers.written;
    slot->answers_closed.store(!answers.looked_at, std::memory_order_relaxed);
}

// Makes the file reach that far. One sender at a time, so that no other's slot lies behind the end that is seen; what
// the owner has reserved meanwhile may be given back, so the memory of the slot is allocated afterwards.
int extend(int file, size_t bytes) {
    struct stat status {};
    if (fstat(file, &status)) return -errno;
    if (static_cast<size_t>(status.st_size) >= bytes) return 0;
    int error = take_lock(file, kSetupLock);
    if (error) return error == -FI_EAGAIN ? -FI_EBUSY : error;
    if (fstat(file, &status)) error = -errno;
    const bool shorter = static_cast<size_t>(status.st_size) < bytes;
    if (!error && shorter && ftruncate(file, static_cast<off_t>(bytes))) error = -errno;
    drop_lock(file, kSetupLock);
    return error;
}

// Without the ring's second mapping, which no frame reaches before all of the ring has memory.
int map_first(RemoteSlot* remote) {
    const size_t offset = slot_offset(remote->index);
    if (remote->index < kWindowSlots) {
        remote->slot = reinterpret_cast<SlotControl*>(reinterpret_cast<std::byte*>(remote->header) + offset);
        return 0;
    }
    remote->slot = map_shared<SlotControl>(remote->file, offset, kSlotBytes);
    remote->mapped = remote->slot ? kSlotBytes : 0;
    return remote->slot ? 0 : -FI_ENOMEM;
}

int set_up(RemoteSlot* remote, const Identity& self, const RemoteSlot::Answers& answers) {
    int error = take_slot(remote->file, *remote->header, &remote->index);
    if (error) return error;
    if (remote->index >= kWindowSlots) error = extend(remote->file, slot_offset(remote->index) + kSlotBytes);
    if (!error) error = allocate(remote->file, slot_offset(remote->index), kFirstBytes);
    if (!error) error = map_first(remote);
    if (error) return error;
    uint8_t owner[kIdBytes];
    memcpy(owner, remote->header->instance, sizeof owner);
    write_hello(remote->slot, self, owner, answers);
    count_slot(*remote->header, remote->index);
    // Publishes the hello and the count to the owner, which loads it with acquire.
    remote->header->state[remote->index].store(kSlotReady, std::memory_order_release);
    remote->raise_attention();
    return 0;
}

}  // namespace

int RemoteSlot::enter(const char* text, const Identity& self, const Answers& answers) {
    char name[kFileNameMax];
    if (!file_name(text, name)) return -FI_EINVAL;
    int error = open_noted(name, kOpenFlags, &file);
    if (error) {
        file = -1;
        if (is_foreign(error)) report_foreign(name);
        return error == -ENOENT ? -FI_EAGAIN : is_foreign(error) ? -FI_EACCES : error;
    }
    size_t size = 0;
    error = check_owner(file, &size);
    if (error) report_foreign(name);
    if (!error && (size < kWindowBytes || !owner_is_alive())) error = -FI_EAGAIN;
    if (!error) header = map_shared<RegionHeader>(file, 0, kWindowBytes);
    if (!error && !header) error = -FI_ENOMEM;
    if (!error) error = check_header(*header, text, self.key);
    if (!error) error = set_up(this, self, answers);
    if (error) leave();
    return error;
}

void RemoteSlot::leave() {
    if (file < 0) return;
    if (mapped) munmap(slot, mapped);
    if (header) munmap(header, kWindowBytes);
    close_noted(file);
    forget();
}

int RemoteSlot::allocate_ring() {
    int error = allocate(file, slot_offset(index) + kFirstBytes, kSlotBytes - kFirstBytes);
    if (error || mapped == kMappedSlot) return error;
    SlotControl* whole = map_slot_of(file, index, &error);
    if (!whole) return error;
    if (mapped) munmap(slot, mapped);
    slot = whole;
    mapped = kMappedSlot;
    return 0;
}

// The owner that sees the attention raised (acquire) sees that word, and what was published before.
void RemoteSlot::say_closed() {
    slot->closed.store(1, std::memory_order_release);
    raise_attention();
}

void RemoteSlot::forget() {
    file = -1;
    header = nullptr;
    slot = nullptr;
    mapped = 0;
}

bool RemoteSlot::owner_is_alive() const { return is_held(file, kOwnerLock); }

}  // namespace selvage::impl::shm
