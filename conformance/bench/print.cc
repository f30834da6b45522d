// See print.h.
#include "conformance/bench/print.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "conformance/base/terminal.h"
#include "conformance/bench/figures.h"

namespace selvage::conformance::bench {
namespace {

/// A row of cells; the first column is aligned to the left.
using Row = std::vector<std::string>;

Tint tint_of(Met met) {
    if (met == Met::Yes) return Tint::Good;
    return met == Met::No ? Tint::Bad : Tint::Plain;
}

/// A column of the table.
struct Column {
    std::string head;
    std::function<std::string(const Result&)> cell;
};

std::vector<Column> columns_of(const Bench& bench, bool tail) {
    const auto any = [&](auto has) { return std::any_of(bench.results.begin(), bench.results.end(), has); };
    const auto median = [](std::size_t s) {
        return [s](const Result& r) { return in_units(r.workload->quantity, r.sides[s].summary.median); };
    };
    const auto p99 = [](std::size_t s) {
        return [s](const Result& r) { return in_units(r.workload->quantity, r.sides[s].summary.p99); };
    };
    const auto count = [](std::size_t s) { return [s](const Result& r) { return as_count(r.sides[s].instructions); }; };
    const std::size_t sides = bench.sides.size();
    // With one rival "ratio", with more "by B", "by ucx".
    const auto by = [&](std::size_t s, const char* alone) { return sides == 2 ? alone : "by " + bench.sides[s].name; };
    std::vector<Column> out;
    for (std::size_t s = 0; s < sides; ++s) out.push_back({bench.sides[s].name, median(s)});
    for (std::size_t s = 1; s < sides; ++s)
        out.push_back({by(s, "ratio"), [s](const Result& r) { return as_ratio(r.sides[s].ratio); }});
    if (any([](const Result& r) { return r.workload->round_trip; })) {
        out.push_back({"A one way", [](const Result& r) {
                           const double half = r.workload->round_trip ? r.sides[0].summary.median / 2 : 0;
                           return in_units(r.workload->quantity, half);
                       }});
    }
    if (any([](const Result& r) { return r.floor > 0; })) {
        out.push_back({"floor", [](const Result& r) { return in_units(r.workload->quantity, r.floor); }});
        out.push_back({"A/floor", [](const Result& r) { return as_ratio(r.sides[0].floor_ratio); }});
    }
    if (any([](const Result& r) { return r.sides[0].beside_ratio > 0; }))
        out.push_back({"A/beside", [](const Result& r) { return as_ratio(r.sides[0].beside_ratio); }});
    for (std::size_t s = 0; tail && s < sides; ++s) out.push_back({bench.sides[s].name + " p99", p99(s)});
    if (!has_peers(bench) || any([](const Result& r) { return r.sides[0].instructions.has_value(); })) {
        for (std::size_t s = 0; s < sides; ++s) {
            if (bench.sides[s].tool == nullptr) out.push_back({bench.sides[s].name + " instr/call", count(s)});
        }
        for (std::size_t s = 1; s < sides; ++s) {
            if (bench.sides[s].tool == nullptr)
                out.push_back({by(s, "ratio"), [s](const Result& r) { return as_ratio(r.instruction_ratio(s)); }});
        }
    }
    out.push_back({"goal", verdict});
    return out;
}

/// Lines of equal columns; the last has no width.  An empty row but for its first cell is a heading.
std::string aligned(const std::vector<Row>& rows, const std::vector<Tint>& tints) {
    std::vector<std::size_t> widths(rows[0].size());
    for (const auto& row : rows) {
        for (std::size_t c = 0; c + 1 < row.size(); ++c) widths[c] = std::max(widths[c], row[c].size());
    }
    std::string out;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (rows[i].size() == 1) {
            out += "\n" + tinted(rows[i][0], Tint::Bold) + "\n";
            continue;
        }
        std::string line = fmt::format("{:<{}}", rows[i][0], widths[0]);
        for (std::size_t c = 1; c + 1 < widths.size(); ++c) line += fmt::format("  {:>{}}", rows[i][c], widths[c]);
        const std::string& last = rows[i].back();
        out += line;
        if (!last.empty()) out += fmt::format("   {}", tinted(last, tints[i]));
        out += '\n';
    }
    return out;
}

/// What a workload's rows stand under; empty where there are no headings.
std::string heading(const Workload& w) {
    if (w.place.provider.empty()) return {};
    if (w.members > 0) return fmt::format("{}, {} processes", w.place.provider, w.members);
    if (w.round_trip || w.place.kind == "latency") return w.place.provider + ", there and back";
    return fmt::format("{}, {}", w.place.provider, w.place.kind);
}

std::string floors_text(const Bench& bench) {
    if (bench.floors.empty()) return {};
    std::vector<Row> rows = {{"the machine without a library", "median", "p99", ""}};
    for (const auto& f : bench.floors) {
        const auto& [median, p99, samples] = f.measured.summary;
        const Quantity quantity = f.workload->quantity;
        rows.push_back({f.workload->place.provider + ": " + f.workload->title, in_units(quantity, median),
                        in_units(quantity, p99), ""});
    }
    return "\n" + aligned(rows, std::vector<Tint>(rows.size(), Tint::Plain));
}

/// What two processes stood on, and whether the machine kept still.
std::string setting_text(const Bench& bench) {
    if (!has_peers(bench)) return {};
    std::string out = bench.placement;
    if (bench.setting.realtime) out += "; under SCHED_FIFO while measuring";
    if (!bench.floors.empty()) {
        out += fmt::format("; {} pairs measured anew as the floor moved by more than {:.0f} %", bench.again,
                           (kSteady - 1) * 100);
    }
    if (bench.unsteady > 0) out += fmt::format(", {} kept although it did", bench.unsteady);
    return out + "\n";
}

/// Why rows have no figure: each reason once, with the first rows that it holds for.
std::string errors_text(const Bench& bench) {
    std::vector<std::pair<std::string, std::vector<std::string>>> reasons;
    for (const auto& r : bench.results) {
        for (std::size_t s = 0; s < r.sides.size(); ++s) {
            if (r.sides[s].error.empty()) continue;
            std::string why = fmt::format("{}: {}", bench.sides[s].name, r.sides[s].error);
            auto found = std::find_if(reasons.begin(), reasons.end(), [&](const auto& e) { return e.first == why; });
            if (found == reasons.end()) found = reasons.emplace(found, std::move(why), std::vector<std::string>{});
            found->second.push_back(has_peers(bench) ? r.workload->name : r.workload->title);
        }
    }
    constexpr std::size_t kShown = 3;
    std::string out;
    for (const auto& [why, rows] : reasons) {
        std::string names;
        for (std::size_t i = 0; i < std::min(rows.size(), kShown); ++i) names += (i == 0 ? "" : ", ") + rows[i];
        if (rows.size() > kShown) names += fmt::format(" and {} more", rows.size() - kShown);
        out += printable(fmt::format("{}, {}\n", names, why));
    }
    return out;
}

/// What is printed of each rival: over how many rows A is ahead, and the rows where it is not.
std::string rivals_text(const Bench& bench) {
    std::string out;
    for (std::size_t s = 1; s < bench.sides.size(); ++s) {
        std::vector<double> ratios;
        std::string behind;
        for (const auto& r : bench.results) {
            const double ratio = r.sides[s].ratio;
            if (ratio <= 0) continue;
            ratios.push_back(ratio);
            if (ratio < 1)
                behind += fmt::format("{}{} {}", behind.empty() ? "" : ", ", r.workload->name, as_ratio(ratio));
        }
        if (ratios.empty()) continue;
        out += printable(fmt::format("beside {}: {} rows, median {}; below 1: {}\n", bench.sides[s].name, ratios.size(),
                                     as_ratio(median(ratios)), behind.empty() ? "none" : behind));
    }
    return out;
}

std::string goals_text(const Bench& bench) {
    std::array<std::size_t, 4> of{};
    for (const auto& r : bench.results) ++of[static_cast<std::size_t>(r.met())];
    const auto number = [&](Met met) { return of[static_cast<std::size_t>(met)]; };
    return fmt::format("goals: {} met, {} missed, {} not known\n", number(Met::Yes), number(Met::No),
                       number(Met::Unknown));
}

}  // namespace

std::string as_table(const Bench& bench, bool tail) {
    std::string out;
    for (const auto& side : bench.sides)
        out += printable(fmt::format("{}  {} (version {})\n", side.name, side.resolved, side.version));
    for (const auto& l : bench.left_out) out += printable(fmt::format("{} is left out: {}\n", l.name, l.why));
    out += setting_text(bench);
    out += fmt::format("{} pairs of runs; medians; ratio: how many times as good A is, by pairs\n\n", bench.pairs);
    const auto columns = columns_of(bench, tail);
    std::vector<Row> rows(1, Row{""});
    for (const auto& c : columns) rows[0].emplace_back(c.head);
    std::vector<Tint> tints = {Tint::Plain};
    std::string last;
    for (const auto& r : bench.results) {
        if (const std::string now = heading(*r.workload); now != last) {
            rows.push_back({now});
            tints.push_back(Tint::Plain);
            last = now;
        }
        Row row = {r.workload->title};
        for (const auto& c : columns) row.push_back(c.cell(r));
        rows.push_back(std::move(row));
        tints.push_back(tint_of(r.met()));
    }
    out += aligned(rows, tints) + floors_text(bench);
    const std::string errors = errors_text(bench);
    if (!errors.empty()) out += (has_peers(bench) ? "\n" : "") + errors;
    if (!bench.not_counted.empty()) out += "instr/call: " + bench.not_counted + "\n";
    if (has_peers(bench)) out += "\n" + rivals_text(bench) + goals_text(bench);
    return out;
}

}  // namespace selvage::conformance::bench
