// Levels of conformance, and a result that is published: verified as it was written, refused once it was changed.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "conformance/report/levels.h"
#include "conformance/test/subject_util.h"
#include "conformance/test/tool_util.h"

namespace selvage::conformance {
namespace {

const ConformanceLevel& level(std::string_view name) {
    const auto all = conformance_levels();
    return *std::find_if(all.begin(), all.end(), [&](const auto& l) { return l.name == name; });
}

TEST(Levels, NameClausesThatThereAre) {
    ASSERT_EQ(conformance_levels().size(), 4U);
    for (const auto& l : conformance_levels()) {
        EXPECT_FALSE(l.about.empty()) << l.name;
        for (const auto& prefix : l.prefixes)
            EXPECT_TRUE(std::any_of(model::clauses().begin(), model::clauses().end(),
                                    [&](const auto& c) { return c.id.starts_with(prefix); }))
                << l.name << ": " << prefix;
    }
    EXPECT_EQ(level("full").reaches.size(), 4U) << "of the levels in it, too";
}

// All clauses kept; each test breaks something of it.
Report all_kept() {
    Report r;
    auto& p = r.providers.emplace_back();
    p.provider = "tcp";
    for (const auto& c : model::clauses()) p.tally.applied[static_cast<std::size_t>(c.clause)] = 1;
    return r;
}

std::size_t number(std::string_view id) { return static_cast<std::size_t>(model::find_clause(id)->clause); }

TEST(Levels, AreKeptByWhoKeepsTheirPromises) {
    const Report r = all_kept();
    for (const auto& l : conformance_levels()) EXPECT_TRUE(verdict_on(r, r.providers[0], l).conforms()) << l.name;
    EXPECT_EQ(levels_text(r, r.providers[0]), "conforms to core, messages, one-sided, full");
}

TEST(Levels, ABrokenMustCountsWhereItBelongsAndADisputedOneNowhere) {
    Report r = all_kept();
    r.providers[0].tally.broken[number("rma.call.comes-back")] = 1;
    EXPECT_EQ(levels_text(r, r.providers[0]), "conforms to core, messages");
    r = all_kept();
    ASSERT_EQ(model::find_clause("getinfo.flags.unknown-refused")->status, model::Status::Disputed);
    r.providers[0].tally.broken[number("getinfo.flags.unknown-refused")] = 1;
    EXPECT_EQ(levels_text(r, r.providers[0]), "conforms to core, messages, one-sided, full");
}

TEST(Levels, WhatNothingReachedNeedsAReasonAndSomePromisesHaveToBeReached) {
    Report r = all_kept();
    r.providers[0].tally.applied[number("getinfo.memory.dup-equal")] = 0;
    EXPECT_EQ(levels_text(r, r.providers[0]), "conforms to no level");
    r.providers[0].reasons[model::find_clause("getinfo.memory.dup-equal")->clause] = "nobody can";
    EXPECT_EQ(levels_text(r, r.providers[0]), "conforms to core, messages, one-sided, full");
    r.providers[0].tally.applied[number("msg.call.comes-back")] = 0;
    r.providers[0].reasons[model::find_clause("msg.call.comes-back")->clause] = "caps lacks FI_MSG";
    EXPECT_EQ(levels_text(r, r.providers[0]), "conforms to core, one-sided") << "it has no messages";
}

TEST(Levels, AreNotReachedByARunThatDidNotLook) {
    for (const std::string& reason : {std::string(kOtherClauses), std::string(kNotToItsEnd) + "pairs"}) {
        Report r = all_kept();
        r.providers[0].tally.applied[number("getinfo.memory.dup-equal")] = 0;
        r.providers[0].reasons[model::find_clause("getinfo.memory.dup-equal")->clause] = reason;
        EXPECT_EQ(levels_text(r, r.providers[0]), "conforms to no level") << reason;
    }
}

TEST(Levels, AreNotReachedByWaivers) {
    Report r = all_kept();
    Deviation d;
    d.clause = model::find_clause("getinfo.memory.dup-equal")->clause;
    d.provider = "tcp";
    d.waived = "known";
    r.deviations = {d};
    const auto verdict = verdict_on(r, r.providers[0], level("core"));
    EXPECT_EQ(verdict.waived.size(), 1U);
    EXPECT_FALSE(verdict.conforms());
}

// A result on the hostile library, whose fi_dupinfo gives an offer of its own instead of a copy.
class Published : public testing::Test {
protected:
    Ran check() {
        return run_tool({"check", "--no-compiler", "--library", library_, "--provider", "fake", "--cases", "100",
                         "--clause", "getinfo.memory.dup-equal", "--quiet", "--submission", result_});
    }
    Ran verify() { return run_tool({"verify", result_}); }
    std::string file(const std::string& name) { return result_ + "/" + name; }
    void put(const std::string& name, const std::string& content) { std::ofstream(file(name)) << content; }

    Folder folder_;
    std::string library_ = broken_library("hostile"), result_ = folder_.path("result");
};

TEST_F(Published, IsVerifiedAndReplaysOnTheLibraryThatWasJudged) {
    ASSERT_EQ(check().status, 1);
    for (const char* part : {"report.html", "report.sarif", "environment.txt", "verdicts.json",
                             "profiles/fake-profile.toml", "badges/fake-core.svg", "MANIFEST"})
        EXPECT_TRUE(std::filesystem::exists(file(part))) << part;
    const Ran ran = verify();
    EXPECT_EQ(ran.status, 0) << ran.out << ran.err;
    EXPECT_TRUE(contains(ran.out, "fake           conforms to no level")) << ran.out;
    const Ran replayed = run_tool({"verify", result_, "--library", library_});
    EXPECT_EQ(replayed.status, 0) << replayed.out << replayed.err;
    EXPECT_TRUE(contains(replayed.out, "replayed 2 of 2 findings: 2 show")) << replayed.out;
    const Ran other = run_tool({"verify", result_, "--library", SELVAGE_OWN_LIBRARY});
    EXPECT_EQ(other.status, 2) << other.out;
    EXPECT_TRUE(contains(other.err, "is another library")) << other.err;
    const Ran part = run_tool({"check", "--library", library_, "--shard", "0/2", "--submission", folder_.path("part")});
    EXPECT_EQ(part.status, 2);
    EXPECT_TRUE(contains(part.err, "a whole run")) << part.err;
    EXPECT_FALSE(std::filesystem::exists(folder_.path("part"))) << "nothing is left of it";
    const Ran again = check();
    EXPECT_EQ(again.status, 2) << "a result is not written over another";
    EXPECT_TRUE(contains(again.err, "--submission")) << again.err;
}

TEST_F(Published, IsRefusedOnceAnythingOfItWasChanged) {
    ASSERT_EQ(check().status, 1);
    const std::string badge = slurp(file("badges/fake-core.svg"));
    put("badges/fake-core.svg", badge + " ");
    EXPECT_EQ(verify().status, 1);
    EXPECT_TRUE(contains(verify().out, "badges/fake-core.svg: is not what was written")) << verify().out;
    put("badges/fake-core.svg", badge);
    EXPECT_EQ(verify().status, 0);
    put("more.txt", "");
    EXPECT_TRUE(contains(verify().out, "more.txt: is not in the manifest")) << verify().out;
    std::filesystem::remove(file("more.txt"));
    const std::string environment = slurp(file("environment.txt"));
    std::filesystem::remove(file("environment.txt"));
    EXPECT_TRUE(contains(verify().out, "environment.txt: is in the manifest and not there")) << verify().out;
    put("environment.txt", environment);
    EXPECT_EQ(verify().status, 0);
}

TEST_F(Published, IsRefusedIfItsVerdictIsBetterThanItsReportThoughAllDigestsFit) {
    ASSERT_EQ(check().status, 1);
    std::string verdicts = slurp(file("verdicts.json"));
    verdicts.replace(verdicts.find("\"conforms\": false"), 17, "\"conforms\": true ");
    put("verdicts.json", verdicts);
    // As somebody would who knows how a digest is made.
    run_program({"sh", "-c",
                 "cd \"$0\" && find . -type f ! -name MANIFEST | sed 's,^\\./,,' | LC_ALL=C sort | xargs -d '\\n' "
                 "sha256sum > MANIFEST",
                 result_});
    const Ran ran = verify();
    EXPECT_EQ(ran.status, 1);
    EXPECT_TRUE(contains(ran.out, "verdicts.json: is not what report.json says")) << ran.out;
}

}  // namespace
}  // namespace selvage::conformance
