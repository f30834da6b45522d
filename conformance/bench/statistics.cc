// See statistics.h.
#include "conformance/bench/statistics.h"

#include <algorithm>
#include <cmath>

namespace selvage::conformance::bench {

double quantile(std::span<const double> samples, double share) {
    if (samples.empty()) return 0;
    std::vector<double> sorted(samples.begin(), samples.end());
    std::sort(sorted.begin(), sorted.end());
    const double place = std::clamp(share, 0.0, 1.0) * static_cast<double>(sorted.size() - 1);
    const auto below = static_cast<std::size_t>(place);
    const auto above = std::min(below + 1, sorted.size() - 1);
    return std::lerp(sorted[below], sorted[above], place - static_cast<double>(below));
}

Summary summarise(std::span<const std::vector<double>> runs) {
    std::vector<double> medians;
    std::vector<double> all;
    for (const auto& run : runs) {
        if (run.empty()) continue;
        medians.push_back(median(run));
        all.insert(all.end(), run.begin(), run.end());
    }
    return {median(medians), quantile(all, 0.99), all.size()};
}

}  // namespace selvage::conformance::bench
