// See foreign_writes.h.
#include "impl/core/foreign_writes.h"

#include <time.h>

#include "impl/core/domain.h"
#include "impl/core/log.h"

namespace selvage::impl {

namespace {

uint64_t now_ms() {
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<uint64_t>(now.tv_sec) * 1000 + static_cast<uint64_t>(now.tv_nsec) / 1'000'000;
}

}  // namespace

Patience::Patience() : end_(now_ms() + 1000) {}

bool Patience::wait() const {
    if (now_ms() >= end_) return false;
    constexpr timespec kPause{.tv_sec = 0, .tv_nsec = 50'000};
    nanosleep(&kPause, nullptr);
    return true;
}

void ForeignWrites::add(WriteWatch& watch) {
    watch.next_watch = first;
    first = &watch;
}

void ForeignWrites::remove(WriteWatch& watch) {
    WriteWatch** link = &first;
    while (*link && *link != &watch) link = &(*link)->next_watch;
    if (*link) *link = watch.next_watch;
}

void ForeignWrites::await(Domain& domain) {
    const std::atomic<uint32_t>& under_way = domain.foreign.under_way;
    if (!under_way.load(std::memory_order_acquire)) return;
    const Patience patience;
    for (;;) {
        {
            LockGuard guard(domain.lock);
            for (WriteWatch* watch = domain.foreign.first; watch; watch = watch->next_watch) watch->look_at_writes();
        }
        if (!under_way.load(std::memory_order_acquire)) return;
        if (!patience.wait()) break;
    }
    log_for("core", FI_LOG_WARN, FI_LOG_MR, "a peer has been writing for a second; the region is closed");
}

}  // namespace selvage::impl
