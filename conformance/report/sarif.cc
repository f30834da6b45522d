// The SARIF report (version 2.1.0): a rule for each broken clause, a result for each finding.
#include <map>
#include <nlohmann/json.hpp>

#include "conformance/base/markup.h"
#include "conformance/case/case_text.h"
#include "conformance/report/view.h"
#include "conformance/report/write.h"

namespace selvage::conformance {
namespace {

using Json = nlohmann::ordered_json;

std::string_view level_of(Grade g) { return is_grave(g) ? "error" : "note"; }

Json rule_json(const model::ClauseText& c) {
    std::string sources;
    for (const auto s : c.source) sources.append(sources.empty() ? "" : ", ").append(s);
    return {{"id", c.id},
            {"shortDescription", {{"text", c.promise}}},
            {"help", {{"text", std::string(c.promise) + " (" + sources + ")"}}}};
}

std::string message_text(const Deviation& d) {
    std::string out = (d.provider.empty() ? "" : d.provider + ": ") + d.summary;
    if (d.intermittent) out += " (intermittent: " + tries_text(*d.intermittent) + ")";
    out += "\n" + describe(d.shown_by);
    if (d.program) out += "\n" + program_text(*d.program);
    return clean(out);
}

// The program that shows it where one was saved, else the library.
Json location_json(const Report& r, const Deviation& d) {
    const auto& uri = d.saved_as.empty() ? r.subject.path : d.saved_as;
    return {{"physicalLocation", {{"artifactLocation", {{"uri", clean(uri)}}}, {"region", {{"startLine", 1}}}}},
            {"logicalLocations", Json::array({{{"name", clean(d.provider)}, {"kind", "provider"}}})}};
}

// What stays the same from run to run: of several findings of a clause on a provider, which of them.
std::string fingerprint(const Deviation& d, std::map<std::string, int>& seen) {
    const auto name = case_name(d.provider, model::clause_text(d.clause).id);
    return name + "-" + std::to_string(++seen[name]);
}

}  // namespace

std::string report_sarif(const Report& r) {
    Json rules = Json::array(), results = Json::array();
    std::map<model::Clause, std::size_t> index;
    std::map<std::string, int> seen;
    for (const auto* d : ordered(r)) {
        const auto& c = model::clause_text(d->clause);
        if (index.emplace(d->clause, rules.size()).second) rules.push_back(rule_json(c));
        Json result = {{"ruleId", c.id},
                       {"ruleIndex", index.at(d->clause)},
                       {"level", level_of(d->grade)},
                       {"message", {{"text", message_text(*d)}}},
                       {"locations", Json::array({location_json(r, *d)})},
                       {"partialFingerprints", {{"selvage/v1", fingerprint(*d, seen)}}},
                       {"properties", {{"grade", name(d->grade)}, {"provider", clean(d->provider)}}}};
        if (!d->waived.empty())
            result["suppressions"] = Json::array({{{"kind", "external"}, {"justification", clean(d->waived)}}});
        results.push_back(std::move(result));
    }
    const Json driver = {{"name", "selvage"}, {"version", SELVAGE_VERSION}, {"rules", rules}};
    const Json out = {{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
                      {"version", "2.1.0"},
                      {"runs", Json::array({{{"tool", {{"driver", driver}}}, {"results", results}}})}};
    return out.dump(2) + "\n";
}

}  // namespace selvage::conformance
