// Properties that run beside one another: the report does not tell how many did, and none that was cut off counts.
#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "conformance/run/jobs.h"
#include "conformance/test/subject_util.h"
#include "conformance/test/tool_util.h"

namespace selvage::conformance {
namespace {

std::string report_with(const std::vector<std::string>& subject, const std::string& jobs,
                        const Environment& environment) {
    const Folder folder;
    std::vector<std::string> arguments = {"check", "--jobs", jobs, "--quiet", "--report", folder.path("r.json")};
    arguments.insert(arguments.end(), subject.begin(), subject.end());
    const Ran ran = run_tool(arguments, environment);
    EXPECT_EQ(ran.status, 1) << ran.err;
    auto json = nlohmann::ordered_json::parse(slurp(folder.path("r.json")));
    json.erase("run");  // times
    return json.dump(1);
}

TEST(Jobs, TheReportIsTheSameHoweverManyRunAtATime) {
    // Nothing of what these do is decided by the clock (docs/decisions.md), as it is whether a call comes back.
    const std::vector<std::string> subject = {"--provider", "tcp", "--provider", "shm", "--cases", "200"};
    const Environment filter = {"GTEST_FILTER=-side_effects.*:traffic.*:groups.*"};
    const std::string one = report_with(subject, "1", filter);
    EXPECT_NE(one.find("\"deviations\": ["), std::string::npos);
    EXPECT_EQ(report_with(subject, "3", filter), one);
}

TEST(Jobs, WhatCrashesWhileAnotherPropertyRunsIsFoundAllTheSame) {
    const std::vector<std::string> subject = {
        "--library", broken_library("hostile"), "--provider", "fake", "--cases", "300",
        "--clause",  "getinfo.memory.returns"};
    const std::string one = report_with(subject, "1", {"HOSTILE=crash:600"});
    EXPECT_EQ(report_with(subject, "3", {"HOSTILE=crash:600"}), one);
}

TEST(Jobs, APropertyWhoseProcessIsKilledHasNoVerdict) {
    for (const char* jobs : {"1", "2"}) {
        const Folder folder;
        const Ran ran =
            run_tool({"check", "--library", broken_library("hostile"), "--provider", "fake", "--cases", "300", "--jobs",
                      jobs, "--clause", "getinfo.memory.returns", "--report", folder.path("r.json")},
                     {"HOSTILE=parricide:600", "GTEST_FILTER=random.*:strings.*"});
        EXPECT_EQ(ran.status, 2) << ran.out << ran.err;
        EXPECT_TRUE(contains(ran.err, "fake: random has no verdict: its process died of signal 9")) << ran.err;
        const Report r = read_report(folder.path("r.json"));
        const auto& notes = r.providers.at(0).notes;
        EXPECT_EQ(std::count(notes.begin(), notes.end(), "random has no verdict: its process died of signal 9"), 1);
        EXPECT_GT(r.providers.at(0).judged, 0U) << "the other property was run";
    }
}

TEST(Jobs, EachEndsWithALineOfItsOwn) {
    const Ran ran = run_tool({"check", "--library", broken_library("hostile"), "--provider", "fake", "--cases", "100",
                              "--jobs", "3", "--clause", "getinfo.memory.returns"});
    EXPECT_EQ(ran.status, 0) << ran.err;
    std::multiset<std::string> ended;
    std::istringstream lines(ran.err);
    for (std::string line; std::getline(lines, line);) ended.insert(line.substr(0, line.find('/')));
    EXPECT_EQ(ended, (std::multiset<std::string>{"classes", "side_effects", "corpus", "groups", "lifecycles",
                                                 "openings", "pairs", "random", "strings", "traffic"}))
        << ran.err;
}

TEST(Jobs, AreOneMoreThanThereAreProcessorsAndAtMostFour) {
    EXPECT_GE(default_jobs(), 2U);
    EXPECT_LE(default_jobs(), 4U);
    EXPECT_EQ(run_tool({"check", "--library", broken_library("hostile"), "--jobs", "0"}).status, 2);
}

// A property that waits until another one has begun.
class Meets : public Property {
public:
    Meets(std::string name, std::string own, std::string other)
        : name_(std::move(name)), own_(std::move(own)), other_(std::move(other)) {}
    [[nodiscard]] std::string_view name() const override { return name_; }
    [[nodiscard]] std::string_view about() const override { return ""; }
    [[nodiscard]] std::uint64_t count(const Plan&) const override { return 1; }
    void prepare(TestContext&) override {
        std::ofstream(own_) << name_;
        for (int i = 0; i < 1000 && !std::filesystem::exists(other_); ++i) usleep(10'000);
        met_ = std::filesystem::exists(other_);
    }
    bool make(TestContext&, std::uint64_t, Case&) override { return false; }
    [[nodiscard]] std::string note() const override { return met_ ? "met" : "alone"; }

private:
    std::string name_, own_, other_;
    bool met_ = false;
};

TEST(Jobs, RunAtTheSameTimeAndReturnTheirResultsInTheOrderOfTheList) {
    const Folder folder;
    Meets first("first", folder.path("a"), folder.path("b"));
    Meets second("second", folder.path("b"), folder.path("a"));
    Plan plan;
    plan.library = broken_library("hostile");
    std::vector<std::size_t> began, ended;
    const JobEvents events{.began = [&](std::size_t i) { began.push_back(i); },
                           .at = [](std::size_t, std::uint64_t) {},
                           .ended = [&](std::size_t i, const JobResult&) { ended.push_back(i); }};
    const auto results = run_jobs(plan, {{&first, "fake"}, {&second, "fake"}}, 2, events);
    ASSERT_EQ(results.size(), 2U);
    EXPECT_EQ(results[0].counts.notes, std::vector<std::string>{"first: met"});
    EXPECT_EQ(results[1].counts.notes, std::vector<std::string>{"second: met"});
    EXPECT_EQ(began.size(), 2U);
    EXPECT_EQ(ended.size(), 2U);
}

TEST(Jobs, BeginWithThePropertyThatIsLastInTheListOnAllProviders) {
    const Folder folder;
    std::ofstream(folder.path("there")) << "nobody is waited for";
    Meets quick("quick", folder.path("a"), folder.path("there")), slow("slow", folder.path("b"), folder.path("there"));
    Plan plan;
    plan.library = broken_library("hostile");
    std::vector<std::size_t> began;
    const JobEvents events{.began = [&](std::size_t i) { began.push_back(i); },
                           .at = [](std::size_t, std::uint64_t) {},
                           .ended = [](std::size_t, const JobResult&) {}};
    run_jobs(plan, {{&quick, "one"}, {&slow, "one"}, {&quick, "other"}, {&slow, "other"}}, 1, events);
    EXPECT_EQ(began, (std::vector<std::size_t>{3, 1, 2, 0}));
}

}  // namespace
}  // namespace selvage::conformance
