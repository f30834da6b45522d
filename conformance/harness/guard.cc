// See guard.h.
#include "conformance/harness/guard.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <stdexcept>

namespace selvage::conformance {
namespace {

constexpr char kCanary = '\x5a';

std::size_t page_size() {
    static const auto size = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    return size;
}

}  // namespace

GuardedBuffer::GuardedBuffer(std::size_t capacity)
    // One page more than asked for, so that canaries fit before the longest view.
    : capacity_(capacity), room_((capacity / page_size() + 2) * page_size()) {
    void* memory = mmap(nullptr, room_ + page_size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    start_ = static_cast<char*>(memory);
    view_ = start_ + room_;
    if (mprotect(view_, page_size(), PROT_NONE) != 0) throw std::bad_alloc();
    std::memset(start_, kCanary, room_);
}

GuardedBuffer::~GuardedBuffer() { munmap(start_, room_ + page_size()); }

char* GuardedBuffer::take(std::size_t length, char fill) {
    if (length > capacity_) throw std::length_error("a view longer than its guarded buffer");
    std::memset(start_, kCanary, room_);
    view_ = start_ + room_ - length;
    std::memset(view_, fill, length);
    return view_;
}

bool GuardedBuffer::intact() const {
    return std::all_of(start_, view_, [](char c) { return c == kCanary; });
}

bool GuardedBuffer::guards(const void* address) const {
    const char* const a = static_cast<const char*>(address);
    return a >= start_ + room_ && a < start_ + room_ + page_size();
}

}  // namespace selvage::conformance
