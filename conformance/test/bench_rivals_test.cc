// Rivals of a benchmark: what their tools print, and how several of them stand in the table, on the page and in a
// history.
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>

#include "conformance/bench/cores.h"
#include "conformance/bench/history.h"
#include "conformance/bench/print.h"
#include "conformance/bench/rival/openmpi.h"
#include "conformance/bench/rival/ucx.h"
#include "conformance/test/tool_util.h"

namespace selvage::conformance {
namespace {

using bench::Workload;

TEST(BenchRivals, ALineOfUcxHasTheRateOfTheWholeRunLast) {
    EXPECT_EQ(bench::rival::ucx_rate("2000,0.480,0.485,0.485,15.72,15.72,2059818,2059817"), 2059817);
    EXPECT_EQ(bench::rival::ucx_rate("   498,5.509,5.506,5.506,11350.99,11350.99,181616,181616"), 181616);
    for (const char* other : {"", "iterations,50.0_percentile_lat,avg_lat", "1,2,3,4,5,6,7", "1,2,3,4,5,6,7,8,9",
                              "1,2,3,4,5,6,7,8 messages", "[1795.49] Waiting for connection...", "1,2,3,4,5,6,7,0"})
        EXPECT_FALSE(bench::rival::ucx_rate(other)) << other;
}

TEST(BenchRivals, ARowWithoutACounterpartIsNotAskedFor) {
    Workload w{.name = "w", .title = "w", .place = {"shm", "tagged", "latency", 8}};
    EXPECT_TRUE(bench::rival::ucx_has(w));
    EXPECT_TRUE(bench::rival::openmpi_has(w));
    w.place = {"shm", "msg", "latency", 8};
    EXPECT_TRUE(bench::rival::ucx_has(w));
    EXPECT_FALSE(bench::rival::openmpi_has(w)) << "MPI has a tag on each message";
    w.place = {"udp", "msg", "latency", 8};
    EXPECT_FALSE(bench::rival::ucx_has(w));
    EXPECT_FALSE(bench::rival::openmpi_has(w));
}

TEST(BenchRivals, MemoryOfTheApplicationIsAskedForInRowsThatAccessSome) {
    Workload w{.name = "w", .title = "w", .place = {"shm", "read", "latency", 8}};
    for (const char* name : {"ucx-app", "openmpi-app"}) {
        w.place.operation = "read";
        EXPECT_TRUE(bench::find_tool(name)->has(w)) << name;
        w.place.operation = "tagged";
        EXPECT_FALSE(bench::find_tool(name)->has(w)) << name;
    }
}

const bench::Tool& ucx() { return *bench::find_tool("ucx"); }

// A beside B and ucx at two sizes: faster than B, slower than ucx at the second.
bench::Bench three_sides(const std::vector<Workload>& rows) {
    bench::Bench out;
    out.suite = "transfer";
    out.sides = {{.name = "A"}, {.name = "B", .build_id = "b1"}, {.name = "ucx", .version = "1.13.1", .tool = &ucx()}};
    out.left_out = {{"openmpi", "mpirun is not installed"}};
    out.floors.push_back({&rows[0], {}});
    for (const auto& row : rows) {
        bench::Result r = bench::empty_result(row, out.sides);
        const double third = r.workload->place.size == 8 ? 300 : 50;
        const std::array<double, 3> medians = {100, 200, third};
        for (std::size_t s = 0; s < medians.size(); ++s) {
            r.sides[s].summary = {medians[s], medians[s], 1};
            if (s > 0) r.sides[s].ratios = {r.sides[s].ratio = medians[s] / 100};
        }
        out.results.push_back(std::move(r));
    }
    return out;
}

std::vector<Workload> two_sizes() {
    std::vector<Workload> out;
    for (const std::uint64_t size : {8, 4096}) {
        const std::string name = "shm.tagged.latency." + std::to_string(size);
        out.push_back({.name = name, .title = name, .place = {"shm", "tagged", "latency", size}});
    }
    return out;
}

TEST(BenchRivals, EachIsAColumnAndRowsInWhichItIsAheadAreNamed) {
    const auto rows = two_sizes();
    const std::string table = bench::as_table(three_sides(rows), false);
    for (const char* part : {"by B", "by ucx", "200 ns", "3.00x", "beside B: 2 rows, median 2.00x; below 1: none",
                             "beside ucx: 2 rows, median 1.75x; below 1: shm.tagged.latency.4096 0.50x",
                             "openmpi is left out: mpirun is not installed"})
        EXPECT_TRUE(contains(table, part)) << part << " in\n" << table;
}

TEST(BenchRivals, EachIsALineOfThePlots) {
    const auto rows = two_sizes();
    const std::string page = bench::as_page(three_sides(rows));
    for (const char* part :
         {"<polyline class=\"c\"", "</i>ucx", "ucx, 4 KiB: 50.0 ns", "<th>by ucx</th>", "openmpi is left out"})
        EXPECT_TRUE(contains(page, part)) << part;
}

TEST(BenchRivals, GoalsCompareWithTheFirstRivalThatIsALibrary) {
    const Workload w{.name = "w", .title = "w", .goal = {.times = 2}};
    const std::vector<bench::Side> sides = {{.name = "A"}, {.name = "ucx", .tool = &ucx()}, {.name = "B"}};
    bench::Result r = bench::empty_result(w, sides);
    EXPECT_EQ(r.judge, 2U);
    r.sides[1].ratio = 0.5;
    r.sides[2].ratio = 2;
    EXPECT_EQ(r.met(), bench::Met::Yes);
    EXPECT_EQ(bench::empty_result(w, bench::Sides(sides).first(2)).met(), bench::Met::Unknown);
}

TEST(BenchRivals, ARowIsHeldAgainstAnotherOfTheSameLibrary) {
    Workload w{.name = "w", .title = "w", .goal = {.beside = 1.2}, .beside = "plain"};
    bench::Result r;
    r.workload = &w;
    r.sides.resize(1);
    EXPECT_EQ(r.met(), bench::Met::Unknown);
    r.sides[0].beside_ratio = 1.2;
    EXPECT_EQ(r.met(), bench::Met::Yes);
    r.sides[0].beside_ratio = 1.21;
    EXPECT_EQ(r.met(), bench::Met::No);
}

class BenchRivalHistory : public testing::Test {
protected:
    ~BenchRivalHistory() override { std::remove(file.c_str()); }
    std::vector<Workload> rows = two_sizes();
    std::string file = testing::TempDir() + "/rivals_" + std::to_string(getpid()) + ".jsonl";
};

TEST_F(BenchRivalHistory, RunsOfBeforeThereWereSeveralAreRead) {
    std::ofstream(file) << R"({"suite": "transfer", "when": "2026-01-01T00:00:00Z", "b": {"build_id": "b1"}, )"
                           R"("workloads": [{"name": "shm.tagged.latency.8", "a": {}, "b": {}, "ratio": 3.0}]})"
                        << '\n';
    bench::Comparison found;
    EXPECT_EQ(bench::compare_with(file, three_sides(rows), found), "");
    ASSERT_EQ(found.slower.size(), 1U);
    EXPECT_EQ(found.slower[0].rival, "B");
    EXPECT_EQ(found.slower[0].least, 3);
}

TEST_F(BenchRivalHistory, EachRivalIsComparedWithItselfAlone) {
    auto past = three_sides(rows);
    past.results[0].sides[2].ratio = 6;
    EXPECT_EQ(bench::append_run(file, past, "2026-01-01T00:00:00Z"), "");
    bench::Comparison found;
    EXPECT_EQ(bench::compare_with(file, three_sides(rows), found), "");
    ASSERT_EQ(found.slower.size(), 1U);
    EXPECT_TRUE(contains(bench::as_text(found, file), "shm.tagged.latency.8, by ucx")) << bench::as_text(found, file);
    auto other = three_sides(rows);
    other.sides[2].version = "1.20";
    found = {};
    EXPECT_EQ(bench::compare_with(file, other, found), "");
    EXPECT_TRUE(found.slower.empty()) << "another version is another rival";
}

TEST(BenchCores, ProcessesHaveCoresOfTheirOwnWhereThereAreEnough) {
    using Cores = std::vector<int>;
    const Cores four = {0, 1, 2, 3};
    EXPECT_EQ(bench::cores_of(2, {2, 3}, four), Cores({2, 3}));
    EXPECT_EQ(bench::cores_of(4, {2, 3}, four), Cores({2, 3, 0, 1}));
    EXPECT_EQ(bench::cores_of(6, {2, 3}, four), Cores({2, 3, 0, 1, 2, 3}));
    EXPECT_EQ(bench::cores_of(3, {-1, -1}, four), Cores({-1, -1, -1})) << "none is pinned";
    EXPECT_FALSE(bench::share_cores({2, 3, 0, 1}, four));
    EXPECT_TRUE(bench::share_cores({2, 3, 0, 1, 2}, four));
    EXPECT_FALSE(bench::share_cores({-1, -1, -1, -1}, four));
    EXPECT_TRUE(bench::share_cores({-1, -1, -1, -1, -1}, four));
}

}  // namespace
}  // namespace selvage::conformance
