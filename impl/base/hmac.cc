// See hmac.h.
#include "impl/base/hmac.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace selvage::impl {
namespace {

// The first 32 bits of the fractional parts of the cube roots of the first 64 primes.
constexpr uint32_t kRound[64] = {
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

void store_big(uint8_t* bytes, uint32_t value) {
    for (int i = 0; i < 4; ++i) bytes[i] = static_cast<uint8_t>(value >> (24 - 8 * i));
}

}  // namespace

void Sha256::block(const uint8_t* bytes) {
    uint32_t w[64];
    for (int i = 0; i < 16; ++i) w[i] = load_big(bytes + 4 * i);
    for (int i = 16; i < 64; ++i) {
        const uint32_t s0 = std::rotr(w[i - 15], 7) ^ std::rotr(w[i - 15], 18) ^ (w[i - 15] >> 3);
        const uint32_t s1 = std::rotr(w[i - 2], 17) ^ std::rotr(w[i - 2], 19) ^ (w[i - 2] >> 10);
        w[i] = w[i - 16] + s0 + w[i - 7] + s1;
    }
    uint32_t v[8];
    memcpy(v, state_, sizeof v);
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
    for (int i = 0; i < 8; ++i) state_[i] += v[i];
}

void Sha256::add(const void* data, size_t size) {
    const auto* bytes = static_cast<const uint8_t*>(data);
    while (size) {
        const size_t used = total_ % sizeof waiting_;
        const size_t taken = std::min(size, sizeof waiting_ - used);
        memcpy(waiting_ + used, bytes, taken);
        total_ += taken;
        bytes += taken;
        size -= taken;
        if (total_ % sizeof waiting_ == 0) block(waiting_);
    }
}

void Sha256::finish(uint8_t (&digest)[kDigestBytes]) {
    const uint64_t bits = total_ * 8;
    const uint8_t end = 0x80, zero = 0;
    add(&end, 1);
    while (total_ % sizeof waiting_ != 56) add(&zero, 1);
    uint8_t length[8];
    store_big(length, static_cast<uint32_t>(bits >> 32));
    store_big(length + 4, static_cast<uint32_t>(bits));
    add(length, sizeof length);
    for (int i = 0; i < 8; ++i) store_big(digest + 4 * i, state_[i]);
}

Hmac::Hmac(const void* key, size_t key_size) {
    uint8_t block[64] = {};
    if (key_size > sizeof block) {
        uint8_t digest[kDigestBytes];
        Sha256 hash;
        hash.add(key, key_size);
        hash.finish(digest);
        memcpy(block, digest, sizeof digest);
    } else if (key_size) {
        memcpy(block, key, key_size);
    }
    for (size_t i = 0; i < sizeof block; ++i) outer_key_[i] = block[i] ^ 0x5c;
    for (uint8_t& byte : block) byte ^= 0x36;
    inner_.add(block, sizeof block);
}

void Hmac::finish(uint8_t (&digest)[kDigestBytes]) {
    uint8_t inner[kDigestBytes];
    inner_.finish(inner);
    Sha256 outer;
    outer.add(outer_key_, sizeof outer_key_);
    outer.add(inner, sizeof inner);
    outer.finish(digest);
}

bool same_digest(const uint8_t (&a)[kDigestBytes], const uint8_t (&b)[kDigestBytes]) {
    unsigned difference = 0;
    for (size_t i = 0; i < kDigestBytes; ++i) difference |= static_cast<unsigned>(a[i] ^ b[i]);
    return difference == 0;
}

}  // namespace selvage::impl
