// See findings.h.
#include "conformance/report/findings.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <tuple>

#include "conformance/base/markup.h"
#include "conformance/case/case_text.h"
#include "conformance/report/view.h"
#include "conformance/report/write.h"
#include "model/spec/clause.h"
#include "model/text/call_text.h"

namespace selvage::conformance {
namespace {

using Json = nlohmann::ordered_json;

bool is_less(const ClauseFinding& a, const ClauseFinding& b) {
    const auto key = [](const ClauseFinding& f) {
        return std::tuple(f.grade(), !f.confirmed, f.shown_by.size(), std::string_view(f.shown_by),
                          std::string_view(f.seen));
    };
    return key(a) < key(b);
}

void add(ClauseFinding& to, const ClauseFinding& more) {
    if (to.by_provider.empty() || is_less(more, to)) {
        to.shown_by = more.shown_by;
        to.seen = more.seen;
        to.provider = more.provider;
        to.confirmed = more.confirmed;
    }
    for (const auto& [provider, breach] : more.by_provider) {
        Breach& b = to.by_provider[provider];
        b.grade = std::min(b.grade, breach.grade);
        b.calls += breach.calls;
    }
}

// Not every call that broke a clause became a deviation or is counted in one.
std::uint64_t calls_of(const Report& report, const std::string& provider, model::Clause clause, std::uint64_t seen) {
    for (const auto& p : report.providers)
        if (p.provider == provider) return std::max(seen, p.tally.broken[static_cast<std::size_t>(clause)]);
    return seen;
}

// Fit to stand between backticks in a line of a page.
std::string line_of(std::string_view summary) {
    std::string out = clean(summary);
    std::replace(out.begin(), out.end(), '\n', ' ');
    std::replace(out.begin(), out.end(), '`', '\'');
    return out;
}

Json breach_json(const Breach& b) { return {{"grade", name(b.grade)}, {"calls", b.calls}}; }

Json clause_json(std::string_view id, const ClauseFinding& f) {
    Json j = {{"clause", id},
              {"providers", Json::object()},
              {"seen", f.seen},
              {"case", f.shown_by},
              {"confirmed", f.confirmed}};
    for (const auto& [provider, breach] : f.by_provider) j["providers"][provider] = breach_json(breach);
    return j;
}

bool read_clause(const Json& j, Findings& out, std::string& error) {
    const std::string id = j.at("clause");
    const auto* clause = model::find_clause(id);
    if (clause == nullptr) {
        error = "this build knows no clause " + id;
        return false;
    }
    ClauseFinding& f = out.by_clause[clause->id];
    for (const auto& [provider, breach] : j.at("providers").items()) {
        const std::string word = breach.at("grade");
        const auto grade = grade_named(word);
        if (!grade) {
            error = "there is no grade " + word;
            return false;
        }
        f.by_provider[provider] = {.grade = *grade, .calls = breach.at("calls")};
    }
    f.seen = j.value("seen", "");
    f.shown_by = j.at("case");
    f.confirmed = j.at("confirmed");
    CaseFile file;
    CaseError what;
    if (!parse_case(f.shown_by, file, what)) {
        error = "the case of " + id + ": " + what.str();
        return false;
    }
    f.provider = file.shown.provider;
    return true;
}

bool read_digest(const Json& j, Findings& out, std::string& error) {
    if (j.at("format_version") != 1) {
        error = "this digest is of a later format";
        return false;
    }
    const std::string version = j.at("subject").at("version");
    if (!model::parse_version(version, out.subject.version)) {
        error = "'" + version + "' is no version";
        return false;
    }
    out.subject.path = j.at("subject").at("path");
    out.subject.build_id = j.at("subject").at("build_id");
    out.cases = j.at("cases");
    out.providers = j.at("providers").get<std::set<std::string>>();
    const Json& rows = j.at("findings");
    return std::all_of(rows.begin(), rows.end(), [&](const Json& row) { return read_clause(row, out, error); });
}

}  // namespace

Grade ClauseFinding::grade() const {
    Grade gravest = Grade::Disputed;
    for (const auto& [name, breach] : by_provider) gravest = std::min(gravest, breach.grade);
    return gravest;
}

Findings findings_of(const Report& report) {
    Findings out{.subject = report.subject, .cases = report.cases, .providers = {}, .by_clause = {}};
    for (const auto& p : report.providers) out.providers.insert(clean(p.provider));
    for (const auto& d : report.deviations) {
        const bool confirmed = d.program && d.program->result == ProgramRun::Result::Shown;
        ClauseFinding one{.by_provider = {{clean(d.provider), {.grade = d.grade, .calls = d.seen}}},
                          .shown_by = print_case(d.shown_by, d.clause),
                          .seen = line_of(d.summary),
                          .provider = clean(d.provider),
                          .confirmed = confirmed};
        add(out.by_clause[model::clause_text(d.clause).id], one);
    }
    for (auto& [id, finding] : out.by_clause)
        for (auto& [provider, breach] : finding.by_provider)
            breach.calls = calls_of(report, provider, model::find_clause(id)->clause, breach.calls);
    return out;
}

void merge_findings(Findings& to, const Findings& more) {
    to.providers.insert(more.providers.begin(), more.providers.end());
    for (const auto& [id, finding] : more.by_clause) add(to.by_clause[id], finding);
}

// A clause is a line, so that what changed from one digest to the next can be read.
std::string findings_json(const Findings& findings) {
    const Json head = {{"format", "selvage-findings"},
                       {"format_version", 1},
                       {"subject",
                        {{"path", clean(findings.subject.path)},
                         {"build_id", clean(findings.subject.build_id)},
                         {"version", findings.subject.version.str()}}},
                       {"cases", findings.cases},
                       {"providers", findings.providers}};
    std::string out = head.dump();
    out.back() = ',';
    out += "\n\"findings\": [";
    for (const auto& [id, finding] : findings.by_clause) {
        out += (out.ends_with('[') ? "\n" : ",\n") + clause_json(id, finding).dump();
    }
    return out + "\n]}\n";
}

bool read_findings(std::string_view json, Findings& out, std::string& error) {
    out = {};
    try {
        const Json j = Json::parse(json);
        if (j.value("format", "") == "selvage-findings") return read_digest(j, out, error);
    } catch (const Json::exception& e) {
        error = e.what();
        return false;
    }
    Report report;
    if (!read_report_json(json, report, error)) return false;
    out = findings_of(report);
    return true;
}

}  // namespace selvage::conformance
