// See levels.h.
#include "conformance/report/levels.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "conformance/report/level_source.h"
#include "model/specc/toml.h"

namespace selvage::conformance {
namespace {

// The file was compiled in, and a test reads it: what is wrong in it ends the process.
[[noreturn]] void refuse(std::string_view what) {
    fmt::print(stderr, "spec/conformance.toml: {}\n", what);
    std::abort();
}

std::vector<std::string> strings(const toml::table& row, std::string_view key) {
    std::vector<std::string> out;
    const auto* list = row[key].as_array();
    for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) out.push_back((*list)[i].value_or(std::string()));
    return out;
}

ConformanceLevel read_level(const toml::table& row, const std::vector<ConformanceLevel>& before) {
    ConformanceLevel out{
        row["name"].value_or(std::string()), row["about"].value_or(std::string()), strings(row, "clauses"), {}};
    for (const auto& id : strings(row, "reaches")) {
        const auto* clause = model::find_clause(id);
        if (clause == nullptr) refuse("no clause has the id " + id);
        out.reaches.push_back(clause->clause);
    }
    for (const auto& name : strings(row, "includes")) {
        const auto it = std::find_if(before.begin(), before.end(), [&](const auto& l) { return l.name == name; });
        if (it == before.end()) refuse("no level before " + out.name + " has the name " + name);
        out.prefixes.insert(out.prefixes.end(), it->prefixes.begin(), it->prefixes.end());
        out.reaches.insert(out.reaches.end(), it->reaches.begin(), it->reaches.end());
    }
    return out;
}

std::vector<ConformanceLevel> read_levels() {
    std::vector<ConformanceLevel> out;
    const toml::table file = toml::parse(level_source());
    if (const auto* rows = file["level"].as_array())
        for (const auto& row : *rows) out.push_back(read_level(*row.as_table(), out));
    return out;
}

bool belongs(const model::ClauseText& c, const ConformanceLevel& level) {
    return c.level == model::Level::Must && c.status == model::Status::Clear &&
           std::any_of(level.prefixes.begin(), level.prefixes.end(),
                       [&](const std::string& p) { return c.id.starts_with(p); });
}

bool is_waived(const Report& report, const std::string& provider, model::Clause clause) {
    bool any = false;
    for (const auto& d : report.deviations) {
        if (d.clause != clause || d.provider != provider) continue;
        if (d.waived.empty()) return false;
        any = true;
    }
    return any;
}

}  // namespace

std::span<const ConformanceLevel> conformance_levels() {
    static const std::vector<ConformanceLevel> all = read_levels();
    return all;
}

LevelVerdict verdict_on(const Report& report, const ProviderResult& provider, const ConformanceLevel& level) {
    LevelVerdict out;
    for (const auto& c : model::clauses()) {
        if (!belongs(c, level)) continue;
        const auto result = result_of(report, provider, c.clause);
        if (result == ClauseResult::Broken)
            (is_waived(report, provider.provider, c.clause) ? out.waived : out.broken).push_back(c.clause);
        const bool has_to = std::find(level.reaches.begin(), level.reaches.end(), c.clause) != level.reaches.end();
        const auto reason = reason_of(report, provider, c.clause);
        if (result == ClauseResult::Unreached && (has_to || reason.empty() || says_not_looked(reason)))
            out.unreached.push_back(c.clause);
    }
    return out;
}

std::string levels_text(const Report& report, const ProviderResult& provider) {
    std::string names;
    for (const auto& level : conformance_levels())
        if (verdict_on(report, provider, level).conforms()) names += (names.empty() ? "" : ", ") + level.name;
    return "conforms to " + (names.empty() ? "no level" : names);
}

std::string badge_svg(const ConformanceLevel& level, bool conforms) {
    const std::string label = "libfabric " + level.name, verdict = conforms ? "conformant" : "not conformant";
    const auto width = [](const std::string& text) { return text.size() * 7 + 12; };
    const auto a = width(label), b = width(verdict);
    return fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"20\" role=\"img\" aria-label=\"{3}: {4}\">"
        "<title>{3}: {4}</title><rect width=\"{1}\" height=\"20\" fill=\"#444\"/><rect x=\"{1}\" width=\"{2}\" "
        "height=\"20\" fill=\"{5}\"/><g fill=\"#fff\" font-family=\"DejaVu Sans,Verdana,sans-serif\" font-size=\"11\" "
        "text-anchor=\"middle\"><text x=\"{6}\" y=\"14\">{3}</text><text x=\"{7}\" y=\"14\">{4}</text></g></svg>\n",
        a + b, a, b, label, verdict, conforms ? "#1f7a4d" : "#b3261e", a / 2, a + b / 2);
}

}  // namespace selvage::conformance
