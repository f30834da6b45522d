// See figures.h.
#include "conformance/bench/figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace selvage::conformance::bench {

std::string in_units(Quantity quantity, double value) {
    if (value <= 0) return "-";
    struct Step {
        double from;
        const char* unit;
    };
    constexpr std::array kTime = {Step{1e9, "s"}, Step{1e6, "ms"}, Step{1e3, "us"}, Step{0, "ns"}};
    constexpr std::array kRate = {Step{1e9, "GB/s"}, Step{1e6, "MB/s"}, Step{1e3, "kB/s"}, Step{0, "B/s"}};
    constexpr std::array kMessages = {Step{1e9, "G/s"}, Step{1e6, "M/s"}, Step{1e3, "k/s"}, Step{0, "/s"}};
    constexpr std::array kMemory = {Step{1 << 30, "GiB"}, Step{1 << 20, "MiB"}, Step{1 << 10, "KiB"}, Step{0, "B"}};
    const std::array all = {&kTime, &kRate, &kMessages, &kMemory};
    const auto& steps = *all[static_cast<std::size_t>(quantity)];
    const auto* step = std::find_if(steps.begin(), steps.end(), [&](const Step& s) { return value >= s.from; });
    const double scaled = step->from > 0 ? value / step->from : value;
    return fmt::format("{:.{}f} {}", scaled, scaled < 10 ? 2 : scaled < 100 ? 1 : 0, step->unit);
}

std::string as_ratio(double ratio) {
    if (ratio <= 0) return "-";
    return fmt::format("{:.{}f}x", ratio, ratio < 10 ? 2 : ratio < 100 ? 1 : 0);
}

std::string as_count(const std::optional<double>& instructions) {
    if (!instructions) return "-";
    const std::string digits = fmt::format("{:.0f}", *instructions);
    std::string out;
    for (std::size_t i = 0; i < digits.size(); ++i) {
        if (i != 0 && (digits.size() - i) % 3 == 0) out += ',';
        out += digits[i];
    }
    return out;
}

std::string in_words(const Workload& w) {
    std::string out;
    if (w.goal.below > 0) {
        out = fmt::format("{} {}", less_is_better(w.quantity) ? '<' : '>', in_units(w.quantity, w.goal.below));
    }
    const auto add = [&](const std::string& part) { out += (out.empty() ? "" : ", ") + part; };
    if (w.goal.times > 0) add(fmt::format(">= {:g}x", w.goal.times));
    if (w.goal.floor > 0) add(fmt::format("{} {:g} of floor", less_is_better(w.quantity) ? "<=" : ">=", w.goal.floor));
    if (w.goal.beside > 0)
        add(fmt::format("{} {:g} of {}", less_is_better(w.quantity) ? "<=" : ">=", w.goal.beside, w.beside));
    if (w.goal.instructions > 0) add(fmt::format("< {:g} instr", w.goal.instructions));
    return out;
}

std::string verdict(const Result& result) {
    switch (result.met()) {
        case Met::Yes:
            return in_words(*result.workload) + "  met";
        case Met::No:
            return in_words(*result.workload) + "  MISSED";
        case Met::Unknown:
            return in_words(*result.workload) + "  not known";
        case Met::NoGoal:
            break;
    }
    return {};
}

}  // namespace selvage::conformance::bench
