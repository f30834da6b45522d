// See leftovers.h.
#include "conformance/base/leftovers.h"

#include <dirent.h>
#include <sys/mman.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <string_view>

namespace selvage::conformance {

void remove_leftovers_of_namesakes() { remove_leftovers_of(getpid()); }

void remove_leftovers_of(pid_t process) {
    const auto close_it = [](DIR* directory) { closedir(directory); };
    const std::unique_ptr<DIR, decltype(close_it)> directory(opendir("/dev/shm"), close_it);
    if (!directory) return;
    const std::string mine = std::to_string(process) + ':';
    while (const dirent* entry = readdir(directory.get()))
        if (std::string_view(entry->d_name).starts_with(mine)) shm_unlink(entry->d_name);
}

}  // namespace selvage::conformance
