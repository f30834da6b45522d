// See print.h.
#include "conformance/bench/print.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "conformance/cli/terminal.h"

namespace selvage::conformance::bench {
namespace {

/// A row of cells; the first column is aligned to the left.
using Row = std::vector<std::string>;

std::string in_units(Quantity quantity, double value) {
    if (value <= 0) return "-";
    struct Step {
        double from;
        const char* unit;
    };
    constexpr std::array kTime = {Step{1e9, "s"}, Step{1e6, "ms"}, Step{1e3, "us"}, Step{0, "ns"}};
    constexpr std::array kRate = {Step{1e9, "GB/s"}, Step{1e6, "MB/s"}, Step{1e3, "kB/s"}, Step{0, "B/s"}};
    const auto& steps = quantity == Quantity::Time ? kTime : kRate;
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
        out = fmt::format("{} {}", w.quantity == Quantity::Time ? '<' : '>', in_units(w.quantity, w.goal.below));
    }
    if (w.goal.times > 0) out += fmt::format("{}>= {:g}x", out.empty() ? "" : ", ", w.goal.times);
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

Tint tint_of(Met met) {
    if (met == Met::Yes) return Tint::Good;
    return met == Met::No ? Tint::Bad : Tint::Plain;
}

Row heads(bool tail) {
    Row row = {"", "A", "B", "ratio"};
    if (tail) row.insert(row.end(), {"A p99", "B p99"});
    row.insert(row.end(), {"A instr/call", "B instr/call", "ratio", "goal"});
    return row;
}

Row row_of(const Result& r, bool tail) {
    const auto quantity = r.workload->quantity;
    const auto& [a, b] = r.sides;
    Row row = {r.workload->title, in_units(quantity, a.summary.median), in_units(quantity, b.summary.median),
               as_ratio(r.ratio)};
    if (tail) row.insert(row.end(), {in_units(quantity, a.summary.p99), in_units(quantity, b.summary.p99)});
    row.insert(row.end(), {as_count(a.instructions), as_count(b.instructions), as_ratio(r.instruction_ratio())});
    row.push_back(verdict(r));
    return row;
}

/// Lines of equal columns; the last has no width.
std::string aligned(const std::vector<Row>& rows, const std::vector<Tint>& tints) {
    std::vector<std::size_t> widths(rows[0].size());
    for (const auto& row : rows) {
        for (std::size_t c = 0; c + 1 < row.size(); ++c) widths[c] = std::max(widths[c], row[c].size());
    }
    std::string out;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        std::string line = fmt::format("{:<{}}", rows[i][0], widths[0]);
        for (std::size_t c = 1; c + 1 < widths.size(); ++c) line += fmt::format("  {:>{}}", rows[i][c], widths[c]);
        const std::string& last = rows[i].back();
        out += line;
        if (!last.empty()) out += fmt::format("   {}", tinted(last, tints[i]));
        out += '\n';
    }
    return out;
}

nlohmann::json side_json(const Measured& m) {
    nlohmann::json out;
    if (!m.error.empty()) {
        out["error"] = printable(m.error);
        return out;
    }
    out["median"] = m.summary.median;
    out["p99"] = m.summary.p99;
    out["samples"] = m.summary.samples;
    if (m.instructions) out["instructions"] = *m.instructions;
    return out;
}

nlohmann::json goal_json(const Result& r) {
    const Goal& goal = r.workload->goal;
    nlohmann::json out;
    if (goal.below > 0) out[r.workload->quantity == Quantity::Time ? "below" : "above"] = goal.below;
    if (goal.times > 0) out["ratio"] = goal.times;
    out["met"] = r.met() == Met::Unknown ? nlohmann::json() : nlohmann::json(r.met() == Met::Yes);
    return out;
}

nlohmann::json result_json(const Result& r) {
    nlohmann::json out;
    out["name"] = r.workload->name;
    out["title"] = r.workload->title;
    out["unit"] = r.workload->quantity == Quantity::Time ? "ns" : "B/s";
    out["a"] = side_json(r.sides[0]);
    out["b"] = side_json(r.sides[1]);
    out["ratios"] = r.ratios;
    if (r.ratio > 0) out["ratio"] = r.ratio;
    if (r.instruction_ratio() > 0) out["instruction_ratio"] = r.instruction_ratio();
    if (r.workload->goal.any()) out["goal"] = goal_json(r);
    return out;
}

}  // namespace

std::string as_table(const Bench& bench, bool tail) {
    std::string out;
    for (std::size_t s = 0; s < 2; ++s) {
        out += printable(
            fmt::format("{}  {} (version {})\n", s == 0 ? "A" : "B", bench.sides[s].resolved, bench.sides[s].version));
    }
    out += fmt::format("{} pairs of runs; medians; ratio: how many times as good A is, by pairs\n\n", bench.pairs);
    std::vector<Row> rows = {heads(tail)};
    std::vector<Tint> tints = {Tint::Plain};
    for (const auto& r : bench.results) {
        rows.push_back(row_of(r, tail));
        tints.push_back(tint_of(r.met()));
    }
    out += aligned(rows, tints);
    for (const auto& r : bench.results) {
        for (std::size_t s = 0; s < 2; ++s) {
            if (r.sides[s].error.empty()) continue;
            out += printable(fmt::format("{}, {}: {}\n", r.workload->title, s == 0 ? "A" : "B", r.sides[s].error));
        }
    }
    if (!bench.not_counted.empty()) out += "instr/call: " + bench.not_counted + "\n";
    return out;
}

std::string as_json(const Bench& bench) {
    nlohmann::json out;
    out["suite"] = bench.suite;
    out["pairs"] = bench.pairs;
    for (std::size_t s = 0; s < 2; ++s) {
        const Side& side = bench.sides[s];
        out[s == 0 ? "a" : "b"] = {
            {"path", printable(side.resolved)}, {"version", side.version}, {"build_id", side.build_id}};
    }
    out["workloads"] = nlohmann::json::array();
    for (const auto& r : bench.results) out["workloads"].push_back(result_json(r));
    if (!bench.not_counted.empty()) out["not_counted"] = bench.not_counted;
    return out.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace selvage::conformance::bench
