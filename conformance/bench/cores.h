// Which cores this process may use, and what two of them share.
#pragma once

#include <array>
#include <string>
#include <vector>

namespace selvage::conformance::bench {

std::vector<int> cores_allowed();
/// "cores 0 and 1, which share a cache of 32768K (level 3)": as the kernel tells it, which a hypervisor may have made
/// up.
std::string placement_of(const std::array<int, 2>& cores);

}  // namespace selvage::conformance::bench
