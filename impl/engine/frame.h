// The unit that a transport moves: a header of 32 bytes, then `size` bytes of payload.
//
// Frames of one sender to one receiver arrive whole, once, and in the order they were sent. A transport looks at `size`
// alone; what the rest means is the engine's (protocol.h). Everything in a frame comes from another process and is
// checked by the engine before it is used.
#pragma once

#include <cstddef>
#include <cstdint>

namespace selvage::impl {

struct alignas(8) Header {
    uint32_t size;     // bytes of payload behind the header
    uint8_t op;        // engine: what the frame is (protocol.h)
    uint8_t flags;     // engine
    uint16_t aux;      // engine
    uint64_t word[3];  // engine: tag or key, data or address, length or operation
};
static_assert(sizeof(Header) == 32);

}  // namespace selvage::impl
