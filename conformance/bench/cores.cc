// See cores.h.
#include "conformance/bench/cores.h"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <fstream>
#include <sstream>

namespace selvage::conformance::bench {
namespace {

std::string line_of(const std::string& path) {
    std::ifstream in(path);
    std::string line;
    std::getline(in, line);
    return line;
}

/// Whether a list as the kernel writes it, "0-3,8", has the number.
bool has(const std::string& list, int expected) {
    std::istringstream in(list);
    for (std::string part; std::getline(in, part, ',');) {
        std::istringstream range(part);
        int first = -1;
        range >> first;
        int last = first;
        if (range.get() == '-') range >> last;
        if (first <= expected && expected <= last) return true;
    }
    return false;
}

}  // namespace

std::vector<int> cores_allowed() {
    cpu_set_t set;
    CPU_ZERO(&set);
    std::vector<int> out;
    if (sched_getaffinity(0, sizeof set, &set) != 0) return out;
    for (int core = 0; core < CPU_SETSIZE; ++core) {
        if (CPU_ISSET(static_cast<std::size_t>(core), &set)) out.push_back(core);
    }
    return out;
}

std::vector<int> cores_of(std::size_t processes, const std::array<int, 2>& chosen, const std::vector<int>& allowed) {
    std::vector<int> out(chosen.begin(), chosen.end());
    if (chosen[0] >= 0) {
        std::copy_if(allowed.begin(), allowed.end(), std::back_inserter(out),
                     [&](int core) { return core != chosen[0] && core != chosen[1]; });
    }
    const std::size_t different = out.size();
    while (out.size() < processes) out.push_back(out[out.size() - different]);
    out.resize(processes);
    return out;
}

bool share_cores(const std::vector<int>& cores, const std::vector<int>& allowed) {
    if (cores.front() < 0) return cores.size() > allowed.size();
    return std::count(cores.begin(), cores.end(), cores.front()) > 1;
}

std::string placement_of(const std::array<int, 2>& cores) {
    const std::string both = fmt::format("cores {} and {}", cores[0], cores[1]);
    constexpr int kCaches = 8;
    for (int index = 0; index < kCaches; ++index) {
        const std::string cache = fmt::format("/sys/devices/system/cpu/cpu{}/cache/index{}/", cores[0], index);
        if (!has(line_of(cache + "shared_cpu_list"), cores[1])) continue;
        return fmt::format("{}, which share a cache of {} (level {})", both, line_of(cache + "size"),
                           line_of(cache + "level"));
    }
    return both + ", which share no cache";
}

}  // namespace selvage::conformance::bench
