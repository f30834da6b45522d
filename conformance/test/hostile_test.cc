// Libraries that turn on whoever asks them: each mischief is a finding like any other, and the run goes on behind it.
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>

#include "conformance/test/subject_util.h"
#include "conformance/test/tool_util.h"
#include "model/text/call_text.h"

namespace selvage::conformance {
namespace {

constexpr std::chrono::seconds kLimit{200};

struct Judged {
    Ran ran;
    Report report;
};

// Judges the hostile library in a mood, by the clauses on what a call does to its process.
Judged judge_hostile(const std::string& mood, const std::string& provider = "fake", std::size_t cases = 300,
                     const std::string& properties = "*", Environment environment = {}) {
    environment.insert(environment.end(), {"HOSTILE=" + mood, "GTEST_FILTER=" + properties});
    const Folder folder;
    const auto report = folder.path("report.json");
    Judged out;
    out.ran = run_tool({"check", "--no-compiler", "--library", broken_library("hostile"), "--provider", provider,
                        "--cases", std::to_string(cases), "--clause", "getinfo.memory.returns", "--clause",
                        "getinfo.call.list-ends", "--clause", "getinfo.call.hints-", "--report", report},
                       environment, {}, kLimit);
    EXPECT_FALSE(out.ran.timed_out) << out.ran.err;
    if (out.ran.status == 0 || out.ran.status == 1) out.report = read_report(report);
    return out;
}

const Deviation* find(const Report& r, std::string_view clause) {
    const auto it = std::find_if(r.deviations.begin(), r.deviations.end(),
                                 [&](const Deviation& d) { return model::clause_text(d.clause).id == clause; });
    return it == r.deviations.end() ? nullptr : &*it;
}

std::string notes(const Report& r) {
    std::string out;
    for (const auto& p : r.providers)
        for (const auto& n : p.notes) out += n + "\n";
    return out;
}

// The library died in this mood: a finding, and all properties were run all the same.
void expect_crash(const std::string& mood, std::string_view words) {
    SCOPED_TRACE(mood);
    const Judged j = judge_hostile(mood);
    EXPECT_EQ(j.ran.status, 1) << j.ran.err;
    const Deviation* d = find(j.report, "getinfo.memory.returns");
    ASSERT_NE(d, nullptr) << j.ran.out;
    EXPECT_EQ(d->grade, Grade::Fatal);
    EXPECT_TRUE(contains(d->summary, words)) << d->summary;
    for (const char* property : {"classes", "random", "pairs", "side_effects", "openings", "lifecycles", "strings"}) {
        EXPECT_TRUE(contains(j.ran.err, std::string(property) + "/fake")) << j.ran.err;
    }
    EXPECT_GT(j.report.providers.at(0).judged, 300U);
}

TEST(Hostile, APlainLibraryHasNoneOfTheseFindings) {
    const Judged j = judge_hostile("nothing:1");
    EXPECT_EQ(j.ran.status, 0) << j.ran.out;
    EXPECT_TRUE(j.report.deviations.empty());
    EXPECT_EQ(notes(j.report), "");
}

TEST(Hostile, ACrashInTheMiddleIsAFinding) { expect_crash("crash:600", "died of a signal"); }
TEST(Hostile, AnAbortInTheMiddleIsAFinding) { expect_crash("abort:600", "died of a signal"); }
TEST(Hostile, AnExitInTheMiddleIsAFinding) { expect_crash("exit:600", "ended the process"); }
TEST(Hostile, AnUnderscoreExitInTheMiddleIsAFinding) { expect_crash("leave:600", "ended the process"); }
TEST(Hostile, ACrashHiddenBehindAHandlerIsAFinding) { expect_crash("hide:600", "ended the process"); }

TEST(Hostile, ACrashWhileOffersAreProbedIsAFinding) {
    for (const char* mood : {"crash:2", "crash:60"}) {
        const Judged j = judge_hostile(mood);
        EXPECT_EQ(j.ran.status, 1) << j.ran.err;
        EXPECT_NE(find(j.report, "getinfo.memory.returns"), nullptr) << mood << j.ran.out;
    }
}

TEST(Hostile, AHangInTheMiddleIsAFinding) {
    const Judged j = judge_hostile("hang:600", "fake", 300, "classes.*:random.*:strings.*");
    EXPECT_EQ(j.ran.status, 1) << j.ran.err;
    const Deviation* d = find(j.report, "getinfo.memory.returns");
    ASSERT_NE(d, nullptr) << j.ran.out;
    EXPECT_EQ(d->grade, Grade::Fatal);
    EXPECT_TRUE(contains(d->summary, "did not return")) << d->summary;
}

TEST(Hostile, ALibraryThatCrashesOnEveryQuestionIsGivenUpAndReported) {
    const Judged j = judge_hostile("crash:1+");
    EXPECT_EQ(j.ran.status, 1) << j.ran.err;
    EXPECT_TRUE(contains(notes(j.report), "given up")) << notes(j.report);
    const Deviation* d = find(j.report, "getinfo.memory.returns");
    ASSERT_NE(d, nullptr);
    EXPECT_EQ(d->grade, Grade::Fatal);
    ASSERT_TRUE(d->shown_by.first.hints);
    EXPECT_EQ(model::print_hints(*d->shown_by.first.hints), "bare{fabric_attr.prov_name=\"fake\"}")
        << "the smallest call";
    EXPECT_LT(j.ran.seconds, 60);
}

TEST(Hostile, ALibraryThatCrashesOnEveryQuestionIsReportedUnaskedToo) {
    const Folder folder;
    const auto report = folder.path("report.json");
    const Ran ran = run_tool({"check", "--no-compiler", "--library", broken_library("hostile"), "--cases", "50",
                              "--clause", "getinfo.memory.returns", "--report", report},
                             {"HOSTILE=crash:1+"}, {}, kLimit);
    EXPECT_EQ(ran.status, 1) << ran.err;
    EXPECT_TRUE(contains(notes(read_report(report)), "while it was asked for its providers"));
}

TEST(Hostile, DryrunOfALibraryThatCrashesOnTheFirstQuestionSaysWhatItWouldDo) {
    const Ran ran =
        run_tool({"check", "--library", broken_library("hostile"), "--dryrun"}, {"HOSTILE=crash:1+"}, {}, kLimit);
    EXPECT_EQ(ran.status, 0) << ran.err;
    EXPECT_TRUE(contains(ran.out, "property  random")) << ran.out;
}

TEST(Hostile, DryrunAsksNoCases) {
    const Ran ran =
        run_tool({"check", "--library", broken_library("hostile"), "--dryrun"}, {"HOSTILE=crash:5+"}, {}, kLimit);
    EXPECT_EQ(ran.status, 0) << ran.err;
    EXPECT_TRUE(contains(ran.out, "provider  fake")) << ran.out;
}

TEST(Hostile, AStoreIntoTheHintsIsAFindingThatNamesTheField) {
    const Folder folder;
    const auto report = folder.path("report.json");
    const Ran ran = run_tool({"check", "--no-compiler", "--library", broken_library("hostile"), "--provider", "fake",
                              "--cases", "300", "--clause", "getinfo.hints", "--clause", "getinfo.call", "--clause",
                              "getinfo.memory.returns", "--report", report},
                             {"HOSTILE=scribble:300+"}, {}, kLimit);
    EXPECT_EQ(ran.status, 1) << ran.err;
    const Report r = read_report(report);
    EXPECT_TRUE(std::any_of(r.deviations.begin(), r.deviations.end(), [](const Deviation& d) {
        return contains(d.summary, "caps") && contains(d.summary, "writ");
    })) << ran.out;
}

TEST(Hostile, AListWithoutAnEndIsAFinding) {
    // A sanitizer needs long for so many entries, and shows no life while it learns what is offered.
    const Judged j = judge_hostile("cycle:200+", "fake", 300, "classes.*:random.*:strings.*", {"SELVAGE_PATIENCE=8"});
    EXPECT_EQ(j.ran.status, 1) << j.ran.err;
    EXPECT_NE(find(j.report, "getinfo.call.list-ends"), nullptr) << j.ran.out;
}

TEST(Hostile, AListThatLeadsNowhereIsAFinding) {
    for (const char* mood : {"wild-next:200+", "wild-name:200+"}) {
        const Judged j = judge_hostile(mood);
        EXPECT_EQ(j.ran.status, 1) << j.ran.err;
        EXPECT_NE(find(j.report, "getinfo.call.list-ends"), nullptr) << mood << j.ran.out;
    }
}

TEST(Hostile, EscapeCodesInNamesReachNoTerminal) {
    const std::string name = "fa\033[31mke\007\xff";
    const Folder folder;
    const Ran ran =
        run_tool({"check", "--library", broken_library("hostile"), "--cases", "50", "--clause", "getinfo.call",
                  "--clause", "fabric", "--report", folder.path("r.txt"), "--report", folder.path("r.json"), "--report",
                  folder.path("r.xml"), "--report", folder.path("r.html"), "--save", folder.path("cases")},
                 {"HOSTILE=escapes:1"}, {}, kLimit);
    EXPECT_TRUE(ran.status == 0 || ran.status == 1) << ran.err;
    EXPECT_FALSE(has_escapes(ran.out)) << ran.out;
    EXPECT_FALSE(has_escapes(ran.err)) << ran.err;
    for (const char* file : {"r.txt", "r.json", "r.xml", "r.html"})
        EXPECT_FALSE(has_escapes(slurp(folder.path(file)))) << file;
    for (const Ran& r : {run_tool({"info", "--library", broken_library("hostile")}, {"HOSTILE=escapes:1"}),
                         run_tool({"explain", "--library", broken_library("hostile")}, {"HOSTILE=escapes:1"})}) {
        EXPECT_EQ(r.status, 0) << r.err;
        EXPECT_TRUE(contains(r.out, "fa\\x1b")) << r.out;
        EXPECT_FALSE(has_escapes(r.out)) << r.out;
    }
}

TEST(Hostile, ChatterOnStandardOutputDisturbsNobody) {
    const Judged j = judge_hostile("chatter:1+");
    EXPECT_EQ(j.ran.status, 0) << j.ran.out;
    EXPECT_FALSE(contains(j.ran.out + j.ran.err, "chatter"));
}

TEST(Hostile, ThreadsThatNeverEndDisturbNobody) {
    const Judged j = judge_hostile("threads:100");
    EXPECT_EQ(j.ran.status, 0) << j.ran.out;
    EXPECT_FALSE(j.report.providers.at(0).judged == 0);
}

TEST(Hostile, ClosingOurDescriptorsIsAFindingAndTheRunGoesOn) {
    const Judged j = judge_hostile("close:600");
    EXPECT_EQ(j.ran.status, 1) << j.ran.err;
    EXPECT_GT(j.report.providers.at(0).judged, 300U);
}

}  // namespace
}  // namespace selvage::conformance
