// See region_counters.h.
#include "impl/domain/region_counters.h"

#include <cstdlib>
#include <new>

#include "impl/events/cntr.h"

namespace selvage::impl {
namespace {

template <typename Node>
void free_list(Node* list) {
    while (list) {
        Node* next = list->next;
        free(list);
        list = next;
    }
}

}  // namespace

RegionCounters::~RegionCounters() {
    free_list(paths_);
    free_list(counters_);
}

RegionCounters::Bound** RegionCounters::find(const Counter* counter) {
    Bound** link = &counters_;
    while (*link && (*link)->counter != counter) link = &(*link)->next;
    return link;
}

int RegionCounters::attach_all(Counter* counter, Path* paths) {
    for (Path* each = paths; each; each = each->next) {
        const int error = counter->attach(each->path);
        if (!error) continue;
        for (Path* done = paths; done != each; done = done->next) counter->detach(done->path);
        return error;
    }
    return 0;
}

int RegionCounters::add_path(Progressive* path) {
    void* block = malloc(sizeof(Path));
    if (!block) return -FI_ENOMEM;
    LockGuard guard(lock_);
    for (Bound* each = counters_; each; each = each->next) {
        const int error = each->counter->attach(path);
        if (!error) continue;
        for (Bound* done = counters_; done != each; done = done->next) done->counter->detach(path);
        free(block);
        return error;
    }
    paths_ = new (block) Path{.next = paths_, .path = path};
    return 0;
}

void RegionCounters::remove_path(Progressive* path) {
    LockGuard guard(lock_);
    Path** link = &paths_;
    while (*link && (*link)->path != path) link = &(*link)->next;
    Path* removed = *link;
    if (!removed) return;
    for (Bound* each = counters_; each; each = each->next) each->counter->detach(path);
    *link = removed->next;
    free(removed);
}

int RegionCounters::add_counter(Counter* counter) {
    LockGuard guard(lock_);
    Bound** known = find(counter);
    if (*known) {
        ++(*known)->regions;
        return 0;
    }
    void* block = malloc(sizeof(Bound));
    if (!block) return -FI_ENOMEM;
    const int error = attach_all(counter, paths_);
    if (error) {
        free(block);
        return error;
    }
    counters_ = new (block) Bound{.next = counters_, .counter = counter, .regions = 1};
    return 0;
}

void RegionCounters::remove_counter(Counter* counter) {
    LockGuard guard(lock_);
    Bound** link = find(counter);
    Bound* bound = *link;
    if (!bound || --bound->regions) return;
    for (Path* each = paths_; each; each = each->next) counter->detach(each->path);
    *link = bound->next;
    free(bound);
}

}  // namespace selvage::impl
