// The rivals `ucx` and `ucx-app`: UCX by its own ucx_perftest, two processes for each row.
//
// The first accesses memory that UCX has made, which both processes map; the second, in rows of one-sided operations
// alone, memory as an application has it, which is what the interface registers.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "conformance/bench/tools.h"

namespace selvage::conformance::bench::rival {

std::string identify_ucx(Side& side);
bool ucx_has(const Workload& workload);
bool ucx_accesses(const Workload& workload);
void ucx_session(const std::string& program, Rows rows, const Setting& setting, const Tell& tell);
void ucx_app_session(const std::string& program, Rows rows, const Setting& setting, const Tell& tell);

/// Operations per second of a line of `ucx_perftest -f -v`: eight numbers between commas, of which the last is the rate
/// over the whole run.  Nothing for other lines.
std::optional<double> ucx_rate(std::string_view line);

}  // namespace selvage::conformance::bench::rival
