// The suite of many peers: its plan, processes that survive what libraries do, and that the tool measures all it says.
//
// Figures are not held against anything: machines that run tests are busy.
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "conformance/bench/many/plan.h"
#include "conformance/bench/many/processes.h"
#include "conformance/bench/pairs.h"
#include "conformance/test/schema_util.h"
#include "conformance/test/tool_util.h"

namespace selvage::conformance {
namespace {

using bench::Workload;
using bench::many::Order;
using bench::many::Step;
using nlohmann::json;

const std::string kBroken = SELVAGE_BROKEN_DIR;

// A run as short as can be, with JSON.
Ran run_many(std::vector<std::string> more) {
    std::vector<std::string> arguments = {"bench", "many", "--quick", "--pairs", "1", "--milliseconds", "1", "--quiet"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_tool(arguments, {}, {}, std::chrono::seconds(240));
}

std::map<std::string, json> rows_of(const Ran& ran) {
    std::map<std::string, json> out;
    EXPECT_EQ(ran.status, 0) << ran.err;
    if (ran.status != 0) return out;
    const json all = json::parse(ran.out);
    validate(json::parse(slurp(SELVAGE_SOURCE_DIR "/docs/bench.schema.json")), all, "bench");
    for (const auto& row : all["workloads"]) out[row["name"]] = row;
    return out;
}

class BenchMany : public ::testing::Test {
protected:
    void SetUp() override {
        if (sysconf(_SC_NPROCESSORS_ONLN) < 2) GTEST_SKIP() << "two cores are needed";
    }
};

const Workload& named(const std::vector<Workload>& all, const std::string& name) {
    return *std::find_if(all.begin(), all.end(), [&](const Workload& w) { return w.name == name; });
}

bench::Result result_of(const Workload& workload, double median, double by_floor) {
    bench::Result r;
    r.workload = &workload;
    r.sides.resize(2);
    r.sides[0].summary.median = median;
    r.sides[0].floor_ratio = by_floor;
    return r;
}

TEST(BenchManyPlan, EveryRowHasANameOfItsOwnAndAFloorThatIsMeasured) {
    std::set<std::string> floors;
    for (const auto& f : bench::many::many_floors()) floors.insert(f.name);
    std::set<std::string> names;
    for (const auto& w : bench::many::many_workloads()) {
        EXPECT_TRUE(names.insert(w.name).second) << w.name;
        EXPECT_TRUE(w.floor.empty() || floors.contains(w.floor)) << w.floor;
        EXPECT_EQ(bench::many::item_of(w).scenario.provider, w.place.provider);
        EXPECT_TRUE(w.name.starts_with(w.place.provider + "."));
    }
    for (const char* name : {"shm.all-to-all.64", "tcp.all-to-all.64.memory", "tcp.to-one.1000",
                             "shm.to-one.100.memory", "tcp.addresses.1000000.look-up", "tcp.addresses.1000000.memory"})
        EXPECT_TRUE(names.contains(name)) << name;
}

TEST(BenchManyPlan, FirstMessagesAndTheStormHaveGoalsThatCanBeMissed) {
    const auto all = bench::many::many_workloads();
    EXPECT_EQ(result_of(named(all, "shm.first"), 49e3, 0).met(), bench::Met::Yes);
    EXPECT_EQ(result_of(named(all, "shm.first"), 51e3, 0).met(), bench::Met::No);
    EXPECT_EQ(result_of(named(all, "tcp.first"), 1, 3.0).met(), bench::Met::Yes);
    EXPECT_EQ(result_of(named(all, "tcp.first"), 1, 3.1).met(), bench::Met::No);
    EXPECT_EQ(result_of(named(all, "tcp.storm.1000"), 1.9e9, 0).met(), bench::Met::Yes);
    EXPECT_EQ(result_of(named(all, "tcp.storm.1000"), 2.1e9, 0).met(), bench::Met::No);
}

// A worker that does with the turns of an order what they say.
class Misbehaving : public bench::many::Worker {
public:
    enum Manner : std::uint64_t { kDo, kDie, kLeave, kRefuse, kHang };
    Misbehaving(bench::many::Board& board, std::size_t number) : board_(board), number_(number) {}
    void perform(const Order& order) override {
        const std::uint64_t manner = number_ == 1 ? order.turns : kDo;
        if (manner == kDie) raise(SIGKILL);
        if (manner == kLeave) _exit(3);
        if (manner == kRefuse) throw bench::CannotMeasure("not today");
        while (manner == kHang) pause();
        board_.reports[number_].began = static_cast<std::int64_t>(100 + number_);
        board_.reports[number_].ended = static_cast<std::int64_t>(200 + number_);
    }
    void progress() override {}

private:
    bench::many::Board& board_;
    std::size_t number_;
};

std::unique_ptr<bench::many::Worker> make_misbehaving(const Entries&, const bench::many::Scenario&,
                                                      bench::many::Board& board, std::size_t number) {
    return std::make_unique<Misbehaving>(board, number);
}

std::string end_of(Misbehaving::Manner manner) {
    bench::many::Processes processes("", {"shm", bench::many::Kind::AllToAll, 3}, {}, make_misbehaving,
                                     std::chrono::seconds(5));
    EXPECT_EQ(processes.talk(Misbehaving::kDo), 102) << "from the first one's beginning to the last one's end";
    try {
        processes.talk(manner);
    } catch (const bench::CannotMeasure& e) {
        return e.what();
    }
    return {};
}

TEST(BenchManyProcesses, OneThatDiesRefusesOrHangsEndsTheScenarioWithAReason) {
    EXPECT_EQ(end_of(Misbehaving::kDo), "");
    EXPECT_EQ(end_of(Misbehaving::kDie), "a process died of signal 9");
    EXPECT_EQ(end_of(Misbehaving::kLeave), "a process ended with status 3");
    EXPECT_EQ(end_of(Misbehaving::kRefuse), "not today");
    EXPECT_TRUE(contains(end_of(Misbehaving::kHang), "not done after"));
}

TEST(BenchManyProcesses, TheMemoryThatAWorkerReportsGrowsWithWhatItTouches) {
    class Growing : public bench::many::Worker {
    public:
        void perform(const Order& order) override { more_.assign(order.turns, std::byte{1}); }
        void progress() override {}

    private:
        std::vector<std::byte> more_;
    };
    bench::many::Processes processes(
        "", {"shm", bench::many::Kind::Addresses, 1}, {},
        [](const Entries&, const bench::many::Scenario&, bench::many::Board&,
           std::size_t) -> std::unique_ptr<bench::many::Worker> { return std::make_unique<Growing>(); });
    processes.order({Step::Weigh, 0, 0});
    const double before = processes.report(0).memory;
    processes.order({Step::Talk, std::uint64_t{64} << 20, 0});
    processes.order({Step::Weigh, 0, 0});
    EXPECT_NEAR(processes.report(0).memory - before, 64 << 20, 1 << 20);
}

TEST_F(BenchMany, EveryRowOfAShortRunIsMeasuredBesideARival) {
    const Ran ran = run_many({"--json"});
    if (contains(ran.err, "lies beside the tool")) GTEST_SKIP() << "the bundled library is not built";
    const auto rows = rows_of(ran);
    for (const auto& w : bench::many::many_workloads()) {
        if (!w.quick) continue;
        ASSERT_TRUE(rows.contains(w.name)) << w.name;
        const json& row = rows.at(w.name);
        EXPECT_GT(row["a"].value("median", 0.0), 0) << row;
        EXPECT_TRUE(row["rivals"][0].contains("median") || row["rivals"][0].contains("error")) << row;
        if (!w.floor.empty()) {
            EXPECT_GT(row["a"].value("by_floor", 0.0), 0) << row;
        }
    }
}

// A few peers fit in pages that the receiver has touched before: the page tables show nothing of them.
TEST_F(BenchMany, MemoryOfAFewPeersIsToldAsNoLessThanAPage) {
    const Ran ran = run_many({"--json", "--only", "tcp.to-one.16.memory"});
    if (contains(ran.err, "lies beside the tool")) GTEST_SKIP() << "the bundled library is not built";
    const auto rows = rows_of(ran);
    ASSERT_EQ(rows.size(), 1U);
    const json& row = rows.at("tcp.to-one.16.memory");
    EXPECT_GE(row["a"].value("median", 0.0) * 16, static_cast<double>(sysconf(_SC_PAGESIZE))) << row;
}

TEST_F(BenchMany, ALibraryThatCannotDoARowIsToldThereAndMissesItsGoal) {
    const std::vector<std::string> arguments = {
        "--library", kBroken + "/libhostile.so", "--against", "libfabric.so.1", "--only", "shm.first"};
    auto with_json = arguments;
    with_json.emplace_back("--json");
    const auto rows = rows_of(run_many(with_json));
    ASSERT_EQ(rows.size(), 1U);
    EXPECT_FALSE(rows.at("shm.first")["a"].value("error", "").empty()) << rows.at("shm.first");
    EXPECT_EQ(rows.at("shm.first")["goal"]["met"], false);
    auto required = arguments;
    required.emplace_back("--require-goals");
    EXPECT_EQ(run_many(required).status, 1);
}

}  // namespace
}  // namespace selvage::conformance
