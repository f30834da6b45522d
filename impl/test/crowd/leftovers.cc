// See leftovers.h.
#include "impl/test/crowd/leftovers.h"

#include <malloc.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace selvage::impl::test {

Holdings holdings() {
    Holdings result;
    for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
        ++result.descriptors;
    }
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) ++result.mappings;
    result.heap = mallinfo2().uordblks + mallinfo2().hblkhd;
    return result;
}

std::vector<std::string> shm_files() {
    const std::string prefix = "selvage-shm-" + std::to_string(geteuid()) + "-";
    std::vector<std::string> names;
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator("/dev/shm", ignored)) {
        if (entry.path().filename().string().starts_with(prefix)) names.push_back(entry.path().string());
    }
    std::sort(names.begin(), names.end());
    return names;
}

size_t shm_bytes(const std::string& file) {
    struct stat status {};
    return stat(file.c_str(), &status) ? 0 : static_cast<size_t>(status.st_blocks) * 512;
}

}  // namespace selvage::impl::test
