// The suite `getinfo`: what discovery costs an application, from loading the library to an open domain.
#pragma once

#include <vector>

#include "conformance/bench/workload.h"

namespace selvage::conformance::bench {

std::vector<Workload> getinfo_workloads();

}  // namespace selvage::conformance::bench
