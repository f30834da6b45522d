// Proof of a shared key: HMAC-SHA256 (RFC 2104, FIPS 180-4) over a few pieces of data.
//
// The pieces are joined with their lengths, so that no two lists of pieces give the same text.
#ifndef SELVAGE_IMPL_TRANSPORT_SHM_KEYED_DIGEST_H
#define SELVAGE_IMPL_TRANSPORT_SHM_KEYED_DIGEST_H

#include <cstddef>
#include <cstdint>
#include <span>

namespace selvage::impl::shm {

inline constexpr size_t kDigestBytes = 32;

using Bytes = std::span<const uint8_t>;

// Keys of more than 64 bytes are hashed first, as the RFC says.
void keyed_digest(Bytes key, std::span<const Bytes> pieces, uint8_t (&out)[kDigestBytes]);

// The digest of a plain text without a key.
void plain_digest(Bytes text, uint8_t (&out)[kDigestBytes]);

// Compares in a time that does not depend on where they differ.
bool same_digest(const uint8_t (&a)[kDigestBytes], const uint8_t (&b)[kDigestBytes]);

}  // namespace selvage::impl::shm

#endif
