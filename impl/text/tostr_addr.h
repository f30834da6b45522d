// Addresses as text, one form per address format, each with a scheme in front as in "fi_sockaddr_in://10.0.0.1:80".
//
// Invariants: never reads past length bytes of the address, whatever the format asks for, and needs no alignment. An
// address that its format cannot explain (too short, unknown family or format) is shown as its bytes in hexadecimal.
// Pure functions: any thread.
#pragma once

#include "impl/text/tostr_writer.h"

#include <cstddef>
#include <cstdint>

namespace selvage::impl {

// address == nullptr shows "(null)".
void write_address(TextWriter& out, std::uint32_t format, const void* address, std::size_t length) noexcept;

// The sixteen bytes of an IPv6 address (or a GID) in the shortest usual form, without brackets.
void write_ipv6(TextWriter& out, const std::uint8_t* bytes) noexcept;

}  // namespace selvage::impl
