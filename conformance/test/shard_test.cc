// Runs that are shared out, and their reports put together again.
#include <gtest/gtest.h>

#include <cstdlib>
#include <set>
#include <tuple>

#include "conformance/cli/shard.h"
#include "conformance/run/merge.h"
#include "conformance/test/tool_util.h"

namespace selvage::conformance {
namespace {

// Variables of launchers, as they were, when this goes.
class Launched {
public:
    explicit Launched(std::vector<std::pair<const char*, const char*>> variables) {
        for (const char* name :
             {"GTEST_TOTAL_SHARDS", "GTEST_SHARD_INDEX", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "SLURM_PROCID",
              "SLURM_NTASKS", "SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_COUNT", "SLURM_ARRAY_TASK_MIN"})
            unsetenv(name);
        for (const auto& [name, value] : variables) setenv(name, value, 1);
        known_ = std::move(variables);
    }
    ~Launched() {
        for (const auto& [name, value] : known_) unsetenv(name);
    }
    Launched(const Launched&) = delete;
    Launched& operator=(const Launched&) = delete;

private:
    std::vector<std::pair<const char*, const char*>> known_;
};

std::pair<unsigned, unsigned> part(std::vector<std::pair<const char*, const char*>> variables,
                                   const std::string& option = {}) {
    const Launched launched(std::move(variables));
    Shard s;
    std::string error;
    EXPECT_TRUE(find_shard(option, s, error)) << error;
    return {s.index, s.total};
}

TEST(Shards, AreToldByTheLaunchersVariables) {
    using Pair = std::pair<unsigned, unsigned>;
    EXPECT_EQ(part({}), Pair(0, 1));
    EXPECT_EQ(part({{"OMPI_COMM_WORLD_RANK", "1"}, {"OMPI_COMM_WORLD_SIZE", "4"}}), Pair(1, 4));
    EXPECT_EQ(part({{"SLURM_PROCID", "2"}, {"SLURM_NTASKS", "3"}}), Pair(2, 3));
    EXPECT_EQ(part({{"SLURM_ARRAY_TASK_ID", "11"}, {"SLURM_ARRAY_TASK_COUNT", "4"}, {"SLURM_ARRAY_TASK_MIN", "10"}}),
              Pair(1, 4));
    EXPECT_EQ(part({{"SLURM_ARRAY_TASK_ID", "1"},
                    {"SLURM_ARRAY_TASK_COUNT", "2"},
                    {"SLURM_PROCID", "1"},
                    {"SLURM_NTASKS", "3"}}),
              Pair(4, 6))
        << "tasks of an array's elements";
    EXPECT_EQ(
        part({{"GTEST_TOTAL_SHARDS", "2"}, {"GTEST_SHARD_INDEX", "1"}, {"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "9"}}),
        Pair(1, 2));
    EXPECT_EQ(part({{"SLURM_PROCID", "2"}, {"SLURM_NTASKS", "3"}}, "0/1"), Pair(0, 1)) << "the option comes first";
}

TEST(Shards, ThatMakeNoSenseAreToldOf) {
    const Launched nobody({});
    Shard s;
    std::string error;
    for (const char* option : {"2/2", "1", "a/b", "1/0", "/", "-1/2"})
        EXPECT_FALSE(find_shard(option, s, error)) << option;
    const Launched beyond({{"OMPI_COMM_WORLD_RANK", "4"}, {"OMPI_COMM_WORLD_SIZE", "4"}});
    EXPECT_FALSE(find_shard({}, s, error));
    EXPECT_NE(error.find("OMPI_COMM_WORLD_RANK"), std::string::npos);
}

TEST(Shards, HaveFilesOfTheirOwn) {
    EXPECT_EQ(with_shard("part-{shard}.json", {.index = 3, .total = 8, .set_by = {}}), "part-3.json");
    EXPECT_EQ(with_shard("whole.json", {}), "whole.json");
}

#ifdef SELVAGE_MUTANT_FOLDER

using Finding = std::tuple<std::string, model::Clause, model::Version, Grade>;

std::multiset<Finding> findings(const Report& r) {
    std::multiset<Finding> out;
    for (const auto& d : r.deviations) out.emplace(d.provider, d.clause, d.api_version, d.grade);
    return out;
}

constexpr const char* kFilter = "GTEST_FILTER=classes.*:pairs.*:random.*:corpus.*";

// A library with a few deviations that answers quickly.
std::vector<std::string> check(const std::string& report) {
    return {"check",      "--no-compiler", "--library", SELVAGE_MUTANT_FOLDER "/libmutant-short-tx_attr.size.so",
            "--provider", "tcp",           "--cases",   "600",
            "--quiet",    "--report",      report};
}

Report run_whole(const Folder& folder) {
    const auto path = folder.path("whole.json");
    const auto ran = run_tool(check(path), {kFilter});
    EXPECT_LE(ran.status, 1) << ran.err;
    return read_report(path);
}

Report run_parts(const Folder& folder, const std::vector<Environment>& parts, const std::string& name) {
    std::vector<std::string> merge = {"merge"};
    for (std::size_t i = 0; i < parts.size(); ++i) {
        Environment environment = parts[i];
        environment.emplace_back(kFilter);
        const auto ran = run_tool(check(folder.path(name + "-{shard}.json")), environment);
        EXPECT_LE(ran.status, 1) << ran.err;
        merge.push_back(folder.path(name + "-" + std::to_string(i) + ".json"));
    }
    const auto whole = folder.path(name + "-merged.json");
    merge.insert(merge.end(), {"--report", whole});
    EXPECT_LE(run_tool(merge).status, 1);
    return read_report(whole);
}

void expect_same(const Report& merged, const Report& whole) {
    EXPECT_EQ(findings(merged), findings(whole));
    ASSERT_EQ(merged.providers.size(), whole.providers.size());
    for (std::size_t i = 0; i < whole.providers.size(); ++i) {
        EXPECT_EQ(merged.providers[i].judged, whole.providers[i].judged);
        EXPECT_EQ(merged.providers[i].tally.applied, whole.providers[i].tally.applied);
        EXPECT_EQ(merged.providers[i].tally.broken, whole.providers[i].tally.broken);
    }
    const Coverage a = coverage_of(merged);
    const Coverage b = coverage_of(whole);
    EXPECT_EQ(a.reached, b.reached);
    EXPECT_EQ(a.judged, b.judged);
}

TEST(Shards, TwoOfThemFindTogetherWhatOneRunFinds) {
    const Folder folder;
    const Report whole = run_whole(folder);
    ASSERT_FALSE(whole.deviations.empty()) << "nothing can be compared";
    expect_same(run_parts(folder,
                          {{"SLURM_ARRAY_TASK_ID=0", "SLURM_ARRAY_TASK_COUNT=2"},
                           {"SLURM_ARRAY_TASK_ID=1", "SLURM_ARRAY_TASK_COUNT=2"}},
                          "array"),
                whole);
    expect_same(run_parts(folder, {{"SLURM_PROCID=0", "SLURM_NTASKS=2"}, {"SLURM_PROCID=1", "SLURM_NTASKS=2"}}, "srun"),
                whole);
    expect_same(run_parts(folder,
                          {{"OMPI_COMM_WORLD_RANK=0", "OMPI_COMM_WORLD_SIZE=2"},
                           {"OMPI_COMM_WORLD_RANK=1", "OMPI_COMM_WORLD_SIZE=2"}},
                          "mpirun"),
                whole);
}

#endif  // SELVAGE_MUTANT_FOLDER

TEST(Merging, TakesPartsOfOneRunOnly) {
    Report one;
    one.subject.path = "a";
    Report two = one;
    Report whole;
    std::string error;
    EXPECT_TRUE(merge_reports(std::vector<Report>{one, two}, whole, error)) << error;
    two.seed = 7;
    EXPECT_FALSE(merge_reports(std::vector<Report>{one, two}, whole, error));
    two = one;
    two.subject.path = "b";
    EXPECT_FALSE(merge_reports(std::vector<Report>{one, two}, whole, error));
    EXPECT_FALSE(merge_reports({}, whole, error));
}

TEST(Merging, ForgetsThatAnotherPartWasToReachAClause) {
    Report one;
    one.providers.emplace_back().provider = "tcp";
    one.providers[0].reasons[model::Clause{}] = std::string(kOtherPart);
    Report two = one;
    two.providers[0].reasons[model::Clause{}] = "no offer has a nic";
    two.providers[0].judged = 5;
    Report whole;
    std::string error;
    ASSERT_TRUE(merge_reports(std::vector<Report>{one, two}, whole, error));
    EXPECT_EQ(whole.providers[0].reasons[model::Clause{}], "no offer has a nic");
    EXPECT_EQ(whole.providers[0].judged, 5U);
}

}  // namespace
}  // namespace selvage::conformance
