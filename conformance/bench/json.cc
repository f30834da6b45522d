// Results of a benchmark as JSON; docs/bench.schema.json describes it.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "conformance/base/terminal.h"
#include "conformance/bench/print.h"
#include "conformance/bench/tools.h"

namespace selvage::conformance::bench {
namespace {

nlohmann::json side_json(const Measured& m) {
    nlohmann::json out;
    if (!m.error.empty()) {
        out["error"] = printable(m.error);
        return out;
    }
    if (m.summary.samples == 0 && !m.instructions) return nlohmann::json::object();
    out["median"] = m.summary.median;
    out["p99"] = m.summary.p99;
    out["samples"] = m.summary.samples;
    if (m.instructions) out["instructions"] = *m.instructions;
    if (m.floor_ratio > 0) out["by_floor"] = m.floor_ratio;
    if (m.beside_ratio > 0) out["by_beside"] = m.beside_ratio;
    return out;
}

nlohmann::json goal_json(const Result& r) {
    const Goal& goal = r.workload->goal;
    nlohmann::json out;
    const bool less = less_is_better(r.workload->quantity);
    if (goal.below > 0) out[less ? "below" : "above"] = goal.below;
    if (goal.times > 0) out["ratio"] = goal.times;
    if (goal.floor > 0) out[less ? "floor_at_most" : "floor_at_least"] = goal.floor;
    if (goal.beside > 0) out[less ? "beside_at_most" : "beside_at_least"] = goal.beside;
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

nlohmann::json rival_json(const Result& r, std::size_t s) {
    const Measured& m = r.sides[s];
    nlohmann::json out = side_json(m);
    if (m.ratio > 0) {
        out["ratio"] = m.ratio;
        out["ratios"] = m.ratios;
    }
    if (r.instruction_ratio(s) > 0) out["instruction_ratio"] = r.instruction_ratio(s);
    return out;
}

nlohmann::json identity_json(const Side& side) {
    nlohmann::json out = {{"name", side.name},
                          {"path", printable(side.resolved)},
                          {"version", printable(side.version)},
                          {"build_id", side.build_id}};
    if (side.tool != nullptr) out["tool"] = side.tool->name;
    return out;
}

nlohmann::json result_json(const Result& r) {
    nlohmann::json out;
    out["name"] = r.workload->name;
    out["title"] = r.workload->title;
    out["unit"] = unit_of(r.workload->quantity);
    if (!r.workload->place.provider.empty()) out["place"] = place_json(r.workload->place);
    if (r.workload->members > 0) out["members"] = r.workload->members;
    if (r.workload->round_trip) out["round_trip"] = true;
    out["a"] = side_json(r.sides[0]);
    out["rivals"] = nlohmann::json::array();
    for (std::size_t s = 1; s < r.sides.size(); ++s) out["rivals"].push_back(rival_json(r, s));
    if (r.floor > 0) out["floor"] = {{"name", r.workload->floor}, {"median", r.floor}};
    if (!r.workload->beside.empty()) out["beside"] = r.workload->beside;
    if (r.workload->goal.any()) out["goal"] = goal_json(r);
    return out;
}

}  // namespace

std::string as_json(const Bench& bench) {
    nlohmann::json out;
    out["suite"] = bench.suite;
    out["pairs"] = bench.pairs;
    if (!bench.sides.empty()) out["a"] = identity_json(bench.sides[0]);
    out["rivals"] = nlohmann::json::array();
    for (std::size_t s = 1; s < bench.sides.size(); ++s) out["rivals"].push_back(identity_json(bench.sides[s]));
    for (const auto& l : bench.left_out) out["left_out"].push_back({{"name", l.name}, {"why", printable(l.why)}});
    out["workloads"] = nlohmann::json::array();
    for (const auto& r : bench.results) out["workloads"].push_back(result_json(r));
    if (has_peers(bench)) {
        out["setting"] = setting_json(bench);
        out["floors"] = nlohmann::json::array();
        for (const auto& f : bench.floors) out["floors"].push_back(floor_json(f));
    }
    if (!bench.not_counted.empty()) out["not_counted"] = bench.not_counted;
    return out.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace selvage::conformance::bench
