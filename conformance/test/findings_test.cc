// selvage findings: what several reports found is one page, the same whatever order they come in.
#include <gtest/gtest.h>

#include "conformance/report/findings.h"
#include "conformance/report/write.h"
#include "conformance/test/tool_util.h"

namespace selvage::conformance {
namespace {

constexpr std::string_view kClear = "cq.olen.discarded";
constexpr std::string_view kOther = "domain.auth.granted";
constexpr std::string_view kDisputed = "getinfo.flags.unknown-refused";

Deviation deviation(std::string_view clause, const std::string& provider, Grade grade, std::uint64_t flags = 0) {
    Deviation d;
    d.clause = model::find_clause(clause)->clause;
    d.provider = provider;
    d.grade = grade;
    d.summary = "broken";
    d.shown_by.provider = provider;
    d.shown_by.first.version = model::Version(1, 17);
    d.shown_by.first.flags = flags;
    d.program = {ProgramRun::Result::Shown, {.shown = 1, .of = 1}, ""};
    return d;
}

Report report_of(const std::string& provider, std::vector<Deviation> deviations) {
    Report r;
    r.subject = {"/lib/libfabric.so.1", "abc", model::Version(1, 17)};
    r.cases = 20;
    r.providers.emplace_back().provider = provider;
    for (const auto& d : deviations) r.providers[0].tally.broken[static_cast<std::size_t>(d.clause)] = 7;
    r.deviations = std::move(deviations);
    return r;
}

Report of_shm() {
    return report_of("shm", {deviation(kClear, "shm", Grade::Violation, 0x8000),
                             deviation(kClear, "shm", Grade::Fatal, 8), deviation(kDisputed, "shm", Grade::Disputed)});
}

Report of_tcp() {
    return report_of("tcp;ofi_rxm", {deviation(kClear, "tcp;ofi_rxm", Grade::Violation),
                                     deviation(kOther, "tcp;ofi_rxm", Grade::Violation)});
}

std::string page_of(const Findings& f, const std::map<std::string, std::string>& prose = {}) {
    std::string page, error;
    EXPECT_TRUE(findings_page(f, prose, page, error)) << error;
    return page;
}

Findings both() {
    Findings f = findings_of(of_shm());
    merge_findings(f, findings_of(of_tcp()));
    return f;
}

TEST(Findings, StandInTheChapterOfTheGravestGradeOnce) {
    const std::string page = page_of(both());
    const auto fatal = page.find("## Fatal (1)\n\n### cq.olen.discarded\n");
    const auto strict = page.find("## Strict violations (1)\n\n### domain.auth.granted\n");
    const auto disputed = page.find("## Disputed readings (1)\n\n### getinfo.flags.unknown-refused\n");
    EXPECT_LT(fatal, strict) << page;
    EXPECT_LT(strict, disputed) << page;
    EXPECT_TRUE(contains(page, "calls that broke it: shm (7), tcp;ofi_rxm (7, violation)\n")) << page;
    EXPECT_FALSE(contains(page, "Intermittent"));
}

TEST(Findings, ATableTellsWhichProviderBrokeWhichClauseHowGravely) {
    EXPECT_TRUE(contains(page_of(both()),
                         "## Broken promises by provider\n\n| clause | shm | tcp;ofi_rxm |\n|---|---|---|\n"
                         "| `cq.olen.discarded` | fatal | violation |\n| `domain.auth.granted` | | violation |\n"
                         "| `getinfo.flags.unknown-refused` | disputed | |\n\n## Fatal"))
        << page_of(both());
}

TEST(Findings, AreShownByTheSmallestCaseOfTheGravestGrade) {
    const Findings f = both();
    EXPECT_TRUE(contains(f.by_clause.at(kClear).shown_by, "flags=0x8\n"));
    Report two = of_tcp();
    two.deviations.push_back(deviation(kOther, "tcp;ofi_rxm", Grade::Violation, 0x8000));
    two.deviations[1].program->result = ProgramRun::Result::NotShown;
    EXPECT_TRUE(contains(findings_of(two).by_clause.at(kOther).shown_by, "flags=0x8000")) << "its program shows it";
}

TEST(Findings, SayWhatTheLibraryDidInThatCaseInOneLine) {
    Report one = of_shm();
    one.deviations[1].summary = "string is `a`\nb, must be \x01";
    const std::string page = page_of(findings_of(one));
    EXPECT_TRUE(contains(page, "* what shm did: `string is 'a' b, must be \\x01`\n* smallest")) << page;
}

TEST(Findings, AreTheSameBytesInAnyOrderOfTheReports) {
    Findings turned = findings_of(of_tcp());
    merge_findings(turned, findings_of(of_shm()));
    EXPECT_EQ(findings_json(both()), findings_json(turned));
    EXPECT_EQ(page_of(both()), page_of(turned));
}

TEST(Findings, ADigestHoldsWhatThePageNeeds) {
    Findings read;
    std::string error;
    ASSERT_TRUE(read_findings(findings_json(both()), read, error)) << error;
    EXPECT_EQ(page_of(read), page_of(both()));
    EXPECT_EQ(findings_json(read), findings_json(both()));
    ASSERT_TRUE(read_findings(report_json(of_shm()), read, error)) << error;
    EXPECT_EQ(page_of(read), page_of(findings_of(of_shm())));
    EXPECT_FALSE(read_findings("{}", read, error));
    EXPECT_FALSE(read_findings(R"({"format":"selvage-findings","format_version":2})", read, error));
}

TEST(Findings, ATextStandsWithItsClauseAndIsSharedByReference) {
    const std::string page =
        page_of(both(), {{"introduction", "# Mine\n"}, {std::string(kOther), "Words.\n\nAlso: cq.olen.discarded\n"}});
    EXPECT_TRUE(contains(page, "-->\n# Mine\n\n")) << page;
    EXPECT_TRUE(contains(page, "### domain.auth.granted\n\nWords.\n\n* ")) << page;
    EXPECT_TRUE(contains(page, "### cq.olen.discarded\n\nSee `domain.auth.granted`.\n")) << page;
}

TEST(Findings, ATextOfAClauseThatNobodyBrokeIsAnError) {
    std::string page, error;
    EXPECT_FALSE(findings_page(both(), {{"cq.data.carried", "Words.\n"}}, page, error));
    EXPECT_TRUE(contains(error, "cq.data.carried.md")) << error;
    EXPECT_FALSE(findings_page(both(), {{std::string(kOther), "Words.\nAlso: no.such\n"}}, page, error));
    EXPECT_TRUE(contains(error, "no.such")) << error;
    EXPECT_FALSE(findings_page(
        both(), {{std::string(kOther), "Words.\n"}, {std::string(kClear), "Words.\nAlso: domain.auth.granted\n"}}, page,
        error));
}

TEST(Findings, TheToolSaysWhetherAPageIsUpToDate) {
    const Folder folder;
    const auto shm = folder.write("shm.json", report_json(of_shm()));
    const auto tcp = folder.write("tcp.json", report_json(of_tcp()));
    const auto page = folder.path("page.md"), digest = folder.path("digest.json");
    ASSERT_EQ(run_tool({"findings", shm, tcp, "--digest", digest, "--output", page}).status, 0);
    EXPECT_EQ(slurp(page), page_of(both()));
    EXPECT_EQ(run_tool({"findings", digest, "--check", page}).status, 0);
    EXPECT_EQ(run_tool({"findings", shm, "--check", page}).status, 1);
    EXPECT_EQ(run_tool({"findings", shm, "--check", "/no/such"}).status, 2);
    EXPECT_EQ(run_tool({"findings", page}).status, 2);
    Report other = of_tcp();
    other.subject.build_id = "another";
    const Ran ran = run_tool({"findings", shm, folder.write("other.json", report_json(other))});
    EXPECT_EQ(ran.status, 2);
    EXPECT_TRUE(contains(ran.err, "other.json: is of another library")) << ran.err;
}

}  // namespace
}  // namespace selvage::conformance
