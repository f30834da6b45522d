// selvage clauses: what it quotes of the pages is what the index has the digest of.
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "conformance/test/tool_util.h"
#include "model/spec/clause.h"
#include "model/specc/pages.h"

namespace selvage::conformance {
namespace {

// A source and the line below it.
struct Quoted {
    std::string source, below;
};

std::vector<Quoted> quoted(const std::string& out) {
    std::vector<Quoted> all;
    std::istringstream in(out);
    bool behind_source = false;
    for (std::string line; std::getline(in, line);) {
        const bool is_source = line.starts_with("  source   ");
        if (is_source) all.push_back({line.substr(11), ""});
        if (behind_source && line.starts_with("           ")) all.back().below = line.substr(11);
        behind_source = is_source;
    }
    return all;
}

std::string digest_in_index(const std::string& source) {
    for (const auto& p : model::pages())
        for (const auto& s : p.sentences)
            if (source == std::string(p.name) + ':' + std::string(s.at)) return std::string(s.digest);
    return {};
}

std::vector<std::string> areas() {
    std::vector<std::string> out = {"clauses"};
    for (const auto& c : model::clauses()) {
        const auto area = std::string(c.id.substr(0, c.id.find('.')));
        if (std::find(out.begin(), out.end(), area) == out.end()) out.push_back(area);
    }
    return out;
}

TEST(ClausesOfPages, ASentenceThatIsQuotedIsTheOneThatIsCited) {
    const Ran ran = run_tool(areas());
    ASSERT_EQ(ran.status, 0) << ran.err;
    std::size_t quotes = 0, other_version = 0, sources = 0;
    for (const auto& [source, below] : quoted(ran.out)) {
        ++sources;
        if (below.starts_with('(')) ++other_version;
        if (!below.starts_with('"')) continue;
        ++quotes;
        EXPECT_EQ(specc::digest_of(below), digest_in_index(source)) << source << ": " << below;
    }
    EXPECT_GT(sources, 1500U);
    if (quotes == 0) GTEST_SKIP() << "no manual pages of libfabric are installed";
    // The index is of 1.17 and, for three pages, of versions beside it.
    EXPECT_EQ(quotes + other_version, sources);
    EXPECT_LT(other_version, 60U);
}

TEST(ClausesOfPages, WithoutPagesTheSourcesStandAlone) {
    const Ran ran = run_tool({"clauses", "cq.error.code"}, {"MANPATH=/nonexistent"});
    EXPECT_EQ(ran.status, 0) << ran.err;
    const auto all = quoted(ran.out);
    EXPECT_EQ(all.size(), 3U) << ran.out;
    for (const auto& q : all) EXPECT_EQ(q.below, "") << q.source;
}

TEST(ClausesOfPages, APageThatCannotBeReadIsAnError) {
    const Ran ran = run_tool({"clauses", "cq.error.code", "--text", "/nonexistent/page"});
    EXPECT_EQ(ran.status, 2);
    EXPECT_TRUE(contains(ran.err, "/nonexistent/page")) << ran.err;
}

}  // namespace
}  // namespace selvage::conformance
