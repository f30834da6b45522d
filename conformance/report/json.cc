// The JSON report: written and read.  Its schema is docs/report.schema.json; a test holds the two together.
#include <nlohmann/json.hpp>

#include <charconv>

#include "conformance/base/markup.h"
#include "conformance/case/case_text.h"
#include "conformance/case/quoted.h"
#include "conformance/report/evidence_names.h"
#include "conformance/report/view.h"
#include "conformance/report/write.h"
#include "model/text/call_text.h"

namespace selvage::conformance {
namespace {

using Json = nlohmann::ordered_json;
using model::Evidence;

constexpr ProgramRun::Result kProgramResults[] = {ProgramRun::Result::Shown, ProgramRun::Result::NotShown,
                                                  ProgramRun::Result::CannotTell, ProgramRun::Result::NotRun};

// 64-bit values are strings: many readers of JSON round numbers to 53 bits.
std::string hex(std::uint64_t v) {
    char digits[20];
    const auto r = std::to_chars(digits, digits + sizeof digits, v, 16);
    return "0x" + std::string(digits, r.ptr);
}

Json observed_json(const model::Observed& o) {
    Json j = {{"what", word_for(kObservableNames, o.what)}};
    if (!o.operations.empty()) {
        j["operations"] = o.operations;
    } else if (model::is_of_transfers(o.what)) {
        j["side"] = model::name_of(o.side);
        j["transmits"] = o.transmits;
        j["counter"] = word_for(kCounterNames, o.counter);
    }
    if (o.limit != model::Field::subject) j["limit"] = model::row(o.limit).path;
    for (const auto value : o.also) j["also"].push_back(hex(value));
    return j;
}

Json evidence_json(const Evidence& e) {
    Json j = {
        {"relation", word_for(kRelationNames, e.relation)}, {"wanted", hex(e.expected)}, {"actual", hex(e.actual)}};
    if (e.expected_field != model::Field::subject) j["wanted_field"] = model::row(e.expected_field).path;
    if (e.expected_text) j["wanted_text"] = quote(*e.expected_text);
    if (e.actual_text) j["actual_text"] = quote(*e.actual_text);
    if (!e.note.empty()) j["note"] = clean(e.note);
    if (e.offer >= 0) j["offer"] = e.offer;
    if (is_crash(e)) j["crash"] = word_for(kCrashNames, e.crash);
    if (e.observed.what != model::Observable::None) j["observed"] = observed_json(e.observed);
    return j;
}

Json because_json(const model::Because& b) {
    return {{"clause", model::clause_text(b.clause).id},  {"text", clean(model::print_evidence(b.evidence))},
            {"field", model::row(b.evidence.field).path}, {"wanted", expected_text(b.evidence)},
            {"actual", actual_text(b.evidence)},          {"supporting", b.supporting},
            {"evidence", evidence_json(b.evidence)}};
}

Json program_json(const ProgramRun& run) {
    return {
        {"result", name(run.result)}, {"shown", run.tries.shown}, {"of", run.tries.of}, {"detail", clean(run.detail)}};
}

Json deviation_json(const Deviation& d) {
    Json j = {{"clause", model::clause_text(d.clause).id},
              {"provider", clean(d.provider)},
              {"api_version", d.api_version.str()},
              {"grade", name(d.grade)},
              {"summary", clean(d.summary)},
              {"because", Json::array()},
              {"call", print_case(d.shown_by, d.clause)},
              {"reproducer", clean(d.reproducer)},
              {"seen", d.seen}};
    for (const auto& b : d.because) j["because"].push_back(because_json(b));
    if (d.intermittent) j["intermittent"] = {{"shown", d.intermittent->shown}, {"of", d.intermittent->of}};
    if (d.program) j["program"] = program_json(*d.program);
    if (!d.waived.empty()) j["waived"] = clean(d.waived);
    if (!d.saved_as.empty()) j["saved_as"] = clean(d.saved_as);
    return j;
}

Json clause_json(const Report& r, const ProviderResult& p, const model::ClauseText& c) {
    const auto result = result_of(r, p, c.clause);
    const auto index = static_cast<std::size_t>(c.clause);
    Json j = {{"id", c.id},
              {"level", model::name(c.level)},
              {"status", model::name(c.status)},
              {"provider", clean(p.provider)},
              {"result", name(result)},
              {"checked", p.tally.applied[index]},
              {"broken", p.tally.broken[index]}};
    if (const auto reason = reason_of(r, p, c.clause); !reason.empty()) j["reason"] = clean(reason);
    return j;
}

Json coverage_json(const Coverage& c) {
    return {{"judged", c.judged},
            {"reached", c.reached},
            {"unreached", c.explained + c.unexplained},
            {"unexplained", c.unexplained},
            {"unseen", c.unseen}};
}

Json provider_json(const Report& r, const ProviderResult& p) {
    const auto n = counts_of(r, p);
    Json j = {{"provider", clean(p.provider)},
              {"judged", p.judged},
              {"kept", n[0]},
              {"broken", n[1]},
              {"unreached", n[2]},
              {"unseen", n[3]},
              {"must", coverage_json(coverage_of(r, p))},
              {"notes", Json::array()}};
    for (const auto& note : p.notes) j["notes"].push_back(clean(note));
    return j;
}

Json programs_json(const Report& r) {
    Json j = Json::object();
    const auto n = program_counts(r);
    for (const auto result : kProgramResults) j[std::string(name(result))] = n[static_cast<std::size_t>(result)];
    return j;
}

Json counts_json(const Report& r) {
    std::array<std::uint64_t, kGradeCount> grades{};
    std::uint64_t waived = 0;
    std::uint64_t judged = 0;
    std::uint64_t at_times = 0;
    for (const auto& d : r.deviations) {
        at_times += d.waived.empty() && d.intermittent ? 1 : 0;
        if (!d.waived.empty())
            ++waived;
        else
            ++grades[static_cast<std::size_t>(d.grade)];
    }
    for (const auto& p : r.providers) judged += p.judged;
    const auto of = [&](Grade g) { return grades[static_cast<std::size_t>(g)]; };
    return {{"clauses", model::clauses().size()},
            {"judged", judged},
            {"deviations", r.deviations.size()},
            {"waived", waived},
            {"fatal", of(Grade::Fatal)},
            {"violation", of(Grade::Violation)},
            {"intermittent", of(Grade::Intermittent)},
            {"weakness", of(Grade::Weakness)},
            {"disputed", of(Grade::Disputed)},
            {"at_times", at_times},
            {"programs", programs_json(r)},
            {"must", coverage_json(coverage_of(r))}};
}

Json run_json(const Report& r) {
    Json times = Json::array();
    for (const auto& p : r.providers)
        times.push_back({{"provider", clean(p.provider)}, {"seconds", p.seconds}, {"call_seconds", p.call_seconds}});
    return {{"times", times}};
}

// ---- reading -------------------------------------------------------------------------------------------------------

// What a report does not have where it should: caught in read_report_json.
struct Unreadable {
    std::string what;
};

model::Version read_version(const std::string& text) {
    model::Version v;
    if (!model::parse_version(text, v)) throw Unreadable{"'" + text + "' is no version"};
    return v;
}

model::Clause read_clause(const std::string& id) {
    const auto* c = model::find_clause(id);
    if (c == nullptr) throw Unreadable{"this build knows no clause " + id};
    return c->clause;
}

model::Field read_field(const std::string& path) {
    const auto* row = model::find_field(path);
    if (row == nullptr) throw Unreadable{"there is no field " + path};
    return row->field;
}

std::uint64_t read_hex(const std::string& text) {
    std::uint64_t v = 0;
    const auto digits = std::string_view(text).substr(text.starts_with("0x") ? 2 : 0);
    const auto r = std::from_chars(digits.data(), digits.data() + digits.size(), v, 16);
    if (r.ec != std::errc{} || r.ptr != digits.data() + digits.size()) throw Unreadable{"'" + text + "' is no number"};
    return v;
}

std::string read_quoted(const std::string& text) {
    std::string out;
    if (!unquote(text, out)) throw Unreadable{text + " is no quoted string"};
    return out;
}

// What a word of a report stands for.
template <typename Table>
auto read_word(const Table& names, const Json& j) {
    const auto value = value_for(names, j.get<std::string>());
    if (!value) throw Unreadable{"there is no " + j.get<std::string>() + " in evidence"};
    return *value;
}

model::Observed read_observed(const Json& j) {
    model::Observed o;
    o.what = read_word(kObservableNames, j.at("what"));
    o.operations = j.value("operations", std::vector<int>{});
    o.side = j.value("side", "A") == "A" ? model::Side::A : model::Side::B;
    o.transmits = j.value("transmits", false);
    if (j.contains("counter")) o.counter = read_word(kCounterNames, j["counter"]);
    if (j.contains("limit")) o.limit = read_field(j["limit"]);
    for (const auto& value : j.value("also", Json::array())) o.also.push_back(read_hex(value));
    return o;
}

model::Because read_because(const Json& j) {
    model::Because b;
    b.clause = read_clause(j.at("clause"));
    const Json& e = j.at("evidence");
    b.evidence.field = read_field(j.at("field"));
    b.evidence.relation = read_word(kRelationNames, e.at("relation"));
    b.evidence.expected = read_hex(e.at("wanted"));
    b.evidence.actual = read_hex(e.at("actual"));
    if (e.contains("wanted_field")) b.evidence.expected_field = read_field(e["wanted_field"]);
    if (e.contains("wanted_text")) b.evidence.expected_text = read_quoted(e["wanted_text"]);
    if (e.contains("actual_text")) b.evidence.actual_text = read_quoted(e["actual_text"]);
    b.evidence.note = e.value("note", "");
    b.evidence.offer = e.value("offer", -1);
    if (e.contains("crash")) b.evidence.crash = read_word(kCrashNames, e["crash"]);
    if (e.contains("observed")) b.evidence.observed = read_observed(e["observed"]);
    b.supporting = j.value("supporting", false);
    return b;
}

Grade read_grade(const std::string& word) {
    if (const auto grade = grade_named(word)) return *grade;
    throw Unreadable{"there is no grade " + word};
}

ProgramRun read_program(const Json& j) {
    const std::string word = j.at("result");
    for (const auto result : kProgramResults)
        if (name(result) == word)
            return {.result = result,
                    .tries = {.shown = j.at("shown"), .of = j.at("of")},
                    .detail = j.at("detail").get<std::string>()};
    throw Unreadable{"a program does not come to " + word};
}

Deviation read_deviation(const Json& j) {
    Deviation d;
    d.clause = read_clause(j.at("clause"));
    d.provider = j.at("provider");
    d.api_version = read_version(j.at("api_version"));
    d.grade = read_grade(j.at("grade"));
    d.summary = j.at("summary");
    for (const auto& b : j.at("because")) d.because.push_back(read_because(b));
    CaseFile file;
    CaseError error;
    if (!parse_case(j.at("call").get<std::string>(), file, error))
        throw Unreadable{"the case of a deviation: " + error.str()};
    d.shown_by = std::move(file.shown);
    d.reproducer = j.at("reproducer");
    d.seen = j.at("seen");
    if (j.contains("intermittent"))
        d.intermittent = Tries{.shown = j["intermittent"].at("shown"), .of = j["intermittent"].at("of")};
    if (j.contains("program")) d.program = read_program(j["program"]);
    d.waived = j.value("waived", "");
    d.saved_as = j.value("saved_as", "");
    return d;
}

void read_providers(const Json& j, Report& out) {
    for (const auto& p : j.at("providers")) {
        ProviderResult r;
        r.provider = p.at("provider");
        r.judged = p.at("judged");
        r.notes = p.at("notes").get<std::vector<std::string>>();
        out.providers.push_back(std::move(r));
    }
    for (const auto& c : j.at("clauses")) {
        const auto index = static_cast<std::size_t>(read_clause(c.at("id")));
        for (auto& p : out.providers) {
            if (p.provider != c.at("provider").get<std::string>()) continue;
            p.tally.applied[index] = c.at("checked");
            p.tally.broken[index] = c.at("broken");
            if (c.at("result") == name(ClauseResult::Unreached) && c.contains("reason"))
                p.reasons[static_cast<model::Clause>(index)] = c.at("reason");
        }
    }
    for (const auto& t : j.at("run").at("times")) {
        for (auto& p : out.providers) {
            if (p.provider != t.at("provider").get<std::string>()) continue;
            p.seconds = t.at("seconds");
            p.call_seconds = t.at("call_seconds");
        }
    }
}

}  // namespace

std::string report_json(const Report& r) {
    Json j = {{"format", "selvage-report"},
              {"format_version", 1},
              {"subject",
               {{"path", clean(r.subject.path)},
                {"build_id", clean(r.subject.build_id)},
                {"version", r.subject.version.str()}}},
              {"seed", r.seed},
              {"cases", r.cases},
              {"transfers", r.transfers},
              {"counts", counts_json(r)},
              {"providers", Json::array()},
              {"clauses", Json::array()},
              {"deviations", Json::array()}};
    for (const auto& p : r.providers) j["providers"].push_back(provider_json(r, p));
    for (const auto& p : r.providers)
        for (const auto& c : model::clauses()) j["clauses"].push_back(clause_json(r, p, c));
    for (const auto* d : ordered(r)) j["deviations"].push_back(deviation_json(*d));
    j["run"] = run_json(r);
    return j.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

bool read_report_json(std::string_view text, Report& out, std::string& error) {
    out = {};
    try {
        const auto j = Json::parse(text);
        if (j.value("format", "") != "selvage-report") throw Unreadable{"this is no report of selvage check"};
        if (j.at("format_version") != 1) throw Unreadable{"this report is of a later format"};
        out.subject.path = j.at("subject").at("path");
        out.subject.build_id = j.at("subject").at("build_id");
        out.subject.version = read_version(j.at("subject").at("version"));
        out.seed = j.at("seed");
        out.cases = j.at("cases");
        out.transfers = j.value("transfers", "");
        read_providers(j, out);
        for (const auto& d : j.at("deviations")) out.deviations.push_back(read_deviation(d));
        return true;
    } catch (const Unreadable& e) {
        error = e.what;
    } catch (const Json::exception& e) {
        error = e.what();
    }
    return false;
}

}  // namespace selvage::conformance
