// The text of /proc/kallsyms, made by the kernel once for all processes of a run.
//
// A library that looks for a driver there, as Debian's libfabric does twice in its first fi_getinfo, has the kernel
// make five megabytes of text for each reader.  The first process that opens it makes a copy in memory; the processes
// of the run find that by the environment and read it (kernel_symbols_hook.c).
#pragma once

#include <string_view>

namespace selvage::conformance {

/// While it lives, the processes that this one starts share a copy.  Made before other threads run.
class KernelSymbols {
public:
    /// Where no copy can be had, each process asks the kernel.
    KernelSymbols();
    ~KernelSymbols();
    KernelSymbols(const KernelSymbols&) = delete;
    KernelSymbols& operator=(const KernelSymbols&) = delete;

private:
    int fd_;
};

/// The source of kernel_symbols_hook.c, for programs that are not linked with it.
std::string_view kernel_symbols_hook();

}  // namespace selvage::conformance
