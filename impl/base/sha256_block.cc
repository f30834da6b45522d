// See sha256_block.h.
#include "impl/base/sha256_block.h"

#include <bit>
#include <cstring>

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

namespace selvage::impl {
namespace {

// The first 32 bits of the fractional parts of the cube roots of the first 64 primes.
alignas(16) constexpr uint32_t kRound[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

uint32_t load_big(const uint8_t* bytes) {
    return static_cast<uint32_t>(bytes[0]) << 24 | static_cast<uint32_t>(bytes[1]) << 16 |
           static_cast<uint32_t>(bytes[2]) << 8 | bytes[3];
}

}  // namespace

void sha256_block_plain(uint32_t (&state)[8], const uint8_t* bytes) {
    uint32_t w[64];
    for (int i = 0; i < 16; ++i) w[i] = load_big(bytes + 4 * i);
    for (int i = 16; i < 64; ++i) {
        const uint32_t s0 = std::rotr(w[i - 15], 7) ^ std::rotr(w[i - 15], 18) ^ (w[i - 15] >> 3);
        const uint32_t s1 = std::rotr(w[i - 2], 17) ^ std::rotr(w[i - 2], 19) ^ (w[i - 2] >> 10);
        w[i] = w[i - 16] + s0 + w[i - 7] + s1;
    }
    uint32_t v[8];
    memcpy(v, state, sizeof v);
    for (int i = 0; i < 64; ++i) {
        const uint32_t e = v[4], a = v[0];
        const uint32_t choice = (e & v[5]) ^ (~e & v[6]);
        const uint32_t t1 = v[7] + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) + choice + kRound[i] + w[i];
        const uint32_t majority = (a & v[1]) ^ (a & v[2]) ^ (v[1] & v[2]);
        const uint32_t t2 = (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) + majority;
        memmove(v + 1, v, 7 * sizeof v[0]);
        v[4] += t1;
        v[0] = t1 + t2;
    }
    for (int i = 0; i < 8; ++i) state[i] += v[i];
}

#if defined(__x86_64__)

namespace {

const bool kHasInstructions = [] {
    unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
    if (!__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) || !(ebx & bit_SHA)) return false;
    return __get_cpuid(1, &eax, &ebx, &ecx, &edx) && (ecx & bit_SSSE3) && (ecx & bit_SSE4_1);
}();

// Intel's order of the state: the instruction for two rounds takes A, B, E, F in one register and C, D, G, H in the
// other, highest first.
__attribute__((target("sha,sse4.1"))) void block_by_instructions(uint32_t (&state)[8], const uint8_t* bytes) {
    auto* const halves = reinterpret_cast<__m128i*>(state);
    const __m128i badc = _mm_shuffle_epi32(_mm_loadu_si128(halves), 0xb1);
    const __m128i hgfe = _mm_shuffle_epi32(_mm_loadu_si128(halves + 1), 0x1b);
    __m128i abef = _mm_alignr_epi8(badc, hgfe, 8);
    __m128i cdgh = _mm_blend_epi16(hgfe, badc, 0xf0);
    const __m128i abef_before = abef, cdgh_before = cdgh;
    const __m128i big_endian = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
    __m128i words[4];  // the sixteen last ones of the schedule
#pragma GCC unroll 16  // or else the words are in memory, and each waits for the one before
    for (int i = 0; i < 16; ++i) {
        __m128i& next = words[i % 4];
        if (i < 4) {
            const auto* const at = reinterpret_cast<const __m128i*>(bytes + 16 * i);
            next = _mm_shuffle_epi8(_mm_loadu_si128(at), big_endian);
        } else {
            const __m128i last = words[(i + 3) % 4];
            const __m128i sum = _mm_add_epi32(_mm_sha256msg1_epu32(next, words[(i + 1) % 4]),
                                              _mm_alignr_epi8(last, words[(i + 2) % 4], 4));
            next = _mm_sha256msg2_epu32(sum, last);
        }
        const auto* const round = reinterpret_cast<const __m128i*>(kRound + 4 * i);
        const __m128i sums = _mm_add_epi32(next, _mm_load_si128(round));
        cdgh = _mm_sha256rnds2_epu32(cdgh, abef, sums);
        abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(sums, 0x0e));
    }
    const __m128i feba = _mm_shuffle_epi32(_mm_add_epi32(abef, abef_before), 0x1b);
    const __m128i dchg = _mm_shuffle_epi32(_mm_add_epi32(cdgh, cdgh_before), 0xb1);
    _mm_storeu_si128(halves, _mm_blend_epi16(feba, dchg, 0xf0));
    _mm_storeu_si128(halves + 1, _mm_alignr_epi8(dchg, feba, 8));
}

}  // namespace

void sha256_block(uint32_t (&state)[8], const uint8_t* bytes) {
    kHasInstructions ? block_by_instructions(state, bytes) : sha256_block_plain(state, bytes);
}

#else

void sha256_block(uint32_t (&state)[8], const uint8_t* bytes) { sha256_block_plain(state, bytes); }

#endif

}  // namespace selvage::impl
