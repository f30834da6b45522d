// See plot.h.
#include "conformance/bench/plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "conformance/bench/figures.h"
#include "conformance/bench/transfer/plan.h"

namespace selvage::conformance::bench {
namespace {

constexpr double kWidth = 420, kHeight = 260, kLeft = 62, kRight = 12, kTop = 30, kBottom = 34;

/// One axis: values to places.
struct Axis {
    double low, high;  // logarithms
    double from, to;   // places
    [[nodiscard]] double at(double value) const {
        return from + (std::log10(value) - low) / (high - low) * (to - from);
    }
};

/// Full decades (or powers of two) around what is there; never empty.
Axis around(double least, double most, double from, double to) {
    const double low = std::floor(std::log10(least) + 1e-9);
    return {low, std::max(low + 1, std::ceil(std::log10(most) - 1e-9)), from, to};
}

std::string horizontal_lines(const Axis& y, Quantity quantity) {
    std::string out;
    for (int decade = static_cast<int>(y.low); decade <= static_cast<int>(y.high); ++decade) {
        const double value = std::pow(10, decade);
        out += fmt::format(
            "<line class=\"grid\" x1=\"{}\" x2=\"{}\" y1=\"{:.1f}\" y2=\"{:.1f}\"/><text class=\"tick end\" x=\"{}\" "
            "y=\"{:.1f}\">{}</text>",
            kLeft, kWidth - kRight, y.at(value), y.at(value), kLeft - 6, y.at(value) + 4, in_units(quantity, value));
    }
    return out;
}

std::string vertical_lines(const Axis& x, double least, double most) {
    std::string out;
    for (int power = 0; std::ldexp(1, power) <= most; power += 4) {
        const double size = std::ldexp(1, power);
        if (size < least) continue;
        out += fmt::format(
            "<line class=\"grid\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1}\" y2=\"{2}\"/><text class=\"tick mid\" "
            "x=\"{0:.1f}\" y=\"{3}\">{4}</text>",
            x.at(size), kTop, kHeight - kBottom, kHeight - kBottom + 16,
            transfer::in_bytes(static_cast<std::size_t>(size)));
    }
    return out;
}

std::string drawn(const Curve& curve, const Axis& x, const Axis& y, Quantity quantity) {
    std::string line;
    std::string dots;
    for (const auto& p : curve.points) {
        line += fmt::format("{}{:.1f},{:.1f}", line.empty() ? "" : " ", x.at(p.size), y.at(p.value));
        dots +=
            fmt::format("<circle class=\"{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"2.6\"><title>{}, {}: {}</title></circle>",
                        curve.style, x.at(p.size), y.at(p.value), curve.label,
                        transfer::in_bytes(static_cast<std::size_t>(p.size)), in_units(quantity, p.value));
    }
    return fmt::format("<polyline class=\"{}\" points=\"{}\"/>{}", curve.style, line, dots);
}

}  // namespace

std::string plot(const std::string& title, Quantity quantity, const std::vector<Curve>& curves) {
    std::vector<Point> all;
    for (const auto& c : curves) all.insert(all.end(), c.points.begin(), c.points.end());
    if (all.empty()) return {};
    const auto [small, large] =
        std::minmax_element(all.begin(), all.end(), [](auto& a, auto& b) { return a.size < b.size; });
    const auto [low, high] =
        std::minmax_element(all.begin(), all.end(), [](auto& a, auto& b) { return a.value < b.value; });
    Axis x{std::log10(small->size), std::log10(large->size), kLeft, kWidth - kRight};
    if (x.high <= x.low) x.high = x.low + 1;
    const Axis y = around(low->value, high->value, kHeight - kBottom, kTop);
    std::string out = fmt::format(
        "<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\"><text class=\"head\" x=\"{}\" "
        "y=\"18\">{}</text>",
        kWidth, kHeight, title, kLeft, title);
    out += horizontal_lines(y, quantity) + vertical_lines(x, small->size, large->size);
    for (const auto& c : curves) {
        if (!c.points.empty()) out += drawn(c, x, y, quantity);
    }
    return out + "</svg>\n";
}

}  // namespace selvage::conformance::bench
