// See forked.h.
#include "impl/transport/shm/forked.h"

#include <unistd.h>

#include <atomic>
#include <cstdlib>

#include "impl/base/lock.h"
#include "impl/base/rdma.h"

namespace selvage::impl::shm {
namespace {

Mutex g_lock;  // protects what follows; held across fork
int* g_files = nullptr;
size_t g_count = 0;
size_t g_capacity = 0;
std::atomic<uint64_t> g_generation{0};  // changes in a process that has one thread
pthread_once_t g_once = PTHREAD_ONCE_INIT;
int g_watch_error = 0;

void before_fork() { g_lock.lock(); }
void in_parent() { g_lock.unlock(); }
void in_child() {
    for (size_t i = 0; i < g_count; ++i) close(g_files[i]);
    g_count = 0;
    g_generation.fetch_add(1, std::memory_order_relaxed);
    g_lock.unlock();
}

void watch_forks() { g_watch_error = pthread_atfork(before_fork, in_parent, in_child); }

}  // namespace

int note_descriptor(int file) {
    pthread_once(&g_once, watch_forks);
    if (g_watch_error) return -g_watch_error;
    LockGuard guard(g_lock);
    if (g_count == g_capacity) {
        const size_t capacity = g_capacity ? g_capacity * 2 : 16;
        auto* larger = static_cast<int*>(realloc(g_files, capacity * sizeof(int)));
        if (!larger) return -FI_ENOMEM;
        g_files = larger;
        g_capacity = capacity;
    }
    g_files[g_count++] = file;
    return 0;
}

void close_noted(int file) {
    LockGuard guard(g_lock);
    for (size_t i = 0; i < g_count; ++i) {
        if (g_files[i] != file) continue;
        g_files[i] = g_files[--g_count];
        break;
    }
    close(file);
    if (g_count) return;
    free(g_files);
    g_files = nullptr;
    g_capacity = 0;
}

uint64_t fork_generation() { return g_generation.load(std::memory_order_relaxed); }

}  // namespace selvage::impl::shm
