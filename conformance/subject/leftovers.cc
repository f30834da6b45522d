// See leftovers.h.
#include "conformance/subject/leftovers.h"

#include <dirent.h>
#include <sys/mman.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <string_view>

namespace selvage::conformance {

void remove_leftovers_of_namesakes() {
    const auto close_it = [](DIR* directory) { closedir(directory); };
    const std::unique_ptr<DIR, decltype(close_it)> directory(opendir("/dev/shm"), close_it);
    if (!directory) return;
    const std::string mine = std::to_string(getpid()) + ':';
    while (const dirent* entry = readdir(directory.get()))
        if (std::string_view(entry->d_name).starts_with(mine)) shm_unlink(entry->d_name);
}

}  // namespace selvage::conformance
