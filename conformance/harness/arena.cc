// See arena.h.
#include "conformance/harness/arena.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <new>

namespace selvage::conformance {
namespace {

char* map(std::size_t size) {
    void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    return static_cast<char*>(memory);
}

std::size_t up(std::size_t n, std::size_t to) { return (n + to - 1) / to * to; }

}  // namespace

Arena::Arena(std::size_t capacity) : log_(kMaxTouched) { reset(capacity); }

Arena::~Arena() {
    if (start_ != nullptr) munmap(start_, room_);
    for (char* slot : tight_) munmap(slot, 2 * kPage);
}

void Arena::reset(std::size_t capacity) {
    unprotect();
    used_ = 0;
    tight_used_ = 0;
    if (capacity <= room_) return;
    if (start_ != nullptr) munmap(start_, room_);
    start_ = nullptr;
    room_ = 0;
    const std::size_t size = up(capacity, kPage);
    start_ = map(size);
    room_ = size;
}

void* Arena::take(std::size_t size, std::size_t alignment) {
    const std::size_t at = up(used_, alignment);
    if (at > room_ || size > room_ - at) throw std::bad_alloc();
    used_ = at + size;
    return std::memset(start_ + at, 0, size);
}

char* Arena::copy(const char* bytes, std::size_t size, bool tight) {
    if (!tight || size > kPage) {
        // At least one byte, so that no two copies share an address.
        char* const to = static_cast<char*>(take(size + 1, 1));
        std::copy_n(bytes, size, to);
        return to;
    }
    char* const to = tight_slot() + kPage - size;
    std::copy_n(bytes, size, to);
    return to;
}

char* Arena::tight_slot() {
    if (tight_used_ == tight_.size()) {
        char* const slot = map(2 * kPage);
        mprotect(slot + kPage, kPage, PROT_NONE);
        tight_.push_back(slot);
    }
    return tight_[tight_used_++];
}

void Arena::protect() {
    mprotect(start_, up(used_, kPage), PROT_READ);
    for (std::size_t i = 0; i < tight_used_; ++i) mprotect(tight_[i], kPage, PROT_READ);
    protected_ = true;
}

void Arena::unprotect() {
    if (!protected_) return;
    reset();
    protected_ = false;
    mprotect(start_, up(used_, kPage), PROT_READ | PROT_WRITE);
    for (std::size_t i = 0; i < tight_used_; ++i) mprotect(tight_[i], kPage, PROT_READ | PROT_WRITE);
}

void Arena::remember() { remembered_.assign(start_, start_ + used_); }

const void* Arena::restore() {
    if (std::equal(remembered_.begin(), remembered_.end(), start_)) return nullptr;
    const auto changed = std::mismatch(remembered_.begin(), remembered_.end(), start_).second;
    std::memcpy(start_, remembered_.data(), remembered_.size());
    return changed;
}

bool Arena::holds(const char* address) const {
    if (address >= start_ && address < start_ + up(used_, kPage)) return true;
    const auto in_slot = [address](const char* slot) { return address >= slot && address < slot + kPage; };
    return std::any_of(tight_.begin(), tight_.begin() + static_cast<std::ptrdiff_t>(tight_used_), in_slot);
}

bool Arena::claim(void* address) noexcept {
    // The memory is readable, so a fault in it is a store.
    if (!protected_ || !holds(static_cast<char*>(address))) return false;
    auto* const page = reinterpret_cast<char*>(reinterpret_cast<std::uintptr_t>(address) & ~(kPage - 1));
    const std::size_t i = touched_.fetch_add(1, std::memory_order_relaxed);
    // The log holds the page as it was before the first store; pages beyond the log are not put back.
    if (i < log_.size()) {
        log_[i].page = page;
        log_[i].address = address;
        std::memcpy(log_[i].before.data(), page, kPage);
    }
    return mprotect(page, kPage, PROT_READ | PROT_WRITE) == 0;
}

const void* Arena::reset() {
    const std::size_t n = std::min(touched_.load(std::memory_order_acquire), log_.size());
    if (n == 0) return nullptr;
    // Backwards: if two threads stored into one page at once, the earlier copy is the clean one.
    for (std::size_t i = n; i-- > 0;) {
        std::memcpy(log_[i].page, log_[i].before.data(), kPage);
    }
    for (std::size_t i = 0; i < n; ++i) mprotect(log_[i].page, kPage, PROT_READ);
    touched_.store(0, std::memory_order_release);
    return log_[0].address;
}

}  // namespace selvage::conformance
