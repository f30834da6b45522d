// A plot of figures over sizes, both axes logarithmic, as SVG text that needs nothing else.  Pure.
#pragma once

#include <string>
#include <vector>

#include "conformance/bench/workload.h"

namespace selvage::conformance::bench {

struct Point {
    double size;
    double value;
};

struct Curve {
    std::string label;
    std::string style;  ///< class of the page's style sheet
    std::vector<Point> points;
};

/// Empty if no curve has a point.
std::string plot(const std::string& title, Quantity quantity, const std::vector<Curve>& curves);

}  // namespace selvage::conformance::bench
