// The suites of workloads, by name: each is a command, `selvage bench NAME`.
//
// A new suite is a file that returns its workloads, and a line in suites.cc.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/bench/session.h"
#include "conformance/bench/workload.h"

namespace selvage::conformance::bench {

struct Suite {
    const char* name;
    const char* about;
    std::vector<Workload> (*workloads)();
    Session session = nullptr;                    ///< measures those of one provider together; nullptr: each by itself
    std::vector<Workload> (*floors)() = nullptr;  ///< what the machine could do without a library
    Session floor_session = nullptr;              ///< measures floors; its library is empty
};

std::span<const Suite> suites();
/// nullptr: there is none of that name.
const Suite* find_suite(std::string_view name);

}  // namespace selvage::conformance::bench
