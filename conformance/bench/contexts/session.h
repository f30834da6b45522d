// The suite `contexts`: contexts of one scalable endpoint beside as many endpoints, one thread on each side.
#pragma once

#include <vector>

#include "conformance/bench/session.h"

namespace selvage::conformance::bench::contexts {

std::vector<Workload> context_workloads();
void context_session(const std::string& library, Rows rows, const Setting& setting, const Tell& tell);

}  // namespace selvage::conformance::bench::contexts
