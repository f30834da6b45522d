// The suite of transfers: sessions that survive what libraries do, goals, the page, and that the tool measures all it
// says.
//
// Times are not held against anything but what is tens of times off: machines that run tests are busy.
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "conformance/bench/print.h"
#include "conformance/bench/session.h"
#include "conformance/bench/transfer/plan.h"
#include "conformance/test/schema_util.h"
#include "conformance/test/tool_util.h"

namespace selvage::conformance {
namespace {

using bench::Workload;
using nlohmann::json;

const std::string kBroken = SELVAGE_BROKEN_DIR;

// A run as short as can be, with JSON.
Ran run_transfer(std::vector<std::string> more, const Environment& environment = {}) {
    std::vector<std::string> arguments = {"bench", "transfer",       "--quick", "--pairs",
                                          "1",     "--milliseconds", "1",       "--quiet"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_tool(arguments, environment, {}, std::chrono::seconds(240));
}

json parsed(const Ran& ran) {
    EXPECT_EQ(ran.status, 0) << ran.err;
    json all = ran.status == 0 ? json::parse(ran.out) : json();
    if (!all.is_null()) validate(json::parse(slurp(SELVAGE_SOURCE_DIR "/docs/bench.schema.json")), all, "bench");
    return all;
}

std::map<std::string, json> by_name(const json& rows) {
    std::map<std::string, json> out;
    for (const auto& row : rows) out[row["name"]] = row;
    return out;
}

bool has_two_cores() { return sysconf(_SC_NPROCESSORS_ONLN) >= 2; }
bool lacks_own(const Ran& ran) { return contains(ran.err, "lies beside the tool"); }

class BenchTransfer : public ::testing::Test {
protected:
    void SetUp() override {
        if (!has_two_cores()) GTEST_SKIP() << "two cores are needed";
    }
};

std::vector<Workload> named(std::initializer_list<const char*> names) {
    std::vector<Workload> out;
    for (const char* name : names) out.push_back({.name = name, .title = name});
    return out;
}

std::vector<const Workload*> pointers(const std::vector<Workload>& all) {
    std::vector<const Workload*> out;
    for (const auto& w : all) out.push_back(&w);
    return out;
}

// A row of this name dies, hangs up or says that it can't; all others give one sample.
void misbehaving_session(const std::string&, bench::Rows rows, const bench::Setting&, const bench::Tell& tell) {
    for (const auto* row : rows) {
        tell.begin(*row);
        if (row->name == "dies") raise(SIGKILL);
        if (row->name == "leaves") _exit(3);
        if (row->name == "throws") throw bench::CannotMeasure("not today");
        if (row->name == "lacks") {
            tell.cannot(*row, "no such thing");
            continue;
        }
        const double sample = 5;
        tell.samples(*row, {&sample, 1});
    }
}

TEST(BenchSession, ARowThatEndsItsProcessIsToldAndTheOthersAreMeasured) {
    const auto rows = named({"first", "dies", "between", "leaves", "throws", "lacks", "last"});
    unsigned at = 0;
    const auto seen = bench::run_session(misbehaving_session, "", pointers(rows), {}, [&] { ++at; });
    EXPECT_EQ(at, rows.size());
    for (const char* name : {"first", "between", "last"}) EXPECT_EQ(seen.samples.count(name), 1U) << name;
    EXPECT_EQ(seen.samples.size(), 3U);
    EXPECT_EQ(seen.errors.at("dies"), "died of signal 9");
    EXPECT_EQ(seen.errors.at("leaves"), "ended the process with status 3");
    EXPECT_EQ(seen.errors.at("throws"), "not today");
    EXPECT_EQ(seen.errors.at("lacks"), "no such thing");
}

void silent_session(const std::string&, bench::Rows, const bench::Setting&, const bench::Tell&) {}

TEST(BenchSession, ASessionThatSaysNothingEnds) {
    const auto rows = named({"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"});
    const auto seen = bench::run_session(silent_session, "", pointers(rows), {}, [] {});
    EXPECT_EQ(seen.errors.size(), rows.size());
    EXPECT_EQ(seen.errors.at("a"), "gave nothing");
    EXPECT_TRUE(contains(seen.errors.at("j"), "too often"));
}

TEST(BenchSession, AFloorThatMovesByMoreThanItsShareIsAnotherMachine) {
    auto floors = named({"steady", "other"});
    floors[0].steady = true;
    bench::Seen before;
    bench::Seen after;
    before.samples = {{"steady", {100}}, {"other", {100}}};
    after.samples = {{"steady", {114}}, {"other", {300}}};
    EXPECT_TRUE(bench::same_machine(pointers(floors), before, after));
    after.samples["steady"] = {116};
    EXPECT_FALSE(bench::same_machine(pointers(floors), before, after));
    EXPECT_FALSE(bench::same_machine(pointers(floors), after, before));
}

bench::Result result_of(const Workload& workload, double ratio, double of_floor) {
    bench::Result r;
    r.workload = &workload;
    r.sides.resize(2);
    r.sides[0].summary.median = 1;
    r.sides[0].floor_ratio = of_floor;
    r.sides[1].ratio = ratio;
    return r;
}

TEST(BenchGoals, ATimeStaysWithinItsShareOfTheFloorAndARateReachesIt) {
    Workload w{.name = "w", .title = "w", .goal = {.floor = 1.35}};
    EXPECT_EQ(result_of(w, 0, 1.35).met(), bench::Met::Yes);
    EXPECT_EQ(result_of(w, 0, 1.36).met(), bench::Met::No);
    EXPECT_EQ(result_of(w, 0, 0).met(), bench::Met::Unknown);
    w.quantity = bench::Quantity::Rate;
    w.goal = {.floor = 0.85};
    EXPECT_EQ(result_of(w, 0, 0.86).met(), bench::Met::Yes);
    EXPECT_EQ(result_of(w, 0, 0.84).met(), bench::Met::No);
}

TEST(BenchGoals, InstructionsAreHeldAgainstTheirGoal) {
    const Workload w{.name = "w", .title = "w", .goal = {.times = 2, .instructions = 150}};
    bench::Result r = result_of(w, 3, 0);
    EXPECT_EQ(r.met(), bench::Met::Unknown);
    r.sides[0].instructions = 149;
    EXPECT_EQ(r.met(), bench::Met::Yes);
    r.sides[0].instructions = 150;
    EXPECT_EQ(r.met(), bench::Met::No);
}

TEST(BenchGoals, NobodyIsSlowerThanALibraryThatCannotDoIt) {
    const Workload w{.name = "w", .title = "w", .goal = {.times = 1}};
    bench::Result r = result_of(w, 0, 0);
    r.sides[1].error = "no data available";
    EXPECT_EQ(r.met(), bench::Met::Yes);
    r.sides[0].error = "no data available";
    EXPECT_EQ(r.met(), bench::Met::NoGoal);
    r.sides[1].error.clear();
    EXPECT_EQ(r.met(), bench::Met::No);
}

TEST(BenchPlan, EveryRowSaysWhatItIsAndIsHeldAgainstAFloorThatIsMeasured) {
    std::set<std::string> floors;
    for (const auto& f : bench::transfer::transfer_floors()) EXPECT_TRUE(floors.insert(f.name).second) << f.name;
    std::set<std::string> names;
    for (const auto& w : bench::transfer::transfer_workloads()) {
        EXPECT_TRUE(names.insert(w.name).second) << w.name;
        EXPECT_TRUE(w.floor.empty() || floors.contains(w.floor)) << w.floor;
        const auto item = bench::transfer::item_of(w);
        ASSERT_NE(item.provider, nullptr) << w.name;
        EXPECT_EQ(item.provider->name, w.place.provider);
    }
    for (const auto& w : bench::transfer::transfer_workloads())
        EXPECT_TRUE(w.beside.empty() || names.contains(w.beside)) << w.beside;
    // The goals that the project set itself stand in the plan under the names that rows have.
    std::size_t with_floor = 0;
    for (const auto& w : bench::transfer::transfer_workloads()) with_floor += w.goal.floor > 0 ? 1 : 0;
    EXPECT_EQ(with_floor, 5U);
}

TEST(BenchPage, WhatALibrarySaysIsTextAndNoMarkup) {
    const Workload w{.name = "w", .title = "<b>title</b>"};
    bench::Bench all;
    all.sides = {{.name = "A", .resolved = "<script>alert(1)</script>"}, {.name = "B"}};
    all.results = {result_of(w, 1, 1)};
    all.results[0].sides[1].error = "<i>\x01";
    const std::string page = bench::as_page(all);
    for (const char* tag : {"<script>", "<b>title", "<i>", "\x01"}) EXPECT_FALSE(contains(page, tag)) << tag;
    EXPECT_TRUE(contains(page, "&lt;script&gt;"));
}

TEST_F(BenchTransfer, EveryOperationOfSharedMemoryIsMeasuredOnBothLibraries) {
    const Ran ran = run_transfer({"--only", "shm", "--no-count", "--json"});
    if (lacks_own(ran)) GTEST_SKIP() << "the bundled library is not built";
    const json all = parsed(ran);
    const auto rows = by_name(all["workloads"]);
    for (const auto& w : bench::transfer::transfer_workloads()) {
        if (!w.quick || w.place.provider != "shm") continue;
        ASSERT_TRUE(rows.contains(w.name)) << w.name;
        EXPECT_TRUE(rows.at(w.name)["a"].contains("median")) << rows.at(w.name);
        if (!w.beside.empty()) continue;  // Debian's library has nothing that waits for counters
        EXPECT_TRUE(rows.at(w.name)["rivals"][0].contains("median")) << rows.at(w.name);
    }
    EXPECT_TRUE(rows.at("shm.tagged.latency.8")["a"].contains("by_floor"));
    const auto floors = by_name(all["floors"]);
    for (const char* name : {"shm.floor.line", "shm.floor.ring", "shm.floor.memcpy.65536", "shm.floor.vmread.65536"})
        EXPECT_GT(floors.at(name)["median"], 0) << name;
}

TEST_F(BenchTransfer, TcpIsMeasuredConnectedAndUnconnected) {
    std::vector<std::string> arguments = {"--no-count", "--json"};
    for (const char* only :
         {"tcp.msg.latency.8", "tcp.tagged.bandwidth.65536", "tcp.write.latency.8", "tcp.fetch-add.latency",
          "tcp-msg.msg.latency.8", "tcp-msg.read.bandwidth.4096", "tcp-msg.tagged.latency.8"})
        arguments.insert(arguments.end(), {"--only", only});
    const Ran ran = run_transfer(arguments);
    if (lacks_own(ran)) GTEST_SKIP() << "the bundled library is not built";
    const json all = parsed(ran);
    const auto rows = by_name(all["workloads"]);
    EXPECT_EQ(rows.size(), 7U);
    for (const auto& [name, row] : rows) {
        EXPECT_TRUE(row["a"].contains("median")) << row;
        // Debian's library has no tags on connected endpoints of tcp, and says so.
        if (name == "tcp-msg.tagged.latency.8") continue;
        EXPECT_TRUE(row["rivals"][0].contains("median")) << row;
    }
    EXPECT_TRUE(contains(rows.at("tcp-msg.tagged.latency.8")["rivals"][0].value("error", ""), "-61"));
    const auto floors = by_name(all["floors"]);
    for (const char* name : {"tcp.floor.latency.8", "tcp.floor.bandwidth.65536", "tcp-msg.floor.latency.8"})
        EXPECT_GT(floors.at(name)["median"], 0) << name;
}

// A crowd that is not read while it connects, or messages that come before they are counted, end it after ten seconds.
TEST_F(BenchTransfer, ACrowdOfSendersAndOfSilentPeersIsMeasuredOverTcp) {
    const Ran ran = run_transfer({"--only", "tcp.many-to-one", "--only", "tcp.idle-peers", "--no-count", "--json"});
    if (lacks_own(ran)) GTEST_SKIP() << "the bundled library is not built";
    const json all = parsed(ran);
    ASSERT_EQ(all["workloads"].size(), 2U);
    for (const auto& row : all["workloads"]) EXPECT_TRUE(row["a"].contains("median")) << row;
}

TEST_F(BenchTransfer, ALibraryThatCannotTransferIsToldInEveryRow) {
    const Ran ran = run_transfer({"--library", "libfabric.so.1", "--against", kBroken + "/libhostile.so", "--only",
                                  "shm.tagged.latency", "--no-count", "--json"});
    const json all = parsed(ran);
    ASSERT_EQ(all["workloads"].size(), 4U);
    for (const auto& row : all["workloads"]) {
        EXPECT_TRUE(row["a"].contains("median")) << row;
        EXPECT_TRUE(row["rivals"][0].contains("error")) << row;
    }
}

TEST_F(BenchTransfer, AGoalThatIsMissedFailsOnlyWhereGoalsAreRequired) {
    // Debian's library takes some 700 instructions for what shall take 150, however busy the machine is.
    std::vector<std::string> arguments = {"--library", "libfabric.so.1", "--only", "shm.tagged.rate.8"};
    const Ran told = run_transfer(arguments);
    EXPECT_EQ(told.status, 0) << told.err;
    if (contains(told.out, "instr/call:")) GTEST_SKIP() << "instructions are not counted";
    EXPECT_TRUE(contains(told.out, "MISSED")) << told.out;
    EXPECT_TRUE(contains(told.out, "1 missed")) << told.out;
    arguments.emplace_back("--require-goals");
    EXPECT_EQ(run_transfer(arguments).status, 1);
}

TEST_F(BenchTransfer, ThePageHoldsPlotsOfAllThatHasSizes) {
    const Folder folder;
    const std::string page = folder.path("bench.html");
    const Ran ran = run_transfer({"--library", "libfabric.so.1", "--only", "shm.msg.latency", "--only",
                                  "shm.tagged.bandwidth", "--no-count", "--report", page});
    EXPECT_EQ(ran.status, 0) << ran.err;
    const std::string text = slurp(page);
    std::size_t plots = 0;
    for (auto at = text.find("<svg"); at != std::string::npos; at = text.find("<svg", at + 1)) ++plots;
    EXPECT_EQ(plots, 2U);
    EXPECT_TRUE(contains(text, "process_vm_readv"));
    EXPECT_FALSE(contains(text, "http"));  // needs nothing else
}

TEST_F(BenchTransfer, ASmallMessageTakesFarFewerInstructionsThanWithTheSystemsLibrary) {
    const Ran ran = run_transfer({"--only", "shm.tagged.rate.8", "--only", "shm.msg.rate.8", "--json"});
    if (lacks_own(ran)) GTEST_SKIP() << "the bundled library is not built";
    const json all = parsed(ran);
    if (all.contains("not_counted")) GTEST_SKIP() << all["not_counted"];
    for (const auto& row : all["workloads"]) {
        ASSERT_TRUE(row["rivals"][0].contains("instruction_ratio")) << row;
        EXPECT_GE(row["rivals"][0]["instruction_ratio"], 1.5) << row;
        EXPECT_LE(row["a"]["instructions"], 300) << row;
    }
}

// Programs in a folder that is all of PATH.
class Programs {
public:
    void add(const char* name, const std::string& script) {
        const std::string file = folder_.write(name, "#!/bin/sh\n" + script);
        std::filesystem::permissions(file, std::filesystem::perms::owner_all);
    }
    [[nodiscard]] Environment environment() const { return {"PATH=" + folder_.path("")}; }

private:
    Folder folder_;
};

// Listens, knows one test, and does two million of it in a second.
constexpr const char* kUcx = R"sh(case "$*" in
127.0.0.1*-t\ tag_lat*) echo 2000,0.5,0.5,0.5,15.7,15.7,1900000,2000000 ;;
127.0.0.1*) echo "no such test"; exit 1 ;;
*) echo "[1.5] Waiting for connection..."; exec /bin/sleep 20 ;;
esac
)sh";

TEST_F(BenchTransfer, RivalsAreMeasuredByTheirToolsAndOneThatIsMissingIsLeftOut) {
    Programs programs;
    programs.add("ucx_perftest", kUcx);
    const Ran ran = run_transfer({"--library", "libfabric.so.1", "--against", "libfabric.so.1", "--against", "ucx",
                                  "--against", "openmpi", "--only", "shm.tagged.latency.8", "--only",
                                  "shm.msg.latency.8", "--only", "shm.write.latency.8", "--no-count", "--json"},
                                 programs.environment());
    const json all = parsed(ran);
    ASSERT_EQ(all["rivals"].size(), 2U) << all;
    EXPECT_EQ(all["rivals"][1]["tool"], "ucx");
    EXPECT_EQ(all["left_out"][0]["name"], "openmpi");
    EXPECT_TRUE(contains(all["left_out"][0]["why"].get<std::string>(), "not installed"));
    const auto rows = by_name(all["workloads"]);
    EXPECT_EQ(rows.at("shm.tagged.latency.8")["rivals"][1].value("median", 0.0), 1000) << "twice the time one way";
    EXPECT_TRUE(contains(rows.at("shm.msg.latency.8")["rivals"][1].value("error", ""), "no such test"));
    EXPECT_EQ(rows.at("shm.write.latency.8")["rivals"][1], json::object()) << "no counterpart";
    for (const auto& [name, row] : rows) EXPECT_TRUE(row["rivals"][0].contains("median")) << row;
}

TEST_F(BenchTransfer, ARivalWhoseProgramDiesLosesTheRowThatItWasAt) {
    Programs programs;
    programs.add("mpicc", "exit 0\n");
    // It falls by the row's name: where the floor was unsteady the pair is made again, without the row that was lost.
    programs.add("mpirun", R"sh(if [ "$1" = --version ]; then echo "mpirun (Open MPI) 4.1.4"; exit 0; fi
number=0
for word; do
    case $word in
        tagged:latency:4096:*) echo begin $number; echo "a rank fell"; exit 1 ;;
        tagged:latency:*) echo begin $number; echo samples $number 500 500 500; number=$((number + 1)) ;;
    esac
done
)sh");
    const Folder temporary;
    Environment environment = programs.environment();
    environment.push_back("TMPDIR=" + temporary.path(""));
    const Ran ran = run_transfer(
        {"--library", "libfabric.so.1", "--against", "openmpi", "--only", "shm.tagged.latency", "--no-count", "--json"},
        environment);
    EXPECT_TRUE(std::filesystem::is_empty(temporary.path(""))) << "the program that it compiled";
    const auto rows = by_name(parsed(ran)["workloads"]);
    EXPECT_EQ(rows.at("shm.tagged.latency.8")["rivals"][0].value("median", 0.0), 500);
    EXPECT_TRUE(contains(rows.at("shm.tagged.latency.4096")["rivals"][0].value("error", ""), "a rank fell"));
    EXPECT_EQ(rows.at("shm.tagged.latency.65536")["rivals"][0].value("median", 0.0), 500) << ran.out << ran.err;
}

TEST_F(BenchTransfer, RealRivalsAreMeasuredWhereTheyAreInstalled) {
    const Ran ran = run_transfer({"--library", "libfabric.so.1", "--against", "libfabric.so.1", "--against", "ucx",
                                  "--against", "openmpi", "--only", "shm.tagged.latency.8", "--no-count", "--json"});
    const json all = parsed(ran);
    for (std::size_t rival = 1; rival < all["rivals"].size(); ++rival) {
        const json& measured = all["workloads"][0]["rivals"][rival];
        EXPECT_GT(measured.value("median", 0.0), 0) << measured;
    }
    if (all["rivals"].size() < 3) GTEST_SKIP() << all["left_out"];
}

// Expects that the bundled library can do all rows of a suite that begin so.
void expect_measured(const char* suite, std::vector<std::string> only, std::size_t rows,
                     const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments = {"bench", suite, "--pairs", "1", "--milliseconds", "1", "--quiet", "--json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    for (auto& name : only) arguments.insert(arguments.end(), {"--only", std::move(name)});
    const Ran ran = run_tool(arguments, {}, {}, std::chrono::seconds(240));
    if (lacks_own(ran)) GTEST_SKIP() << "the bundled library is not built";
    const json all = parsed(ran);
    EXPECT_EQ(all["workloads"].size(), rows);
    for (const auto& row : all["workloads"]) EXPECT_TRUE(row["a"].contains("median")) << row;
}

TEST_F(BenchTransfer, CollectiveOperationsAreMeasuredAmongTwoFourAndEightProcesses) {
    expect_measured("collective", {"shm.barrier", "shm.allreduce.2.8", "tcp.alltoall.4.8", "shm.alltoall.8.1048576"},
                    6);
}

// Members that are not ahead of all others yet would starve behind those that are, where they share processors.
TEST_F(BenchTransfer, MembersThatRunAheadOfAllOthersLeaveNoneOfTheirsBehind) {
    expect_measured("collective", {"shm.broadcast.8"}, 5, {"--realtime"});
}

TEST_F(BenchTransfer, ContextsAreMeasuredBesideAsManyEndpoints) {
    expect_measured("contexts", {"shm.contexts.64", "tcp.contexts.8"}, 4);
}

TEST(BenchTransferTool, WhatItCannotDoIsOneLine) {
    for (const auto& [arguments, says] : std::vector<std::pair<std::vector<std::string>, std::string>>{
             {{"--only", "shm.taged"}, "shm.tagged"},
             {{"--only", "shm.tagged.rate.8", "--report", "/no/such/folder/x.html"}, "/no/such/folder/x.html"}}) {
        const Ran ran = run_transfer(arguments);
        EXPECT_EQ(ran.status, 2);
        EXPECT_EQ(lines_of(ran.err), 1U) << ran.err;
        EXPECT_TRUE(contains(ran.err, says)) << ran.err;
    }
}

}  // namespace
}  // namespace selvage::conformance
