// HMAC-SHA256 (RFC 2104, FIPS 180-4): the keyed digest by which two peers show each other that they hold the same
// domain auth_key.
//
// In the library, because the kernel's (AF_ALG) is often forbidden in containers and costs two descriptors, and a
// cryptography library would be a dependency of every program. SHA-256 rather than a short keyed hash, as keys may be
// up to 64 bytes and an attacker can keep a transcript for as long as he likes. Runs a few times per pair of peers.
#pragma once

#include <cstddef>
#include <cstdint>

namespace selvage::impl {

inline constexpr size_t kDigestBytes = 32;

class Sha256 {
public:
    void add(const void* data, size_t size);
    void finish(uint8_t (&digest)[kDigestBytes]);

private:
    void block(const uint8_t* bytes);

    uint32_t state_[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                          0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    uint8_t waiting_[64];
    uint64_t total_ = 0;
};

class Hmac {
public:
    Hmac(const void* key, size_t key_size);
    void add(const void* data, size_t size) { inner_.add(data, size); }
    void finish(uint8_t (&digest)[kDigestBytes]);

private:
    Sha256 inner_;
    uint8_t outer_key_[64];
};

// Takes the same time wherever they differ.
bool same_digest(const uint8_t (&a)[kDigestBytes], const uint8_t (&b)[kDigestBytes]);

}  // namespace selvage::impl
