// Addresses and keys as text, to and from raw bytes.
//
//   sockaddr_in:192.0.2.2:7471   or without the prefix    16 bytes, as struct sockaddr_in
//   sockaddr_in6:[fe80::1%2]:0   or without the prefix    28 bytes, as struct sockaddr_in6; %2 is the scope's number
//   str:"fi_shm://1"                                      the characters and the NUL that ends them
//   hex:0a0b0c                                            these bytes; hex: alone is no byte at all, which is not NULL
//
// Invariant: what print_address makes is read back as exactly the same bytes; bytes that no other form reproduces are
// printed as hex.  Private to model/text.  Pure; any thread.
#pragma once

#include <string>

#include "model/text/scan.h"
#include "model/value/info.h"

namespace selvage::model {

/// Reads an address, key or NULL.
bool read_address(Scanner& in, Text& out);
/// Bytes in the form that `addr_format` lets one expect.
std::string print_address(std::string_view bytes, std::uint64_t addr_format);
/// Bytes as hex:….
std::string print_bytes(std::string_view bytes);

}  // namespace selvage::model
