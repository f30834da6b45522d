// See history.h.
#include "conformance/bench/history.h"
#include "conformance/base/markup.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "conformance/base/terminal.h"
#include "conformance/bench/figures.h"

namespace selvage::conformance::bench {
namespace {

using nlohmann::json;

/// What one earlier run says of a row.
struct Past {
    std::map<std::string, double> ratios;  // by the rival's identity
    double instructions = 0;
};
struct Run {
    std::string suite, when, placement;
    std::vector<std::string> rivals;  // their identities (identity_of)
    std::map<std::string, Past> rows;
};

double number_at(const json& object, const char* key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_number() ? found->get<double>() : 0;
}

std::string text_at(const json& object, const char* key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

/// The rivals of a run or of a row; runs of before there was more than one have "b" alone.
json rivals_of(const json& object) {
    if (const auto all = object.find("rivals"); all != object.end() && all->is_array()) return *all;
    if (const auto b = object.find("b"); b != object.end()) return json::array({*b});
    return json::array();
}

/// As identity_of.
std::string past_identity(const json& rival) {
    const std::string tool = text_at(rival, "tool");
    return tool.empty() ? text_at(rival, "build_id") : fmt::format("{} {}", tool, text_at(rival, "version"));
}

/// Nothing if the line is no run.
std::optional<Run> run_of(const std::string& line) {
    const json parsed = json::parse(line, nullptr, false);
    if (!parsed.is_object() || !parsed.contains("workloads") || !parsed["workloads"].is_array()) return std::nullopt;
    Run run;
    run.suite = text_at(parsed, "suite");
    run.when = text_at(parsed, "when");
    for (const json& rival : rivals_of(parsed)) run.rivals.push_back(past_identity(rival));
    if (const auto s = parsed.find("setting"); s != parsed.end()) run.placement = text_at(*s, "shared_cache");
    for (const auto& w : parsed["workloads"]) {
        if (!w.is_object()) return std::nullopt;
        Past past;
        const json rivals = rivals_of(w);
        for (std::size_t i = 0; i < std::min(rivals.size(), run.rivals.size()); ++i) {
            // Runs of before there was more than one rival have the ratio beside the figures of both.
            past.ratios[run.rivals[i]] = number_at(rivals[i].contains("ratio") ? rivals[i] : w, "ratio");
        }
        if (const auto a = w.find("a"); a != w.end()) past.instructions = number_at(*a, "instructions");
        run.rows[text_at(w, "name")] = past;
    }
    return run;
}

/// @return why not, in one line; else empty.
std::string read_runs(const std::string& file, std::vector<Run>& out) {
    std::ifstream in(file);
    if (!in) return fmt::format("{}: can't be read ({})", file, std::strerror(errno));
    std::string line;
    for (std::size_t number = 1; std::getline(in, line); ++number) {
        if (line.empty()) continue;
        auto run = run_of(line);
        if (!run) return fmt::format("{}:{}: this is no run (--history writes them, one a line)", file, number);
        out.push_back(std::move(*run));
    }
    return {};
}

void widen(Change& change, double earlier) {
    if (earlier <= 0) return;
    change.least = change.least > 0 ? std::min(change.least, earlier) : earlier;
    change.most = std::max(change.most, earlier);
}

Change ratio_change(const Result& r, std::size_t rival, const std::string& name) {
    const Measured& m = r.sides[rival];
    Change out{.name = r.workload->name, .rival = name, .now = m.ratio};
    if (m.ratios.empty()) return out;
    out.now_least = *std::min_element(m.ratios.begin(), m.ratios.end());
    out.now_most = *std::max_element(m.ratios.begin(), m.ratios.end());
    return out;
}

/// Puts a change where it belongs, if it is one.
void judge(Change change, Comparison& out) {
    if (change.now <= 0 || change.least <= 0) return;
    if (change.instructions) {
        // They repeat to the digit but for a rounding.
        if (change.now > change.most + 0.5) out.slower.push_back(change);
        if (change.now < change.least - 0.5) out.faster.push_back(change);
        return;
    }
    if (change.now < change.least * (1 - kChance) && change.now_most < change.least) out.slower.push_back(change);
    if (change.now > change.most * (1 + kChance) && change.now_least > change.most) out.faster.push_back(change);
}

/// What of a row has changed since those runs.
void compare_row(const Bench& bench, const Result& r, const std::vector<Run>& runs, Comparison& out) {
    std::vector<const Past*> pasts;
    for (const auto& run : runs) {
        if (const auto found = run.rows.find(r.workload->name); found != run.rows.end())
            pasts.push_back(&found->second);
    }
    for (std::size_t s = 1; s < bench.sides.size(); ++s) {
        Change ratio = ratio_change(r, s, bench.sides.size() > 2 ? bench.sides[s].name : "");
        for (const Past* past : pasts) {
            if (const auto found = past->ratios.find(identity_of(bench.sides[s])); found != past->ratios.end())
                widen(ratio, found->second);
        }
        judge(ratio, out);
    }
    Change count{.name = r.workload->name, .instructions = true, .now = r.sides[0].instructions.value_or(0)};
    for (const Past* past : pasts) widen(count, past->instructions);
    judge(count, out);
}

bool shares_a_rival(const Run& run, const Bench& bench) {
    return std::any_of(bench.sides.begin() + 1, bench.sides.end(), [&](const Side& side) {
        return std::find(run.rivals.begin(), run.rivals.end(), identity_of(side)) != run.rivals.end();
    });
}

std::string line_of(const char* word, const Change& c) {
    const std::string figures =
        c.instructions ? fmt::format("{:.0f} instructions, before {:.0f} to {:.0f}", c.now, c.least, c.most)
                       : fmt::format("{} ({} to {}), before {} to {}", as_ratio(c.now), as_ratio(c.now_least),
                                     as_ratio(c.now_most), as_ratio(c.least), as_ratio(c.most));
    const std::string name = c.rival.empty() ? c.name : fmt::format("{}, by {}", c.name, c.rival);
    return fmt::format("  {}  {:<32}  {}  ({:+.0f} %)\n", word, name, figures, (c.times() - 1) * 100);
}

}  // namespace

double Change::times() const {
    if (instructions) return now > most ? most / now : least / now;
    return now < least ? now / least : now / most;
}

std::string append_run(const std::string& file, const Bench& bench, const std::string& when) {
    json run = json::parse(as_json(bench));
    run["when"] = when;
    std::ofstream out(file, std::ios::app);
    out << run.dump(-1, ' ', false, json::error_handler_t::replace) << '\n' << std::flush;
    return out ? std::string() : fmt::format("{}: can't be written ({})", file, std::strerror(errno));
}

std::string compare_with(const std::string& file, const Bench& bench, Comparison& out) {
    std::vector<Run> runs;
    if (auto error = read_runs(file, runs); !error.empty()) return error;
    std::erase_if(runs, [&](const Run& r) { return r.suite != bench.suite; });
    const std::size_t of_suite = runs.size();
    std::erase_if(runs, [&](const Run& r) { return !shares_a_rival(r, bench) || r.placement != bench.placement; });
    out.runs = runs.size();
    out.unlike = of_suite - runs.size();
    if (runs.empty()) {
        return fmt::format(
            "{}: no run of {} beside the same rival on processors that stand the same ({} of it were not)", file,
            bench.suite, out.unlike);
    }
    out.first = runs.front().when;
    out.last = runs.back().when;
    for (const auto& r : bench.results) compare_row(bench, r, runs, out);
    return {};
}

std::string as_text(const Comparison& c, const std::string& file) {
    const std::string when = c.runs == 1 ? c.first : c.first + " to " + c.last;
    std::string out = printable(fmt::format("compared with {} in {} ({}), by how many times as good A is\n",
                                            counted(c.runs, "run"), file, when));
    for (const auto& change : c.slower) out += tinted(line_of("slower", change), Tint::Bad);
    for (const auto& change : c.faster) out += tinted(line_of("faster", change), Tint::Good);
    out += fmt::format("  {} row is more than {:.0f} % outside of what it was\n",
                       c.slower.empty() && c.faster.empty() ? "no" : "no other", kChance * 100);
    if (c.unlike > 0) out += fmt::format("  {} runs were beside other rivals, or on other processors\n", c.unlike);
    return "\n" + out;
}

std::string now_in_words() {
    return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}",
                       fmt::gmtime(std::chrono::system_clock::to_time_t(std::chrono::system_clock::now())));
}

}  // namespace selvage::conformance::bench
