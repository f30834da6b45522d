// The suite `collective`: what collective operations cost among two, four and eight processes.
#pragma once

#include <vector>

#include "conformance/bench/session.h"

namespace selvage::conformance::bench::collective {

std::vector<Workload> collective_workloads();
/// The first member is the process that measures; the others are made for each number of members.
void collective_session(const std::string& library, Rows rows, const Setting& setting, const Tell& tell);

}  // namespace selvage::conformance::bench::collective
