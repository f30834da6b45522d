// The few figures that a benchmark prints, of samples in any unit.  Pure functions.
#pragma once

#include <span>
#include <vector>

namespace selvage::conformance::bench {

/// The value below which `share` (0 to 1) of the samples lie, between neighbours interpolated; 0 without samples.
double quantile(std::span<const double> samples, double share);
inline double median(std::span<const double> samples) { return quantile(samples, 0.5); }

/// What is reported of one library in one workload.  Runs weigh the same, however many samples each has.
struct Summary {
    double median = 0;  ///< of the medians of the runs
    double p99 = 0;     ///< of all samples
    std::size_t samples = 0;
};

Summary summarise(std::span<const std::vector<double>> runs);

}  // namespace selvage::conformance::bench
