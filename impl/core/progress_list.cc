// See progress_list.h.
#include "impl/core/progress_list.h"

#include <cstdlib>
#include <new>

#include "impl/core/wait.h"

namespace selvage::impl {

void ProgressList::Wakes::wake() { wait_.signal(); }

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
    const int descriptor = sleeps ? object->wait_descriptor() : -1;
    const int error = descriptor >= 0 ? wait_.watch(descriptor) : 0;
    if (error) {
        free(block);
        return error;
    }
    items_[count] = new (block) Item{.object = object, .uses = 1, .sleeps = sleeps, .sleeper = Wakes(wait_)};
    if (sleepers_ && sleeps) object->add_sleeper(items_[count]->sleeper);
    count_.store(count + 1, std::memory_order_relaxed);
    return 0;
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
        const int descriptor = item->sleeps ? object->wait_descriptor() : -1;
        if (descriptor >= 0) wait_.unwatch(descriptor);
        items_[at] = items_[count - 1];
        count_.store(count - 1, std::memory_order_relaxed);
        free(item);
    }
    unlock();
}

bool ProgressList::arm_locked() {
    const size_t count = count_.load(std::memory_order_relaxed);
    if (sleepers_++ == 0) {
        for (size_t i = 0; i < count; ++i) {
            if (items_[i]->sleeps) items_[i]->object->add_sleeper(items_[i]->sleeper);
        }
    }
    for (size_t i = 0; i < count; ++i) {
        if (!items_[i]->sleeps || items_[i]->object->arm()) continue;
        disarm_locked();
        return false;
    }
    return true;
}

void ProgressList::disarm_locked() {
    if (--sleepers_) return;
    const size_t count = count_.load(std::memory_order_relaxed);
    for (size_t i = 0; i < count; ++i) {
        if (items_[i]->sleeps) items_[i]->object->remove_sleeper(items_[i]->sleeper);
    }
}

bool ProgressList::arm() {
    lock();
    const bool armed = arm_locked();
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
    const bool armed = arm_locked();
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
    for (size_t i = 0; i < count; ++i) found |= items_[i]->sleeps && items_[i]->object->wait_descriptor() >= 0;
    unlock();
    return found;
}

}  // namespace selvage::impl
