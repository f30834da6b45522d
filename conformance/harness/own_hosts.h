// The addresses of this machine, as its operating system lists them: nothing of it comes from the library under test.
//
// Any thread.
#pragma once

#include <string>
#include <vector>

namespace selvage::conformance {

/// The IPv4 and IPv6 hosts of all interfaces, 4 or 16 bytes each, in network order; empty if they cannot be listed.
std::vector<std::string> own_hosts();

}  // namespace selvage::conformance
