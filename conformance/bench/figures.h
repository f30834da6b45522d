// How figures are written for people: the same words in the table and on the page.
#pragma once

#include <optional>
#include <string>

#include "conformance/bench/pairs.h"

namespace selvage::conformance::bench {

/// "1.23 us", "42.0 GB/s"; "-" for nothing.
std::string in_units(Quantity quantity, double value);
/// "2.50x"; "-" if not known.
std::string as_ratio(double ratio);
/// "1,234"; "-" if not counted.
std::string as_count(const std::optional<double>& count);
/// What is asked of a workload: "< 2.00 us, >= 4x".
std::string in_words(const Workload& w);
/// The same with "met", "MISSED" or "not known"; empty without a goal.
std::string verdict(const Result& result);

}  // namespace selvage::conformance::bench
