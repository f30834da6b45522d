// See own_shm.h.
#include "conformance/base/own_shm.h"

#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <filesystem>
#include <string>

namespace selvage::conformance {
namespace {

constexpr const char* kShm = "/dev/shm";
// A file shorter than a huge page has small ones: the rest of a huge one would be cleared in vain.
constexpr const char* kOptions = "mode=1777,huge=within_size";

bool is_there(std::string_view path) { return path.find(kShm) != std::string_view::npos; }

bool something_would_be_hidden(std::string_view library) {
    for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable)
        if (is_there(*variable)) return true;
    std::error_code failed;
    return is_there(library) || is_there(std::filesystem::weakly_canonical(library, failed).native()) || failed ||
           is_there(std::filesystem::current_path(failed).native()) || failed;
}

}  // namespace

bool use_own_shm(std::string_view library) {
    if (something_would_be_hidden(library) || unshare(CLONE_NEWNS) != 0) return false;
    // What is mounted here shows nowhere else.
    if (mount(nullptr, "/", nullptr, MS_REC | MS_SLAVE, nullptr) != 0) return false;
    return mount("tmpfs", kShm, "tmpfs", MS_NOSUID | MS_NODEV, kOptions) == 0;
}

}  // namespace selvage::conformance
