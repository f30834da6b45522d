// Makes the n-th call of a class of C library calls fail, and counts what is allocated.
//
// The functions are defined in the program, so the shared library under test, and the C library's own use of malloc,
// find them first. Counting covers all threads. Nothing fails and nothing is counted unless inject() was called.
#pragma once

namespace selvage::impl::test {

enum class CallClass {
    Allocation,  // malloc, calloc, realloc, aligned_alloc, posix_memalign
    Descriptor,  // socket, accept4, eventfd, epoll_create1, timerfd_create, open, shm_open, ...
    Map,         // mmap, mremap
    Space,       // fallocate, posix_fallocate, ftruncate
    Send,        // send, sendto, sendmsg
    Receive,     // recv, recvfrom, recvmsg
    Control,     // epoll_ctl, bind, listen, connect, setsockopt, getsockname, fcntl, timerfd_settime, madvise, ...
    Thread,      // pthread_create
    Pull,        // process_vm_readv
};
inline constexpr int kCallClasses = 9;

// How a call fails: with an errno, or, of Send, Receive and Pull, by moving a part of its bytes.
inline constexpr int kPartial = -1;
inline constexpr int kPartialAndNoMemory = -2;  // and the next allocation of any thread fails

struct Fault {
    CallClass calls;
    int error;       // an errno, kPartial or kPartialAndNoMemory
    long n;          // the first call that fails, counted from 1
    long burst = 1;  // and so many in a row
};

// From here on calls are counted, and those that `fault` names fail. REQUIRES: after clear(), if it was called before.
void inject(const Fault& fault);
// Calls work again. Returns how many of the class there were.
long clear();
// Whether a call has failed since inject().
bool injected();

// Blocks of memory that were allocated and not freed.
long live_blocks();

}  // namespace selvage::impl::test
