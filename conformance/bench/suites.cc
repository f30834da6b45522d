// See suites.h.
#include "conformance/bench/suites.h"

#include "conformance/bench/getinfo.h"

namespace selvage::conformance::bench {
namespace {

constexpr Suite kSuites[] = {
    {"getinfo", "what discovery costs: fi_getinfo and what goes with it", getinfo_workloads},
};

}  // namespace

std::span<const Suite> suites() { return kSuites; }

const Suite* find_suite(std::string_view name) {
    for (const auto& s : kSuites) {
        if (name == s.name) return &s;
    }
    return nullptr;
}

}  // namespace selvage::conformance::bench
