// A copy that some processors are slow at. Any thread.
//
// Copying by strings (rep movsb) goes byte by byte on AMD's Zen 3 where the destination lies 1 to 31 bytes ahead of the
// source, modulo 4 KiB: 16 KiB take 5.4 us in place of 0.2. memcpy of glibc and the kernel copy by strings from 1 or
// 2 KiB on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace selvage::impl {

inline bool is_just_ahead(const void* to, const void* from) {
    constexpr uintptr_t kPage = 4096, kAhead = 31;
    return ((reinterpret_cast<uintptr_t>(to) - reinterpret_cast<uintptr_t>(from)) & (kPage - 1)) - 1 < kAhead;
}

// As fast wherever both lie.
[[gnu::noinline]] inline void copy_by_words(std::byte* to, const std::byte* from, size_t size) {
    uint64_t words[8];
    for (; size >= sizeof words; size -= sizeof words, to += sizeof words, from += sizeof words) {
        memcpy(words, from, sizeof words);
        memcpy(to, words, sizeof words);
    }
    memcpy(to, from, size);
}

// memcpy, but where it would be slow.
inline void copy_bytes(std::byte* to, const std::byte* from, size_t size) {
    constexpr size_t kByStrings = 1024;
    if (size < kByStrings || !is_just_ahead(to, from)) [[likely]] {
        memcpy(to, from, size);
    } else {
        copy_by_words(to, from, size);
    }
}

}  // namespace selvage::impl
