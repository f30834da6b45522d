// See kernel_symbols.h.
#include "conformance/base/kernel_symbols.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

namespace selvage::conformance {
namespace {

constexpr const char* kVariable = "SELVAGE_KERNEL_SYMBOLS";  // known to the hook, too

}  // namespace

KernelSymbols::KernelSymbols() : fd_(memfd_create("selvage-kernel-symbols", MFD_CLOEXEC | MFD_ALLOW_SEALING)) {
    if (fd_ < 0) return;
    const std::string path = "/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(fd_);
    setenv(kVariable, path.c_str(), 1);
}

KernelSymbols::~KernelSymbols() {
    if (fd_ < 0) return;
    unsetenv(kVariable);
    close(fd_);
}

}  // namespace selvage::conformance
