// Reports: all four forms of a report made by hand, hostile text included; JSON by its schema, and read back.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>

#include "conformance/base/markup.h"
#include "conformance/report/coverage_page.h"
#include "conformance/report/shared_parts.h"
#include "conformance/report/view.h"
#include "conformance/report/waiver.h"
#include "conformance/report/write.h"
#include "conformance/reproduce/reproduce.h"
#include "conformance/test/schema_util.h"
#include "model/spec/clause.h"

namespace selvage::conformance {
namespace {

using model::Because;
using model::Field;
using model::Relation;
using nlohmann::json;

constexpr const char* kReason = "no offer has a nic of <copper>";
constexpr const char* kHostile = "<script>alert(\"1\")</script>&'\x01\xff]]>";

std::string read(const std::string& path) {
    std::ostringstream o;
    o << std::ifstream(path).rdbuf();
    return o.str();
}

// The n-th clause of a kind.
model::Clause clause(model::Level level, model::Status status, std::size_t n) {
    for (const auto& c : model::clauses())
        if (c.level == level && c.status == status && c.judges != model::Judges::None && n-- == 0) return c.clause;
    return model::clauses().front().clause;
}

Because link(model::Clause c, Field field, Relation relation, std::uint64_t expected, std::uint64_t actual) {
    Because b;
    b.clause = c;
    b.evidence.field = field;
    b.evidence.relation = relation;
    b.evidence.expected = expected;
    b.evidence.actual = actual;
    b.evidence.offer = 2;
    return b;
}

Deviation deviation(model::Clause c, const std::string& provider, bool fatal, const std::string& summary) {
    Deviation d;
    d.clause = c;
    d.provider = provider;
    d.api_version = model::Version(1, 17);
    d.grade = grade_of(model::clause_text(c), fatal);
    d.summary = summary;
    d.because = {link(c, Field::tx_caps, Relation::Within, 0x3E, 0xFFE),
                 link(model::clauses()[3].clause, Field::domain_mr_mode, Relation::Equals, 0, 0x38)};
    d.because.back().supporting = true;
    d.shown_by.provider = provider;
    d.shown_by.first.version = model::Version(1, 17);
    d.shown_by.first.hints.emplace().present = model::kAllParts;
    d.shown_by.first.hints->caps = 2;
    d.shown_by.first.hints->fabric.prov_name = provider;
    d.reproducer = c_program(d.shown_by, c, d.because);
    d.seen = 4711;
    return d;
}

ProviderResult provider(const std::string& name, std::size_t salt) {
    ProviderResult p;
    p.provider = name;
    p.judged = 250000 + salt;
    p.seconds = 41.5;
    for (std::size_t i = 0; i < model::kClauseCount; ++i)
        if (model::clauses()[i].judges != model::Judges::None && (i * 7 + salt) % 11 != 0)
            p.tally.applied[i] = i * 131 + salt;
    for (std::size_t i = 0; i < model::kClauseCount; ++i)
        if (i % 2 == salt % 2) p.reasons[static_cast<model::Clause>(i)] = kReason;
    return p;
}

// A report with every grade, a waived deviation, and a library that writes nonsense.
Report sample() {
    using enum model::Level;
    using enum model::Status;
    Report r;
    r.subject = {"/usr/lib/x86_64-linux-gnu/libfabric.so.1.19.0", "9e1f7a03c25bd1", model::Version(1, 17)};
    r.seed = 0xFFFFFFFFFFFFFFFF;
    r.cases = 200000;
    std::size_t salt = 0;
    for (const char* name : {"tcp", "shm", "udp", "sockets", "net", "tcp;ofi_rxm", "udp;ofi_rxd"})
        r.providers.push_back(provider(name, ++salt));
    r.providers[2].notes.emplace_back("fi_domain was refused; what needs an open domain could not be run");
    r.deviations.push_back(
        deviation(clause(Must, Disputed, 2), "tcp;ofi_rxm", false, "an entry has caps that nobody asked for"));
    r.deviations.push_back(deviation(clause(Must, Clear, 9), "sockets", false, "tx_attr.caps is not within caps"));
    r.deviations.push_back(
        deviation(clause(Must, Clear, 30), "tcp", false, "an entry answers a threading model with another"));
    r.deviations.push_back(deviation(clause(Must, Clear, 9), "tcp", false, "tx_attr.caps is not within caps"));
    r.deviations.push_back(deviation(clause(Must, Clear, 60), "net", true,
                                     "fi_getinfo dies of signal 11 when the hints name no provider"));
    r.deviations.push_back(deviation(clause(Should, Clear, 0), "shm", false, kHostile));
    r.deviations.push_back(deviation(clause(Must, Clear, 41), "udp", false, "a name of the library's own making"));
    r.deviations.back().because[0].evidence.field = Field::domain_name;
    r.deviations.back().because[0].evidence.relation = Relation::TextEquals;
    r.deviations.back().because[0].evidence.expected_text = "lo";
    r.deviations.back().because[0].evidence.actual_text = kHostile;
    r.deviations.back().saved_as = "reproducers/name.c";
    r.deviations.push_back(deviation(clause(Must, Clear, 82), "udp", false, "seen by the kit alone"));
    r.deviations.back().grade = Grade::Intermittent;
    r.deviations.back().program = {ProgramRun::Result::NotShown, {.shown = 0, .of = 4}, "exits with 0"};
    r.deviations[0].program = {ProgramRun::Result::CannotTell, {.shown = 0, .of = 4}, kHostile};
    r.deviations[1].program = {ProgramRun::Result::Shown, {.shown = 1, .of = 3}, "exits with 1"};
    r.deviations[2].program = {ProgramRun::Result::NotRun, {}, "no compiler"};
    auto& compared = r.deviations[3].because[0].evidence.observed;
    compared.what = model::Observable::Error;
    compared.operations = {2, 0};
    compared.limit = Field::tx_inject_size;
    compared.also = {0, 0xFFFFFFFFFFFFFFFF};
    r.deviations[4].because[0].evidence = model::evidence_of_crash(11, false, false);
    auto& counted = r.deviations[5].because[0].evidence.observed;
    counted.what = model::Observable::Counter;
    counted.side = model::Side::B;
    counted.transmits = true;
    counted.counter = model::CounterKind::RemoteWrite;
    r.deviations.push_back(deviation(clause(Must, Clear, 77), "shm", false, "known for years"));
    for (const auto& d : r.deviations)
        for (auto& p : r.providers)
            if (p.provider == d.provider) p.tally.broken[static_cast<std::size_t>(d.clause)] = d.seen;
    Waiver waiver;
    waiver.clause = r.deviations.back().clause;
    waiver.provider = "*";
    waiver.reason = "will not be fixed";
    std::vector<Waiver> waivers = {waiver};
    apply_waivers(waivers, r);
    return r;
}

// Tags that open must close, in order.  Enough of XML and HTML for what we write.
std::string unbalanced(const std::string& text) {
    static const std::regex kTag(R"(<(/?)([a-zA-Z0-9]+)([^<>]*?)(/?)>)");
    std::vector<std::string> open;
    for (std::sregex_iterator i(text.begin(), text.end(), kTag), end; i != end; ++i) {
        const std::string name = (*i)[2];
        if ((*i)[4] == "/" || name == "meta" || name == "br" || name == "input") continue;
        if ((*i)[1] != "/") {
            open.push_back(name);
        } else if (open.empty() || open.back() != name) {
            return name;
        } else {
            open.pop_back();
        }
    }
    return open.empty() ? "" : open.back();
}

TEST(Grades, FollowFromLevelStatusAndHarm) {
    const auto& must = model::clause_text(clause(model::Level::Must, model::Status::Clear, 0));
    const auto& disputed = model::clause_text(clause(model::Level::Must, model::Status::Disputed, 0));
    const auto& should = model::clause_text(clause(model::Level::Should, model::Status::Clear, 0));
    EXPECT_EQ(grade_of(must, false), Grade::Violation);
    EXPECT_EQ(grade_of(disputed, false), Grade::Disputed);
    EXPECT_EQ(grade_of(should, false), Grade::Weakness);
    EXPECT_EQ(grade_of(disputed, true), Grade::Fatal);
    model::ClauseText use = disputed;
    use.use_disputed = true;
    EXPECT_EQ(grade_of(use, true), Grade::Disputed) << "the application may not be allowed to make the call";
}

TEST(Results, AreOneOfFour) {
    const auto r = sample();
    const auto n = counts_of(r, r.providers[0]);
    EXPECT_EQ(n[0] + n[1] + n[2] + n[3], model::clauses().size());
    EXPECT_EQ(n[1], 2U);
    EXPECT_GT(n[2], 0U);
}

TEST(ReportJson, KeepsToItsSchema) {
    const auto schema = json::parse(read(SELVAGE_SOURCE_DIR "/docs/report.schema.json"));
    validate(schema, json::parse(report_json(sample())), "report");
    validate(schema, json::parse(report_json(Report{})), "report");
}

TEST(ReportJson, IsReadBack) {
    const auto text = report_json(sample());
    Report back;
    std::string error;
    ASSERT_TRUE(read_report_json(text, back, error)) << error;
    EXPECT_TRUE(report_json(back) == text);
    EXPECT_EQ(back.seed, 0xFFFFFFFFFFFFFFFFU);
    EXPECT_EQ(back.deviations.size(), 9U);
}

TEST(ReportJson, TellsWhatItCannotRead) {
    Report r;
    std::string error;
    EXPECT_FALSE(read_report_json("{", r, error));
    EXPECT_FALSE(read_report_json("{}", r, error));
    EXPECT_EQ(error, "this is no report of selvage check");
    auto j = json::parse(report_json(sample()));
    j["deviations"][0]["clause"] = "no.such";
    EXPECT_FALSE(read_report_json(j.dump(), r, error));
    EXPECT_EQ(error, "this build knows no clause no.such");
}

TEST(Reports, DoNotDependOnTheOrderOfDeviations) {
    auto r = sample();
    const auto json_before = report_json(r);
    const auto html_before = report_html(r);
    std::reverse(r.deviations.begin(), r.deviations.end());
    EXPECT_TRUE(report_json(r) == json_before);
    EXPECT_TRUE(report_html(r) == html_before);
}

TEST(ReportText, TellsEverything) {
    const auto text = report_text(sample());
    for (const char* part :
         {"fatal: 1", "violation: 4", "intermittent: 1", "weakness: 1", "disputed: 1", "waived: 1", "will not be fixed",
          "Clauses by provider", "udp;ofi_rxd", "Unreached", "no offer has a nic", "no reason known",
          "must-clauses judged", "reproducers/name.c", "its program shows it 0 of 4 times (exits with 0)",
          "its program shows it 1 of 3 times", "its program was not run: no compiler",
          "1 of 9 findings are shown by their C programs, 1 are not, 1 cannot be told by theirs, 1 have"})
        EXPECT_NE(text.find(part), std::string::npos) << part;
    EXPECT_EQ(text.find('\x01'), std::string::npos);
    EXPECT_NE(report_text(Report{}).find("No broken promise"), std::string::npos);
}

TEST(Reports, OfAllFormsSayWhatCameOfThePrograms) {
    const auto report = sample();
    for (const auto& text : {report_text(report), report_html(report), report_junit(report)})
        for (const char* part : {"its program shows it 0 of 4 times", "its program shows it 1 of 3 times",
                                 "its program cannot tell, in 4 runs", "its program was not run: no compiler"})
            EXPECT_NE(text.find(part), std::string::npos) << part;
    const auto counts = json::parse(report_json(report)).at("counts");
    EXPECT_EQ(counts.at("intermittent"), 1);
    EXPECT_EQ(counts.at("programs"), json::parse(R"({"shown":1,"not-shown":1,"cannot-tell":1,"not-run":1})"));
}

TEST(ReportJunit, IsWellFormedAndCounts) {
    const auto text = report_junit(sample());
    EXPECT_EQ(unbalanced(text), "");
    EXPECT_EQ(text.find("<script"), std::string::npos);
    EXPECT_NE(
        text.find("<testsuite name=\"tcp\" tests=\"" + std::to_string(model::clauses().size()) + "\" failures=\"2\""),
        std::string::npos);
    EXPECT_NE(text.find("waived: will not be fixed"), std::string::npos);
    EXPECT_NE(text.find("not reached: no offer has a nic of &lt;copper&gt;"), std::string::npos);
}

std::string unescaped(std::string text) {
    for (const auto& [entity, c] :
         {std::pair("&lt;", "<"), {"&gt;", ">"}, {"&quot;", "\""}, {"&#39;", "'"}, {"&amp;", "&"}})
        for (std::size_t at = 0; (at = text.find(entity, at)) != std::string::npos; ++at)
            text.replace(at, std::string_view(entity).size(), c);
    return text;
}

// As the script of the page copies it: a link is the parts that it names.
std::string put_together(const std::string& program, const std::string& parts) {
    std::string out;
    std::size_t at = 0;
    while (true) {
        const auto link = program.find("<a class=\"part\"", at);
        out += program.substr(at, link - at);
        if (link == std::string::npos) return unescaped(out);
        const auto numbers = program.find("data-parts=\"", link) + 12;
        std::istringstream in(program.substr(numbers, program.find('"', numbers) - numbers));
        for (std::string range; in >> range;) {
            const int first = std::stoi(range), last = std::stoi(range.substr(range.find('-') + 1));
            for (int n = first; n <= last; ++n) {
                const auto tag = "<pre id=\"part-" + std::to_string(n) + "\">\n";
                const auto begin = parts.find(tag) + tag.size();
                out += parts.substr(begin, parts.find("</pre>", begin) - begin);
            }
        }
        at = program.find("</a>\n", link) + 5;
    }
}

TEST(ReportHtml, HasWhatProgramsShareOnceAndCopiesEachWhole) {
    const std::string shared = "static void run(void) { /* <&\"'> " + std::string(300, 'x') + " */ }\n\n";
    std::vector<Deviation> deviations(3);
    deviations[0].reproducer = "/* one */\n\n" + shared + shared + "int main(void) { return 1; }\n";
    deviations[1].reproducer = shared + "/* two */\n\n\n" + shared + "int main(void) { return 2; }";
    deviations[2].reproducer = "";
    const std::vector<const Deviation*> all = {&deviations[0], &deviations[1], &deviations[2]};
    SharedParts parts(all);
    for (const auto& d : deviations) {
        const auto html = parts.program_html(d.reproducer);
        EXPECT_EQ(html.find("xxx"), std::string::npos) << html;
        EXPECT_EQ(put_together(html, parts.parts_html()), d.reproducer);
    }
    EXPECT_EQ(parts.parts_html().find("part-1"), std::string::npos) << "one part, once";
}

TEST(ReportHtml, HasTheProgramsOfTheGravestFindingsWhereAllAreTooMuch) {
    Report r = sample();
    const Deviation one = r.deviations[0];
    r.deviations.assign(1000, one);
    std::string own(2000, 'm');
    for (std::size_t i = 0; i < r.deviations.size(); ++i) {
        r.deviations[i].grade = i == 999 ? Grade::Fatal : Grade::Violation;
        r.deviations[i].reproducer =
            std::string(30'000, 'r') + "\n\nint main(void) { /* " + own + std::to_string(i) + " */ }\n";
    }
    const std::string page = report_html(r);
    EXPECT_NE(page.find("m999 */"), std::string::npos) << "the gravest";
    EXPECT_NE(page.find("not on this page"), std::string::npos);
    for (auto& d : r.deviations) d.reproducer.clear();
    EXPECT_LT(page.size(), report_html(r).size() + 1'200'000) << "programs and what stands in for them";
}

TEST(ReportHtml, OfEightProvidersIsAtMostTwoMegabytes) {
    Report r = sample();
    r.providers.push_back(provider("net;ofi_rxm", 8));
    const std::vector<Deviation> some = r.deviations;
    for (const auto& p : r.providers) {  // each breaks one clause in seven, some of them often, as Debian's 1.17 does
        for (std::size_t i = 0; i < model::kClauseCount; i += 7) {
            if (model::clauses()[i].judges == model::Judges::None) continue;
            for (std::size_t n = 0; n <= i % 3; ++n) {
                Deviation d = some[i % some.size()];
                d.clause = model::clauses()[i].clause;
                d.provider = p.provider;
                d.saved_as = "0000-" + p.provider + "-of-a-clause.c";
                d.shown_by.first.node = std::string(40, 'n');  // the case is as long as most are
                r.deviations.push_back(std::move(d));
            }
        }
    }
    EXPECT_GT(r.deviations.size(), 1500U);
    const std::string page = report_html(r);
    EXPECT_LT(page.size(), 2'000'000U) << page.size();
    EXPECT_NE(page.find(" more of the same providers"), std::string::npos) << "what is left out is said";
    const auto line = page.find("<p class=\"short dim\" id=\"");
    ASSERT_NE(line, std::string::npos) << "of the least grave a line is left";
    EXPECT_GT(line, page.find("id=\"group-violation\""));
}

TEST(ReportHtml, IsOneSafePage) {
    const auto report = sample();
    const auto text = report_html(report);
    const auto script = text.find("<script>");
    EXPECT_EQ(text.find("<script", script + 1), std::string::npos) << "text of the library became markup";
    EXPECT_EQ(text.find("src="), std::string::npos);
    EXPECT_EQ(text.find("@import"), std::string::npos);
    EXPECT_EQ(unbalanced(text.substr(0, script)), "body");
    EXPECT_NE(text.find(escape(kReason)), std::string::npos);
    for (const auto* d : ordered(report)) EXPECT_NE(text.find(escape(d->summary)), std::string::npos) << d->summary;
    // Each broken cell leads to a finding.
    static const std::regex kLink("href=\"#([^\"]+)\"");
    for (std::sregex_iterator i(text.begin(), text.end(), kLink), end; i != end; ++i)
        EXPECT_NE(text.find("id=\"" + (*i)[1].str() + "\""), std::string::npos) << (*i)[1];
}

TEST(Sarif, HasARuleForEachBrokenClauseAndAResultForEachFinding) {
    Report r = sample();
    const auto j = nlohmann::json::parse(report_sarif(r));
    EXPECT_EQ(j.at("version"), "2.1.0");
    const auto& run = j.at("runs").at(0);
    const auto& rules = run.at("tool").at("driver").at("rules");
    const auto& results = run.at("results");
    ASSERT_EQ(results.size(), r.deviations.size());
    std::set<std::string> prints;
    for (const auto& one : results) {
        const std::size_t rule = one.at("ruleIndex");
        EXPECT_EQ(rules.at(rule).at("id"), one.at("ruleId"));
        EXPECT_FALSE(one.at("message").at("text").get<std::string>().empty());
        EXPECT_FALSE(one.at("locations").empty()) << "a host shows what has a place";
        prints.insert(one.at("partialFingerprints").at("selvage/v1"));
    }
    EXPECT_EQ(prints.size(), results.size()) << "each finding is followed from run to run by a name of its own";
    r.deviations.resize(1);
    r.deviations[0].waived = "known";
    const auto waived = nlohmann::json::parse(report_sarif(r)).at("runs").at(0).at("results").at(0);
    EXPECT_EQ(waived.at("suppressions").at(0).at("justification"), "known");
}

TEST(WriteReport, ChoosesTheFormByTheEnding) {
    const auto* keep = std::getenv("SELVAGE_KEEP_REPORTS");
    const std::string folder = keep != nullptr ? keep : testing::TempDir() + "selvage-report-test";
    std::filesystem::create_directories(folder);
    std::string error;
    for (const char* ending : {".txt", ".json", ".xml", ".html", ".sarif"})
        EXPECT_TRUE(write_report(sample(), folder + "/report" + ending, error)) << error;
    EXPECT_FALSE(write_report(sample(), folder + "/report.pdf", error));
    EXPECT_NE(error.find(kReportEndings), std::string::npos);
    EXPECT_FALSE(write_report(sample(), "/no/such/folder/report.txt", error));
    if (keep == nullptr) std::filesystem::remove_all(folder);
}

constexpr auto kToday = std::chrono::year(2026) / 11 / 26;

std::string waiver(const std::string& clause, const std::string& expires) {
    return "[[waiver]]\nclause = \"" + clause +
           "\"\nprovider = \"tcp\"\nowner = \"ann\"\nreason = \"old\"\nurl = \"https://a\"\nexpires = " + expires +
           "\n";
}

TEST(Waivers, AreReadAndApplied) {
    const std::string id(model::clauses()[5].id);
    std::vector<Waiver> waivers;
    std::string error;
    ASSERT_TRUE(parse_waivers(waiver(id, "2026-11-26"), kToday, waivers, error)) << error;
    Report r;
    r.deviations = {deviation(model::clauses()[5].clause, "tcp", false, "a"),
                    deviation(model::clauses()[5].clause, "shm", false, "b")};
    apply_waivers(waivers, r);
    EXPECT_EQ(r.deviations[0].waived, "old (ann, https://a, until 2026-11-26)");
    EXPECT_EQ(r.deviations[1].waived, "");
    EXPECT_EQ(waivers[0].used, 1U);
    EXPECT_EQ(unneeded_waiver(waivers, r), "");
}

TEST(Waivers, AreNotNeededWhereThePromiseWasLookedAtAndKept) {
    const auto& clause = model::clauses()[5];
    std::vector<Waiver> waivers;
    std::string error;
    ASSERT_TRUE(parse_waivers(waiver(std::string(clause.id), "2026-12-31"), kToday, waivers, error)) << error;
    Report r;
    r.providers.emplace_back().provider = "tcp";
    EXPECT_EQ(unneeded_waiver(waivers, r), "") << "nobody looked";
    r.providers[0].tally.applied[static_cast<std::size_t>(clause.clause)] = 3;
    EXPECT_NE(unneeded_waiver(waivers, r).find(clause.id), std::string::npos);
    r.providers[0].provider = "shm";
    EXPECT_EQ(unneeded_waiver(waivers, r), "") << "it is of another provider";
}

TEST(Waivers, TellWhereTheyAreWrong) {
    const auto refused = [](const std::string& text) {
        std::vector<Waiver> waivers;
        std::string error;
        EXPECT_FALSE(parse_waivers(text, kToday, waivers, error)) << text;
        return error;
    };
    EXPECT_TRUE(refused(waiver("no.such", "2027-01-01")).ends_with("selvage clauses lists them"));
    EXPECT_NE(refused("[[waiver]]\nclause = \"no.such\"\n").find("a waiver needs provider"), std::string::npos);
    EXPECT_NE(refused(waiver("getinfo.caps.granted", "\"soon\"")).find("line 7: a waiver needs expires"),
              std::string::npos);
    EXPECT_NE(refused(waiver("getinfo.caps.granted", "2026-11-25")).find("held until 2026-11-25"), std::string::npos);
    EXPECT_NE(refused("\nwaver = 1\n").find("line 2"), std::string::npos);
    EXPECT_NE(refused("[[waiver\n").find("line 1"), std::string::npos);
}

TEST(Cleaning, LeavesOnlyValidText) {
    EXPECT_EQ(clean("a\xC3\xA4\xFF\x01\n"), "a\xC3\xA4\\xff\\x01\n");
    EXPECT_EQ(clean("\xED\xA0\x80\xC0\x80"), "\\xed\\xa0\\x80\\xc0\\x80");
    EXPECT_EQ(escape("<&>\"'"), "&lt;&amp;&gt;&quot;&#39;");
}

// ---- the page of what was reached
// -------------------------------------------------------------------------------------

TEST(CoveragePage, CountsAreThoseOfTheReport) {
    const Report r = sample();
    const std::string page = coverage_markdown(std::span(&r, 1));
    const Coverage tcp = coverage_of(r, r.providers[0]);
    EXPECT_NE(page.find("| tcp | " + std::to_string(tcp.judged) + " | " + std::to_string(tcp.reached) + " | " +
                        std::to_string(tcp.explained) + " | " + std::to_string(tcp.unexplained) + " |"),
              std::string::npos)
        << page;
    EXPECT_NE(page.find("| together | "), std::string::npos);
}

TEST(CoveragePage, AClauseIsListedIfNoProviderReachedIt) {
    Report r = sample();
    r.deviations.clear();
    for (auto& p : r.providers) p.tally = {};
    const auto c = clause(model::Level::Must, model::Status::Clear, 3);
    const std::string row = "| `" + std::string(model::clause_text(c).id) + "` | ";
    EXPECT_NE(coverage_markdown(std::span(&r, 1)).find(row), std::string::npos);
    r.providers[4].tally.applied[static_cast<std::size_t>(c)] = 1;
    EXPECT_EQ(coverage_markdown(std::span(&r, 1)).find(row), std::string::npos);
}

TEST(CoveragePage, OnlyWhatStandsBehindTheMarkIsMadeAnew) {
    const Report r = sample();
    const std::string head = "# Mine\n\n" + std::string(kCoverageMark) + "\n";
    std::string once, twice;
    ASSERT_TRUE(renew_coverage(head + "old\n", std::span(&r, 1), once));
    EXPECT_TRUE(once.starts_with(head));
    EXPECT_EQ(once.find("old\n"), std::string::npos);
    ASSERT_TRUE(renew_coverage(once, std::span(&r, 1), twice));
    EXPECT_EQ(once, twice);
    EXPECT_FALSE(renew_coverage("# Mine\n", std::span(&r, 1), once));
}

TEST(CoveragePage, ThePageOfTheDocumentsHasTheMark) {
    EXPECT_NE(read(SELVAGE_DOCS_DIR "/coverage.md").find(kCoverageMark), std::string::npos);
}

}  // namespace
}  // namespace selvage::conformance
