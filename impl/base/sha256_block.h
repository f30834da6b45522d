// One block of SHA-256 (FIPS 180-4): by the processor's instructions where it has them, else by plain ones.
//
// Six digests are computed between two endpoints of this machine that meet, and eight over tcp: 2.5 us each by plain
// instructions, which is a quarter of the time to the first message.
#pragma once

#include <cstdint>

namespace selvage::impl {

/// Mixes the 64 bytes at `bytes` into `state`.
void sha256_block(uint32_t (&state)[8], const uint8_t* bytes);

/// The same by plain instructions.
void sha256_block_plain(uint32_t (&state)[8], const uint8_t* bytes);

}  // namespace selvage::impl
