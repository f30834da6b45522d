// Which cores this process may use, and what two of them share.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

namespace selvage::conformance::bench {

std::vector<int> cores_allowed();
/// The cores of so many processes, by their number: the two that were chosen, then others of `allowed`, and from the
/// first again where these are too few.  Where none was chosen (-1), none is pinned.
std::vector<int> cores_of(std::size_t processes, const std::array<int, 2>& chosen, const std::vector<int>& allowed);
/// Whether two of them have the same core; unpinned ones, whether `allowed` are too few.
bool share_cores(const std::vector<int>& cores, const std::vector<int>& allowed);
/// "cores 0 and 1, which share a cache of 32768K (level 3)": as the kernel reports it, which a hypervisor may have made
/// up.
std::string placement_of(const std::array<int, 2>& cores);

}  // namespace selvage::conformance::bench
