// Earlier runs of a benchmark: what is slower, what is chance, and files that are none.
#include "conformance/bench/history.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>

#include "conformance/test/subject_util.h"
#include "conformance/test/tool_util.h"

namespace selvage::conformance {
namespace {

// A file of runs, gone at the end.
class BenchHistory : public testing::Test {
protected:
    BenchHistory() {
        workload.name = "tcp.tagged.latency.8";
        workload.title = "tagged, 8 B";
    }
    ~BenchHistory() override { std::remove(file.c_str()); }

    bench::Bench run(std::vector<double> ratios, double instructions = 100, const std::string& against = "b1") const {
        bench::Bench out;
        out.suite = "transfer";
        out.sides = {{.name = "A"}, {.name = "B", .build_id = against}};
        bench::Result r;
        r.workload = &workload;
        r.sides.resize(2);
        r.sides[1].ratio = bench::median(ratios);
        r.sides[1].ratios = std::move(ratios);
        for (auto& side : r.sides) side.summary = {1, 1, 1};
        r.sides[0].instructions = instructions;
        out.results.push_back(std::move(r));
        return out;
    }
    void remember(const bench::Bench& bench, const char* when = "2026-01-01T00:00:00Z") const {
        ASSERT_EQ(bench::append_run(file, bench, when), "");
    }
    bench::Comparison compared(const bench::Bench& bench) const {
        bench::Comparison out;
        EXPECT_EQ(bench::compare_with(file, bench, out), "");
        return out;
    }

    bench::Workload workload;
    std::string file = testing::TempDir() + "/history_" + std::to_string(getpid()) + ".jsonl";
};

TEST_F(BenchHistory, ARowIsSlowerWhenItsRatioIsBelowAllThatWasSeen) {
    remember(run({1.6, 1.6, 1.6}));
    remember(run({1.8, 1.7, 1.7}), "2026-01-02T00:00:00Z");
    const auto found = compared(run({1.4, 1.45, 1.5}));
    ASSERT_EQ(found.slower.size(), 1U);
    EXPECT_TRUE(found.faster.empty());
    EXPECT_EQ(found.slower[0].least, 1.6);
    EXPECT_EQ(found.slower[0].most, 1.7);
    EXPECT_NEAR(found.slower[0].times(), 1.45 / 1.6, 1e-9);
    const std::string text = bench::as_text(found, "runs.jsonl");
    for (const char* part : {"2 runs in runs.jsonl", "2026-01-01", "2026-01-02", "slower  tcp.tagged.latency.8",
                             "1.45x (1.40x to 1.50x), before 1.60x to 1.70x", "(-9 %)"})
        EXPECT_TRUE(contains(text, part)) << part << " in\n" << text;
}

TEST_F(BenchHistory, WhatOnePairReachedIsChance) {
    remember(run({1.6, 1.6, 1.6}));
    EXPECT_TRUE(compared(run({1.4, 1.45, 1.61})).slower.empty());
    EXPECT_TRUE(compared(run({1.58, 1.58, 1.58})).slower.empty()) << "2 %";
    EXPECT_EQ(compared(run({1.8, 1.9, 2.0})).faster.size(), 1U);
    EXPECT_TRUE(compared(run({1.55, 1.9, 2.0})).faster.empty());
}

TEST_F(BenchHistory, InstructionsAreComparedToTheDigit) {
    remember(run({1.6}, 149));
    EXPECT_TRUE(compared(run({1.6}, 149)).slower.empty());
    const auto found = compared(run({1.6}, 151));
    ASSERT_EQ(found.slower.size(), 1U);
    EXPECT_TRUE(contains(bench::as_text(found, file), "151 instructions, before 149 to 149"));
    EXPECT_EQ(compared(run({1.6}, 140)).faster.size(), 1U);
}

TEST_F(BenchHistory, RunsBesideAnotherLibraryAreNotComparedAndCounted) {
    remember(run({9.0}, 100, "another"));
    bench::Comparison out;
    EXPECT_TRUE(contains(bench::compare_with(file, run({1.0}), out), "(1 of it were not)"));
    remember(run({1.0}));
    const auto found = compared(run({1.0}));
    EXPECT_EQ(found.runs, 1U);
    EXPECT_EQ(found.unlike, 1U);
    EXPECT_TRUE(found.slower.empty());
}

TEST_F(BenchHistory, AFileThatIsNoneIsNamedWithItsLine) {
    for (const char* line : {"no json", "[]", "{}", R"({"workloads": 3})", R"({"workloads": ["x"]})"}) {
        std::remove(file.c_str());
        remember(run({1.0}));
        std::ofstream(file, std::ios::app) << line << '\n';
        bench::Comparison out;
        EXPECT_TRUE(contains(bench::compare_with(file, run({1.0}), out), file + ":2: this is no run")) << line;
    }
    bench::Comparison out;
    EXPECT_TRUE(contains(bench::compare_with("/no/such/file", run({1.0}), out), "can't be read"));
    EXPECT_TRUE(contains(bench::append_run("/no/such/folder/file", run({1.0}), ""), "can't be written"));
}

TEST_F(BenchHistory, TheToolRemembersARunAndComparesTheNextWithIt) {
    const std::vector<std::string> arguments = {"bench", "getinfo",        "--only", "copy",    "--pairs",
                                                "1",     "--milliseconds", "1",      "--quiet", "--no-count"};
    auto first = arguments;
    first.insert(first.end(), {"--history", file});
    ASSERT_EQ(run_tool(first).status, 0);
    auto second = arguments;
    second.insert(second.end(), {"--compare", file});
    const Ran ran = run_tool(second);
    EXPECT_NE(ran.status, 2) << ran.err;
    EXPECT_TRUE(contains(ran.out, "compared with 1 run in ")) << ran.out;
}

}  // namespace
}  // namespace selvage::conformance
