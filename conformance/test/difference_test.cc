// selvage diff and selvage matrix: what reports say beside each other.
#include "conformance/report/difference.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "conformance/report/matrix.h"
#include "conformance/report/write.h"
#include "conformance/test/tool_util.h"

namespace selvage::conformance {
namespace {

using Kind = ClauseChange::Kind;

const model::ClauseText& clause(std::string_view id) { return *model::find_clause(id); }

// Of each clause that is named: reached, and broken with a grade if it has one.
struct Stand {
    std::string_view id;
    std::optional<Grade> grade;
};

void add_provider(Report& r, const std::string& provider, const std::vector<Stand>& stands) {
    auto& p = r.providers.emplace_back();
    p.provider = provider;
    for (const Stand& s : stands) {
        const auto& c = clause(s.id);
        p.tally.applied[static_cast<std::size_t>(c.clause)] = 5;
        if (!s.grade) continue;
        p.tally.broken[static_cast<std::size_t>(c.clause)] = 2;
        Deviation d;
        d.clause = c.clause;
        d.provider = provider;
        d.grade = *s.grade;
        d.summary = "broken";
        d.shown_by.provider = provider;
        d.shown_by.first.version = model::Version(1, 17);
        r.deviations.push_back(std::move(d));
    }
}

Report report_of(const std::vector<Stand>& stands, const std::string& provider = "tcp") {
    Report r;
    r.subject = {"/lib/libfabric.so.1", "abc", model::Version(1, 17)};
    r.cases = 20;
    add_provider(r, provider, stands);
    return r;
}

constexpr std::string_view kOne = "cq.olen.discarded";
constexpr std::string_view kTwo = "domain.auth.granted";
constexpr std::string_view kThree = "getinfo.flags.unknown-refused";

std::vector<Kind> kinds(const Report& before, const Report& after) {
    std::vector<Kind> out;
    for (const auto& c : difference_of(before, after).changes) out.push_back(c.kind);
    return out;
}

TEST(Difference, TellsWhatIsBrokenThatWasKeptFromWhatWasNotLookedAt) {
    const Report kept = report_of({{kOne, {}}}), broken = report_of({{kOne, Grade::Violation}}),
                 nothing = report_of({});
    EXPECT_EQ(kinds(kept, broken), std::vector{Kind::Broken});
    EXPECT_EQ(kinds(nothing, broken), std::vector{Kind::Found});
    EXPECT_EQ(kinds(broken, kept), std::vector{Kind::Mended});
    EXPECT_EQ(kinds(broken, nothing), std::vector{Kind::Unlooked}) << "a run that looks at less has mended nothing";
    EXPECT_TRUE(kinds(broken, broken).empty());
}

TEST(Difference, TellsAGraverFindingFromAMilderOne) {
    const Report violation = report_of({{kOne, Grade::Violation}}), fatal = report_of({{kOne, Grade::Fatal}});
    EXPECT_EQ(kinds(violation, fatal), std::vector{Kind::Graver});
    EXPECT_EQ(kinds(fatal, violation), std::vector{Kind::Milder});
    const std::string text = difference_text(violation, fatal, difference_of(violation, fatal));
    EXPECT_TRUE(contains(text, "violation -> fatal")) << text;
}

TEST(Difference, IsWorseByWhatCounts) {
    const Report kept = report_of({{kOne, {}}, {kThree, {}}});
    const Report violated = report_of({{kOne, Grade::Violation}, {kThree, {}}});
    const Report disputed = report_of({{kOne, {}}, {kThree, Grade::Disputed}});
    EXPECT_TRUE(is_worse(difference_of(kept, violated), false));
    EXPECT_FALSE(is_worse(difference_of(violated, kept), true)) << "what is mended is no harm";
    EXPECT_FALSE(is_worse(difference_of(kept, disputed), false));
    EXPECT_TRUE(is_worse(difference_of(kept, disputed), true));
}

TEST(Difference, NamesProvidersTogetherAndThoseThatOneReportAloneJudges) {
    Report before = report_of({{kOne, {}}}), after = report_of({{kOne, Grade::Violation}});
    add_provider(before, "shm", {{kOne, {}}});
    add_provider(after, "shm", {{kOne, Grade::Violation}});
    add_provider(before, "udp", {});
    add_provider(after, "net", {});
    const std::string text = difference_text(before, after, difference_of(before, after));
    EXPECT_TRUE(contains(text, "cq.olen.discarded  tcp, shm\n")) << text;
    EXPECT_TRUE(contains(text, "not judged any more: udp\n")) << text;
    EXPECT_TRUE(contains(text, "not judged before: net\n")) << text;
    EXPECT_FALSE(contains(text, "not asked alike")) << text;
    after.seed = 2;
    EXPECT_TRUE(contains(difference_text(before, after, difference_of(before, after)), "not asked alike"));
}

TEST(DiffTool, ExitsWithOneWhereAReleaseBreaksAPromiseAndTellsBadInputInALine) {
    const Folder folder;
    const auto kept = folder.write("kept.json", report_json(report_of({{kOne, {}}})));
    const auto broken = folder.write("broken.json", report_json(report_of({{kOne, Grade::Violation}})));
    EXPECT_EQ(run_tool({"diff", kept, broken}).status, 1);
    EXPECT_EQ(run_tool({"diff", broken, kept}).status, 0);
    EXPECT_EQ(run_tool({"diff", kept, kept}).status, 0);
    for (const auto& bad : {folder.path("none.json"), folder.write("bad.json", "{}")}) {
        const Ran ran = run_tool({"diff", kept, bad});
        EXPECT_EQ(ran.status, 2);
        EXPECT_TRUE(contains(ran.err, bad)) << ran.err;
        EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << ran.err;
    }
}

TEST(Matrix, CountsBrokenAmongReachedByAreaAndProvider) {
    Report one = report_of({{kOne, Grade::Violation}, {kTwo, {}}, {kThree, Grade::Disputed}});
    add_provider(one, "shm", {{kOne, {}}});
    const Matrix m = matrix_of(std::span(&one, 1));
    ASSERT_EQ(m.columns.size(), 2U);
    EXPECT_EQ(m.columns[0].areas.at("cq").broken, 1U);
    EXPECT_EQ(m.columns[0].areas.at("domain").broken, 0U);
    EXPECT_EQ(m.columns[0].all.reached, 3U);
    EXPECT_EQ(m.columns[0].all.broken, 2U);
    EXPECT_EQ(m.columns[0].all.grade, Grade::Violation) << "the gravest";
    EXPECT_EQ(m.columns[1].areas.count("domain"), 0U);
    const std::string text = matrix_text(m);
    EXPECT_TRUE(contains(text, "2/3")) << text;
    EXPECT_TRUE(contains(text, "·")) << "where nothing was reached: " << text;
}

TEST(Matrix, TellsLibrariesApartAndCarriesNoMarkOfAHostileName) {
    std::vector<Report> reports = {report_of({{kOne, {}}}), report_of({{kOne, Grade::Fatal}}, "<b>tcp\x1b[31m")};
    const Matrix m = matrix_of(reports);
    EXPECT_TRUE(contains(matrix_text(m), "A:tcp")) << matrix_text(m);
    EXPECT_FALSE(contains(matrix_text(m), "\x1b[31m")) << "the terminal is not the library's to colour";
    const std::string page = matrix_html(m);
    EXPECT_FALSE(contains(page, "<b>tcp")) << page;
    EXPECT_TRUE(contains(page, "&lt;b&gt;tcp")) << page;
    EXPECT_TRUE(contains(page, "class=\"cell broken fatal\">1/1")) << page;
    EXPECT_FALSE(contains(page, "<script")) << "it is for reading";
}

}  // namespace
}  // namespace selvage::conformance
