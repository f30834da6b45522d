// Copies of payload into a ring.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "impl/base/copy.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace selvage::impl::shm {

template <typename Word>
inline void move_word(std::byte* to, const std::byte* from) {
    Word word;
    memcpy(&word, from, sizeof word);
    memcpy(to, &word, sizeof word);
}

// Up to 32 bytes, in at most two moves of fixed width.
inline void copy_small(std::byte* to, const std::byte* from, size_t size) {
    struct Sixteen {
        uint64_t words[2];
    };
    if (size == 8) {
        move_word<uint64_t>(to, from);
    } else if (size >= 16) {
        move_word<Sixteen>(to, from);
        move_word<Sixteen>(to + size - 16, from + size - 16);
    } else if (size > 8) {
        move_word<uint64_t>(to, from);
        move_word<uint64_t>(to + size - 8, from + size - 8);
    } else if (size >= 4) {
        move_word<uint32_t>(to, from);
        move_word<uint32_t>(to + size - 4, from + size - 4);
    } else if (size) {
        to[0] = from[0];
        to[size / 2] = from[size / 2];
        to[size - 1] = from[size - 1];
    }
}

// To the beginning of a line, and never by a store into two lines: one of those waits for both.
inline void copy_lines(std::byte* to, const std::byte* from, size_t size) {
    constexpr size_t kLineBytes = 64;
    struct Half {
        uint64_t words[4];
    };
    for (; size >= kLineBytes; size -= kLineBytes, to += kLineBytes, from += kLineBytes) {
        move_word<Half>(to, from);
        move_word<Half>(to + sizeof(Half), from + sizeof(Half));
    }
    if (size > sizeof(Half)) {
        move_word<Half>(to, from);
        to += sizeof(Half), from += sizeof(Half), size -= sizeof(Half);
    }
    copy_small(to, from, size);
}

#if defined(__x86_64__)

// The processor has fast string moves. They take lines that another processor holds without reading them first, which
// plain stores cannot: between 1 and 4 KiB a stream is a quarter to a half faster (docs/performance-shm.md).
inline const bool kFastStrings = [] {
    unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
    return __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) && (ebx & (1u << 9));
}();
inline constexpr size_t kFastStringsMin = 1024;

// Lines that the other processor has are asked for before anything is stored to them: all of a frame, and on Intel's
// processors those of frames to come, too. Stores wait for one line after the other there, 45 ns each; on AMD's, whose
// string moves need not have a line to begin with, asking for more than the frame's own loses
// (docs/performance-shm.md).
inline constexpr bool kAsksForLines = true;
inline const bool kAsksForNextLines = [] {
    unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
    return __get_cpuid(0, &eax, &ebx, &ecx, &edx) && ebx == signature_INTEL_ebx && ecx == signature_INTEL_ecx;
}();
// One move of 4 KiB takes longer than two of 2; from 8 KiB on, one is the fastest again. Measured on Zen 5.
inline constexpr size_t kPiecesMax = 6 * 1024;
inline constexpr size_t kPiece = 2 * 1024;

inline void copy_large(std::byte* to, const std::byte* from, size_t size) {
    if (size < kFastStringsMin || !kFastStrings) {
        memcpy(to, from, size);
        return;
    }
    if (is_just_ahead(to, from)) [[unlikely]]
        return copy_by_words(to, from, size);
    if (size <= kPiecesMax) {
        for (; size > kPiece; size -= kPiece) {
            size_t count = kPiece;
            asm volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(count) : : "memory");
        }
    }
    asm volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(size) : : "memory");
}

#else

inline constexpr bool kAsksForLines = false;
inline constexpr bool kAsksForNextLines = false;

inline void copy_large(std::byte* to, const std::byte* from, size_t size) { memcpy(to, from, size); }

#endif

}  // namespace selvage::impl::shm
