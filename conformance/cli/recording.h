// A program that runs with the recorder loaded.
#pragma once

#include <string>
#include <vector>

namespace selvage::conformance {

struct Recording {
    std::vector<std::string> command;
    std::string output = "selvage-%p.trace";  ///< %p is the number of the process
    std::string library;                      ///< a libfabric.so.1 to run the program on; empty: its own
    bool data = false;                        ///< what is sent is written down, too
};

/// Becomes the program.  Comes back only if it can't, with one line that says why.  Single-threaded callers only.
std::string become_recorded(const Recording& recording);

}  // namespace selvage::conformance
