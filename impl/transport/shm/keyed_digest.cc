// See keyed_digest.h.
#include "impl/transport/shm/keyed_digest.h"

namespace selvage::impl::shm {

void keyed_digest(Bytes key, std::span<const Bytes> pieces, uint8_t (&out)[kDigestBytes]) {
    Hmac hmac(key.data(), key.size());
    for (const Bytes piece : pieces) {
        const auto size = static_cast<uint32_t>(piece.size());
        const uint8_t length[4] = {static_cast<uint8_t>(size >> 24), static_cast<uint8_t>(size >> 16),
                                   static_cast<uint8_t>(size >> 8), static_cast<uint8_t>(size)};
        hmac.add(length, sizeof length);
        hmac.add(piece.data(), piece.size());
    }
    hmac.finish(out);
}

}  // namespace selvage::impl::shm
