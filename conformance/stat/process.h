// Processes and the files of counters that they keep, found in /proc.
#pragma once

#include <string>
#include <vector>

#include "conformance/stat/stat_file.h"

namespace selvage::conformance {

struct ProcessStat {
    int pid = 0;
    std::string command;   ///< as the kernel calls it; any bytes but NUL
    bool damaged = false;  ///< it keeps a file that is none
    StatSnapshot snapshot;
};

/// The counters of a process.  @return false and why there are none, as the end of a sentence that begins with "process
/// PID".
bool read_process(int pid, ProcessStat& out, std::string& error);

/// The processes whose effective user is the caller's, in ascending order.
std::vector<int> own_processes();

}  // namespace selvage::conformance
