// See failing_calls.h.
#include "impl/test/faults/failing_calls.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstddef>
#include <cstdlib>
#include <cstring>

#include "impl/test/next_symbol.h"

namespace selvage::impl::test {
namespace {

constexpr size_t kPieces = 128;

std::atomic<bool> armed{false};
std::atomic<long> calls{0};
std::atomic<bool> fired{false};
std::atomic<bool> no_memory{false};
std::atomic<long> blocks{0};
Fault current{};

// Whether this call of the class is one that fails; then errno is set, unless it is to move a part of its bytes.
bool fails(CallClass of) {
    if (!armed.load(std::memory_order_acquire)) return false;
    if (of == CallClass::Allocation && no_memory.load(std::memory_order_relaxed) && no_memory.exchange(false)) {
        errno = ENOMEM;
        return true;
    }
    if (current.calls != of) return false;
    const long n = calls.fetch_add(1, std::memory_order_relaxed) + 1;
    if (n < current.n || n - current.n >= current.burst) return false;
    fired.store(true, std::memory_order_relaxed);
    if (current.error > 0) errno = current.error;
    no_memory.store(current.error == kPartialAndNoMemory, std::memory_order_relaxed);
    return true;
}
bool partial() { return current.error < 0; }
size_t part_of(size_t size) { return size > 1 ? size / 2 : size; }

// The first part of some ranges. REQUIRES: count <= kPieces.
size_t take_part(const iovec* from, size_t count, iovec* to) {
    size_t left = 0;
    for (size_t i = 0; i < count; ++i) left += from[i].iov_len;
    left = part_of(left);
    size_t used = 0;
    for (size_t i = 0; i < count && left; ++i) {
        to[used] = from[i];
        to[used].iov_len = std::min(left, from[i].iov_len);
        left -= to[used++].iov_len;
    }
    return used;
}

void count(const void* block) {
    if (block) blocks.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

void inject(const Fault& fault) {
    current = fault;
    calls.store(0);
    fired.store(false);
    no_memory.store(false);
    armed.store(true, std::memory_order_release);
}
long clear() {
    armed.store(false);
    return calls.load();
}
bool injected() { return fired.load(); }
long live_blocks() { return blocks.load(); }

}  // namespace selvage::impl::test

using namespace selvage::impl::test;  // NOLINT: the definitions below are the C library's names

extern "C" {

void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);
void __libc_free(void*);

void* malloc(size_t size) {
    void* block = fails(CallClass::Allocation) ? nullptr : __libc_malloc(size);
    count(block);
    return block;
}
void* calloc(size_t number, size_t size) {
    void* block = fails(CallClass::Allocation) ? nullptr : __libc_calloc(number, size);
    count(block);
    return block;
}
void* realloc(void* old, size_t size) {
    void* block = fails(CallClass::Allocation) ? nullptr : __libc_realloc(old, size);
    if (!old) count(block);
    return block;
}
void* memalign(size_t alignment, size_t size) {
    void* block = fails(CallClass::Allocation) ? nullptr : __libc_memalign(alignment, size);
    count(block);
    return block;
}
void* aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }
int posix_memalign(void** out, size_t alignment, size_t size) {
    const int before = errno;
    void* block = memalign(alignment, size);
    errno = before;
    if (!block) return ENOMEM;
    *out = block;
    return 0;
}
void free(void* block) {
    if (block) blocks.fetch_sub(1, std::memory_order_relaxed);
    __libc_free(block);
}

// Descriptors.
int socket(int domain, int type, int protocol) {
    return fails(CallClass::Descriptor) ? -1 : SELVAGE_NEXT(socket)(domain, type, protocol);
}
int socketpair(int domain, int type, int protocol, int* pair) {
    return fails(CallClass::Descriptor) ? -1 : SELVAGE_NEXT(socketpair)(domain, type, protocol, pair);
}
int accept4(int listener, sockaddr* address, socklen_t* size, int flags) {
    return fails(CallClass::Descriptor) ? -1 : SELVAGE_NEXT(accept4)(listener, address, size, flags);
}
int eventfd(unsigned value, int flags) {
    return fails(CallClass::Descriptor) ? -1 : SELVAGE_NEXT(eventfd)(value, flags);
}
int epoll_create1(int flags) { return fails(CallClass::Descriptor) ? -1 : SELVAGE_NEXT(epoll_create1)(flags); }
int timerfd_create(clockid_t clock, int flags) {
    return fails(CallClass::Descriptor) ? -1 : SELVAGE_NEXT(timerfd_create)(clock, flags);
}
int shm_open(const char* name, int flags, mode_t mode) {
    return fails(CallClass::Descriptor) ? -1 : SELVAGE_NEXT(shm_open)(name, flags, mode);
}
int memfd_create(const char* name, unsigned flags) {
    return fails(CallClass::Descriptor) ? -1 : SELVAGE_NEXT(memfd_create)(name, flags);
}
DIR* opendir(const char* name) { return fails(CallClass::Descriptor) ? nullptr : SELVAGE_NEXT(opendir)(name); }
int open(const char* path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    const mode_t mode = va_arg(rest, mode_t);
    va_end(rest);
    return fails(CallClass::Descriptor) ? -1 : SELVAGE_NEXT(open)(path, flags, mode);
}
int open64(const char* path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    const mode_t mode = va_arg(rest, mode_t);
    va_end(rest);
    return fails(CallClass::Descriptor) ? -1 : SELVAGE_NEXT(open)(path, flags, mode);
}

// Mappings and space.
void* mmap(void* address, size_t size, int protection, int flags, int file, off_t offset) {
    if (fails(CallClass::Map)) return MAP_FAILED;
    return SELVAGE_NEXT(mmap)(address, size, protection, flags, file, offset);
}
void* mremap(void* old, size_t size, size_t grown, int flags, ...) {
    if (fails(CallClass::Map)) return MAP_FAILED;
    va_list rest;
    va_start(rest, flags);
    void* to = flags & MREMAP_FIXED ? va_arg(rest, void*) : nullptr;
    va_end(rest);
    return SELVAGE_NEXT(mremap)(old, size, grown, flags, to);
}
int fallocate(int file, int mode, off_t offset, off_t size) {
    return fails(CallClass::Space) ? -1 : SELVAGE_NEXT(fallocate)(file, mode, offset, size);
}
int posix_fallocate(int file, off_t offset, off_t size) {
    return fails(CallClass::Space) ? errno : SELVAGE_NEXT(posix_fallocate)(file, offset, size);
}
int ftruncate(int file, off_t size) { return fails(CallClass::Space) ? -1 : SELVAGE_NEXT(ftruncate)(file, size); }

// Sending and receiving. The library writes and reads eventfds and timers alone, which does not fail.
ssize_t send(int socket, const void* bytes, size_t size, int flags) {
    if (fails(CallClass::Send)) {
        if (!partial()) return -1;
        size = part_of(size);
    }
    return SELVAGE_NEXT(send)(socket, bytes, size, flags);
}
ssize_t sendto(int socket, const void* bytes, size_t size, int flags, const sockaddr* to, socklen_t length) {
    if (fails(CallClass::Send) && !partial()) return -1;  // a datagram is sent whole or not at all
    return SELVAGE_NEXT(sendto)(socket, bytes, size, flags, to, length);
}
ssize_t recv(int socket, void* bytes, size_t size, int flags) {
    if (fails(CallClass::Receive)) {
        if (!partial()) return -1;
        size = part_of(size);
    }
    return SELVAGE_NEXT(recv)(socket, bytes, size, flags);
}
ssize_t recvmsg(int socket, msghdr* message, int flags) {
    if (fails(CallClass::Receive) && !partial()) return -1;
    return SELVAGE_NEXT(recvmsg)(socket, message, flags);
}
ssize_t process_vm_readv(pid_t process, const iovec* local, unsigned long local_count, const iovec* remote,
                         unsigned long remote_count, unsigned long flags) {
    iovec pieces[kPieces];
    if (fails(CallClass::Pull)) {
        if (!partial()) return -1;
        local_count = take_part(local, std::min<size_t>(local_count, kPieces), pieces);
        local = pieces;
    }
    return SELVAGE_NEXT(process_vm_readv)(process, local, local_count, remote, remote_count, flags);
}

// The calls of the hot path (transport/net/sockets.h), memory barriers and futexes.
long syscall(long number, ...) {
    va_list rest;
    va_start(rest, number);
    long word[6];
    for (long& each : word) each = va_arg(rest, long);
    va_end(rest);
    iovec pieces[kPieces];
    msghdr message;
    const bool gathers = number == SYS_sendmsg || number == SYS_recvmsg;
    const bool sends = number == SYS_sendto || number == SYS_sendmsg;
    const bool receives = number == SYS_recvfrom || number == SYS_recvmsg;
    if ((sends && fails(CallClass::Send)) || (receives && fails(CallClass::Receive))) {
        if (!partial()) return -1;
        if (gathers) {
            message = *reinterpret_cast<const msghdr*>(word[1]);
            message.msg_iovlen = take_part(message.msg_iov, std::min<size_t>(message.msg_iovlen, kPieces), pieces);
            message.msg_iov = pieces;
            word[1] = reinterpret_cast<long>(&message);
        } else {
            word[2] = static_cast<long>(part_of(static_cast<size_t>(word[2])));
        }
    }
    if (number == SYS_membarrier && fails(CallClass::Control)) return -1;
    return SELVAGE_NEXT(syscall)(number, word[0], word[1], word[2], word[3], word[4], word[5]);
}

// Control.
int epoll_ctl(int epoll, int operation, int file, epoll_event* event) {
    // Taking a descriptor away, or changing what is watched of it, takes no memory.
    if (operation == EPOLL_CTL_ADD && fails(CallClass::Control)) return -1;
    return SELVAGE_NEXT(epoll_ctl)(epoll, operation, file, event);
}
int bind(int socket, const sockaddr* address, socklen_t size) {
    return fails(CallClass::Control) ? -1 : SELVAGE_NEXT(bind)(socket, address, size);
}
int listen(int socket, int backlog) { return fails(CallClass::Control) ? -1 : SELVAGE_NEXT(listen)(socket, backlog); }
int connect(int socket, const sockaddr* address, socklen_t size) {
    return fails(CallClass::Control) ? -1 : SELVAGE_NEXT(connect)(socket, address, size);
}
int setsockopt(int socket, int level, int option, const void* value, socklen_t size) {
    return fails(CallClass::Control) ? -1 : SELVAGE_NEXT(setsockopt)(socket, level, option, value, size);
}
int getsockname(int socket, sockaddr* address, socklen_t* size) {
    return fails(CallClass::Control) ? -1 : SELVAGE_NEXT(getsockname)(socket, address, size);
}
int madvise(void* address, size_t size, int advice) {
    return fails(CallClass::Control) ? -1 : SELVAGE_NEXT(madvise)(address, size, advice);
}
int fcntl(int file, int command, ...) {
    va_list rest;
    va_start(rest, command);
    void* argument = va_arg(rest, void*);
    va_end(rest);
    // Giving a lock up always works.
    const bool locks = command == F_OFD_SETLK && static_cast<const struct flock*>(argument)->l_type != F_UNLCK;
    if (locks && fails(CallClass::Control)) return -1;
    return SELVAGE_NEXT(fcntl)(file, command, argument);
}
int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*run)(void*), void* argument) {
    if (fails(CallClass::Thread)) return current.error;
    return SELVAGE_NEXT(pthread_create)(thread, attributes, run, argument);
}
}
