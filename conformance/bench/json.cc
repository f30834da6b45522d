// Results of a benchmark as JSON; docs/bench.schema.json describes it.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "conformance/base/terminal.h"
#include "conformance/bench/print.h"

namespace selvage::conformance::bench {
namespace {

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
    const bool less = less_is_better(r.workload->quantity);
    if (goal.below > 0) out[less ? "below" : "above"] = goal.below;
    if (goal.times > 0) out["ratio"] = goal.times;
    if (goal.floor > 0) out[less ? "floor_at_most" : "floor_at_least"] = goal.floor;
    if (goal.instructions > 0) out["instructions_below"] = goal.instructions;
    out["met"] = r.met() == Met::Unknown ? nlohmann::json() : nlohmann::json(r.met() == Met::Yes);
    return out;
}

const char* unit_of(Quantity quantity) {
    switch (quantity) {
        case Quantity::Time:
            return "ns";
        case Quantity::Rate:
            return "B/s";
        case Quantity::Messages:
            return "1/s";
        case Quantity::Memory:
            break;
    }
    return "B";
}

nlohmann::json place_json(const Place& place) {
    return {{"provider", place.provider}, {"operation", place.operation}, {"kind", place.kind}, {"size", place.size}};
}

nlohmann::json floor_json(const Floor& f) {
    nlohmann::json out = side_json(f.measured);
    out["name"] = f.workload->name;
    out["title"] = f.workload->title;
    out["unit"] = unit_of(f.workload->quantity);
    return out;
}

nlohmann::json setting_json(const Bench& bench) {
    return {{"cores", bench.setting.cores},       {"shared_cache", bench.placement},
            {"realtime", bench.setting.realtime}, {"milliseconds", bench.setting.effort.time.count()},
            {"pairs_again", bench.again},         {"pairs_unsteady", bench.unsteady}};
}

nlohmann::json result_json(const Result& r) {
    nlohmann::json out;
    out["name"] = r.workload->name;
    out["title"] = r.workload->title;
    out["unit"] = unit_of(r.workload->quantity);
    if (!r.workload->place.provider.empty()) out["place"] = place_json(r.workload->place);
    if (r.workload->round_trip) out["round_trip"] = true;
    out["a"] = side_json(r.sides[0]);
    out["b"] = side_json(r.sides[1]);
    out["ratios"] = r.ratios;
    if (r.ratio > 0) out["ratio"] = r.ratio;
    if (r.instruction_ratio() > 0) out["instruction_ratio"] = r.instruction_ratio();
    if (r.floor > 0) {
        out["floor"] = {{"name", r.workload->floor}, {"median", r.floor}};
        for (std::size_t s = 0; s < 2; ++s) {
            if (r.floor_ratios[s] > 0) out["floor"][s == 0 ? "a" : "b"] = r.floor_ratios[s];
        }
    }
    if (r.workload->goal.any()) out["goal"] = goal_json(r);
    return out;
}

}  // namespace

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
    if (!bench.floors.empty()) {
        out["setting"] = setting_json(bench);
        out["floors"] = nlohmann::json::array();
        for (const auto& f : bench.floors) out["floors"].push_back(floor_json(f));
    }
    if (!bench.not_counted.empty()) out["not_counted"] = bench.not_counted;
    return out.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace selvage::conformance::bench
