// See hmac.h.
#include "impl/base/hmac.h"

#include <algorithm>
#include <cstring>

#include "impl/base/sha256_block.h"

namespace selvage::impl {
namespace {

void store_big(uint8_t* bytes, uint32_t value) {
    for (int i = 0; i < 4; ++i) bytes[i] = static_cast<uint8_t>(value >> (24 - 8 * i));
}

}  // namespace

void Sha256::block(const uint8_t* bytes) { sha256_block(state_, bytes); }

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
