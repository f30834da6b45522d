// See progress_list.h.
#include "impl/progress/progress_list.h"

#include <cstdlib>
#include <new>

#include "impl/progress/wait.h"

namespace selvage::impl {

void ProgressList::Wakes::wake() { wait_.signal(); }

void ApplicationActivity::begin_sleep() {
    sleepers_.fetch_add(1);
    if (napping_.load()) thread_.signal();
}

void ApplicationActivity::nap(int64_t nanoseconds) {
    napping_.store(true);
    const uint32_t generation = thread_.generation();
    if (!sleeps()) thread_.nap(generation, nanoseconds);
    napping_.store(false);
}

ProgressList::~ProgressList() {
    const size_t count = count_.load(std::memory_order_relaxed);
    for (size_t i = 0; i < count; ++i) free(items_[i]);
    free(items_);
}

size_t ProgressList::find(const Progressive* object) const {
    const size_t count = count_.load(std::memory_order_relaxed);
    size_t i = 0;
    while (i < count && items_[i]->object != object) ++i;
    return i;
}

int ProgressList::add(Progressive* object, bool sleeps) {
    const size_t count = count_.load(std::memory_order_relaxed);
    if (count == capacity_) {
        const size_t capacity = capacity_ ? capacity_ * 2 : 4;
        auto* larger = static_cast<Item**>(realloc(items_, capacity * sizeof *items_));
        if (!larger) return -FI_ENOMEM;
        items_ = larger;
        capacity_ = capacity;
    }
    void* block = malloc(sizeof(Item));
    if (!block) return -FI_ENOMEM;
    auto* item =
        new (block) Item{.object = object, .uses = 1, .sleeps = sleeps, .watched = -1, .sleeper = Wakes(wait_)};
    const int error = sleeps ? watch(*item) : 0;
    if (error) {
        free(block);
        return error;
    }
    items_[count] = item;
    if (sleepers_ && sleeps) object->add_sleeper(items_[count]->sleeper);
    count_.store(count + 1, std::memory_order_relaxed);
    return 0;
}

// An object that has no descriptor now is attached all the same: reads make progress on it, and arm() tries again.
int ProgressList::watch(Item& item) {
    const int descriptor = item.object->wait_descriptor();
    if (descriptor < 0) return 0;
    const int error = wait_.watch(descriptor);
    if (!error) item.watched = descriptor;
    return error;
}

int ProgressList::attach(Progressive* object, bool sleeps) {
    lock();
    const size_t at = find(object);
    int error = 0;
    if (at < count_.load(std::memory_order_relaxed)) {
        ++items_[at]->uses;
    } else {
        error = add(object, sleeps);
    }
    unlock();
    // Who sleeps already has not armed it.
    if (!error) wait_.signal();
    return error;
}

void ProgressList::detach(Progressive* object) {
    lock();
    const size_t at = find(object);
    const size_t count = count_.load(std::memory_order_relaxed);
    if (at < count && --items_[at]->uses == 0) {
        Item* item = items_[at];
        if (sleepers_ && item->sleeps) object->remove_sleeper(item->sleeper);
        if (item->watched >= 0) wait_.unwatch(item->watched);
        items_[at] = items_[count - 1];
        count_.store(count - 1, std::memory_order_relaxed);
        free(item);
    }
    unlock();
}

// Looks for the descriptor first: an object that made one since it was attached would wake nobody through it.
Armed ProgressList::arm_item(Item& item) {
    if (item.watched < 0 && item.object->wait_descriptor() != Progressive::kNoDescriptor) {
        if (watch(item) || item.watched < 0) return Armed::NoDescriptor;
    }
    if (item.object->has_due_work()) return Armed::Later;
    return item.object->arm() ? Armed::Armed : Armed::Busy;
}

Armed ProgressList::arm_locked() {
    const size_t count = count_.load(std::memory_order_relaxed);
    if (sleepers_++ == 0) {
        for (size_t i = 0; i < count; ++i) {
            if (items_[i]->sleeps) items_[i]->object->add_sleeper(items_[i]->sleeper);
        }
        if (activity_) activity_->begin_sleep();
    }
    for (size_t i = 0; i < count; ++i) {
        const Armed armed = items_[i]->sleeps ? arm_item(*items_[i]) : Armed::Armed;
        if (armed == Armed::Armed) continue;
        disarm_locked();
        return armed;
    }
    return Armed::Armed;
}

void ProgressList::disarm_locked() {
    if (--sleepers_) return;
    const size_t count = count_.load(std::memory_order_relaxed);
    for (size_t i = 0; i < count; ++i) {
        if (items_[i]->sleeps) items_[i]->object->remove_sleeper(items_[i]->sleeper);
    }
    if (activity_) activity_->end_sleep();
}

Armed ProgressList::arm() {
    lock();
    const Armed armed = arm_locked();
    unlock();
    return armed;
}

void ProgressList::disarm() {
    lock();
    disarm_locked();
    unlock();
}

bool ProgressList::arm_native() {
    lock();
    const bool armed = arm_locked() == Armed::Armed;
    if (armed && native_) --sleepers_;  // registered once
    native_ |= armed;
    native_reads_ = 0;
    unlock();
    return armed;
}

void ProgressList::disarm_native() {
    lock();
    if (native_) disarm_locked();
    native_ = false;
    unlock();
}

// With the lock held, from advance().
void ProgressList::count_native() {
    if (++native_reads_ < kNativeReads) return;
    native_ = false;
    disarm_locked();
    wait_.signal();
}

bool ProgressList::has_descriptor() {
    lock();
    bool found = false;
    const size_t count = count_.load(std::memory_order_relaxed);
    for (size_t i = 0; i < count; ++i) {
        found |= items_[i]->sleeps && items_[i]->object->wait_descriptor() != Progressive::kNoDescriptor;
    }
    unlock();
    return found;
}

}  // namespace selvage::impl
