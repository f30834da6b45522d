// See foreign_writes.h.
#include "impl/core/foreign_writes.h"

#include <time.h>

#include "impl/core/domain.h"
#include "impl/core/log.h"

namespace selvage::impl {

bool Patience::wait() const {
    if (end_.passed()) return false;
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
