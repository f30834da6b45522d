// Proof of a shared key over a few pieces of data: their HMAC-SHA256, joined with their lengths, so that no two lists
// of pieces give the same text.
#pragma once

#include <span>

#include "impl/base/hmac.h"

namespace selvage::impl::shm {

using Bytes = std::span<const uint8_t>;

void keyed_digest(Bytes key, std::span<const Bytes> pieces, uint8_t (&out)[kDigestBytes]);

}  // namespace selvage::impl::shm
