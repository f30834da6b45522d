// Rivals that are no libfabric: each is measured by a tool of its own, which bench runs and whose output it reads.
//
// A tool measures the rows that it has a counterpart of, one after another; it is a Session as a library's is, in a
// child process, so that one that crashes or hangs costs one row.  Every process that it starts is bounded in time and
// ends with the child.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "conformance/bench/session.h"

namespace selvage::conformance::bench {

struct Tool {
    const char* name;                       ///< as `--against` takes it
    const char* about;                      ///< what is measured, in a few words
    std::string (*identify)(Side& side);    ///< as bench::identify
    bool (*has)(const Workload& workload);  ///< whether it has a counterpart
    Session session;                        ///< `library` is Side::path
};

std::span<const Tool> tools();
/// nullptr: there is none of that name.
const Tool* find_tool(std::string_view name);

}  // namespace selvage::conformance::bench
