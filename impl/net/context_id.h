// Which context of a scalable endpoint an address means. Contexts share the address of their endpoint; where an address
// has to tell them apart, it has one of these numbers beside it: SocketAddress::context, or the end of a shm text.
//
//   0           the endpoint: its first receive context, which gets what names none; or an endpoint without contexts
//   1 ...       receive contexts, by index
//   0x8000 ...  transmit contexts, by index: nobody addresses them, but receivers tell their senders apart
#pragma once

#include "impl/net/address.h"

namespace selvage::impl {

inline constexpr size_t kContextsMax = 256;  // of one endpoint, in each direction

constexpr uint16_t receive_context(size_t index) { return static_cast<uint16_t>(index); }
constexpr uint16_t transmit_context(size_t index) { return static_cast<uint16_t>(0x8000 | index); }
constexpr bool is_transmit_context(uint16_t context) { return context & 0x8000; }
constexpr bool valid_context(uint16_t context) { return (context & 0x7fff) < kContextsMax; }

// How a text names it, behind the address of its endpoint: "/3", "/t3", or nothing.
void write_context(uint16_t context, char (&out)[8]);
// Makes the address of a context from that of its endpoint: "fi_shm://name/3", "fi_shm://name/t3". No name of an
// endpoint has a slash. False when there is no room.
bool add_context(uint16_t context, char (&text)[kShmTextMax]);
// The reverse; *context is 0 where the text names none. False for what add_context() never makes; anybody may have
// written the text.
bool take_context(char (&text)[kShmTextMax], uint16_t* context);

}  // namespace selvage::impl
