// selvage check: what its exit status says, and that its saved programs show what they claim.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <thread>

#include "conformance/convict/bounded_run.h"
#include "conformance/test/subject_util.h"
#include "conformance/test/tool_util.h"

namespace selvage::conformance {
namespace {

// The plain look-alike keeps some clauses and breaks others, each of its own level.
Ran check_plain(const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {"check",      "--no-compiler", "--library", broken_library("hostile"),
                                          "--provider", "fake",          "--cases",   "100"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_tool(arguments);
}

TEST(ExitStatus, IsZeroWhenAllClausesAreKept) {
    const Ran ran = check_plain({"--clause", "getinfo.memory.returns"});
    EXPECT_EQ(ran.status, 0) << ran.out;
    EXPECT_TRUE(contains(ran.out, "no broken promise")) << ran.out;
}

std::string waiver(const std::string& clause, const std::string& expires = "9999-12-31") {
    return "[[waiver]]\nclause = \"" + clause +
           "\"\nprovider = \"fake\"\nowner = \"ann\"\nreason = \"known\"\nurl = \"https://example.org/1\"\nexpires = " +
           expires + "\n";
}

TEST(ExitStatus, IsTwoWhenAWaiverHasExpiredOrIsNotNeededAnyMore) {
    const Folder folder;
    const Ran expired = check_plain({"--clause", "getinfo.memory.dup-equal", "--waivers",
                                     folder.write("old.toml", waiver("getinfo.memory.dup-equal", "2026-01-31"))});
    EXPECT_EQ(expired.status, 2);
    EXPECT_TRUE(contains(expired.err, "line 1: the waiver of getinfo.memory.dup-equal held until 2026-01-31"))
        << expired.err;
    const Ran unneeded = check_plain({"--clause", "getinfo.memory.returns", "--report", folder.path("r.json"),
                                      "--waivers", folder.write("kept.toml", waiver("getinfo.memory.returns"))});
    EXPECT_EQ(unneeded.status, 2);
    EXPECT_TRUE(contains(unneeded.err, "the waiver of getinfo.memory.returns on fake is not needed any more"))
        << unneeded.err;
    EXPECT_TRUE(read_report(folder.path("r.json")).deviations.empty()) << "the report is written all the same";
    const Ran not_looked_at = check_plain({"--clause", "getinfo.memory.returns", "--waivers",
                                           folder.write("other.toml", waiver("getinfo.memory.dup-equal"))});
    EXPECT_EQ(not_looked_at.status, 0) << not_looked_at.err;
}

TEST(ExitStatus, IsOneWhenAPromiseIsBrokenAndZeroWhenItIsWaived) {
    // Its fi_dupinfo gives an offer of its own instead of a copy.
    const Ran ran = check_plain({"--clause", "getinfo.memory.dup-equal"});
    EXPECT_EQ(ran.status, 1) << ran.out;
    EXPECT_TRUE(contains(ran.out, "getinfo.memory.dup-equal")) << ran.out;
    const Folder folder;
    const auto waivers = folder.write("waivers.toml", waiver("getinfo.memory.dup-equal"));
    const Ran waived = check_plain({"--clause", "getinfo.memory.dup-equal", "--waivers", waivers});
    EXPECT_EQ(waived.status, 0) << waived.out << waived.err;
    EXPECT_TRUE(contains(waived.out, "no broken promise")) << waived.out;
    const Ran whole = check_plain({"--clause", "getinfo.memory.dup-equal", "--waivers", waivers, "--verbose"});
    EXPECT_TRUE(whole.out.starts_with("waived ")) << whole.out;
}

TEST(ExitStatus, CountsWeaknessesAndDisputesOnlyWhenStrict) {
    const Folder folder;
    // The others take their time, and judge what has nothing to do with grades.
    const Environment queries = {"GTEST_FILTER=corpus.*:classes.*:random.*:pairs.*"};
    const Ran all =
        run_tool({"check", "--no-compiler", "--provider", "shm", "--cases", "300", "--clause", "domain", "--clause",
                  "fabric", "--clause", "endpoint", "--report", folder.path("r.json"), "--quiet"},
                 queries);
    ASSERT_EQ(all.status, 1) << all.err;
    const Report r = read_report(folder.path("r.json"));
    const auto soft = std::find_if(r.deviations.begin(), r.deviations.end(), [&](const Deviation& d) {
        return d.grade >= Grade::Weakness &&
               std::none_of(r.deviations.begin(), r.deviations.end(),
                            [&](const Deviation& o) { return o.grade < Grade::Weakness && o.clause == d.clause; });
    });
    if (soft == r.deviations.end()) GTEST_SKIP() << "this library breaks no disputed clause and has no weakness";
    const std::string id(model::clause_text(soft->clause).id);
    const std::vector<std::string> only = {"check", "--no-compiler", "--provider", "shm",    "--cases",
                                           "300",   "--clause",      id,           "--quiet"};
    EXPECT_EQ(run_tool(only, queries).status, 0) << id;
    auto strict = only;
    strict.emplace_back("--strict");
    EXPECT_EQ(run_tool(strict, queries).status, 1) << id;
}

TEST(Shards, TogetherAskWhatOneRunAsks) {
    const Folder folder;
    std::uint64_t judged = 0;
    for (const char* index : {"0", "1"}) {
        const auto path = folder.path(std::string(index) + ".json");
        const Ran ran = run_tool({"check", "--library", broken_library("hostile"), "--cases", "100", "--clause",
                                  "getinfo.memory.returns", "--report", path},
                                 {"GTEST_TOTAL_SHARDS=2", std::string("GTEST_SHARD_INDEX=") + index});
        EXPECT_EQ(ran.status, 0) << ran.err;
        judged += read_report(path).providers.at(0).judged;
    }
    const auto whole = folder.path("whole.json");
    run_tool({"check", "--library", broken_library("hostile"), "--cases", "100", "--clause", "getinfo.memory.returns",
              "--report", whole});
    EXPECT_EQ(judged, read_report(whole).providers.at(0).judged);
}

// ---- reproducers ---------------------------------------------------------------------------------------------------

struct Programs {
    std::vector<std::string> files;
    std::size_t left_out = 0;
};

bool all_of_them() { return std::getenv("SELVAGE_ALL_REPRODUCERS") != nullptr; }

// The programs that a run saved; every n-th where there are too many for a test.
Programs saved_programs(const std::string& folder, std::size_t most) {
    Programs out;
    for (const auto& e : std::filesystem::directory_iterator(folder)) {
        if (e.path().extension() == ".c") out.files.push_back(e.path().string());
    }
    std::sort(out.files.begin(), out.files.end());
    if (out.files.size() <= most || all_of_them()) return out;
    std::vector<std::string> sample;
    for (std::size_t i = 0; i < most; ++i) sample.push_back(out.files[i * out.files.size() / most]);
    out.left_out = out.files.size() - sample.size();
    out.files = std::move(sample);
    return out;
}

// True if the case beside a program has transfers that its pair carries first.
bool takes_a_history(const std::string& program) {
    return slurp(program.substr(0, program.size() - 2) + ".case").find("\nbefore") != std::string::npos;
}

// Compiles and runs one program.  @return what is wrong, or nothing.
std::string try_program(const std::string& file) {
    const std::string binary = file + ".out";
    const Ran compiled = run_program({"cc", "-Wall", "-o", binary, file, "-lfabric"});
    if (compiled.status != 0 || !compiled.err.empty()) return "does not compile cleanly:\n" + compiled.err;
    // What a program leaves in /dev/shm when it is killed would be in the way of a later one with its process id.
    const RunResult ran = run_bounded({.arguments = {binary},
                                       .environment = own_environment(),
                                       .directory = "/",
                                       .limit = std::chrono::seconds(20),
                                       .work_limit = {}});
    if (ran.kind == RunResult::Kind::TimedOut || ran.kind == RunResult::Kind::Signaled) return {};
    if (ran.kind == RunResult::Kind::Exited && ran.code == 1) return {};
    // Of what takes a history a program may not be able to tell; a run that compiles it calls the finding intermittent.
    if (ran.code == 77 && takes_a_history(file)) return {};
    return "shows nothing: exits " + std::to_string(ran.code) + "\n" + ran.output;
}

void expect_programs_show(const std::string& provider, std::size_t most) {
    const Folder folder;
    const auto saved = folder.path("cases");
    const Ran ran =
        run_tool({"check", "--no-compiler", "--provider", provider, "--cases", "300", "--quiet", "--save", saved});
    ASSERT_EQ(ran.status, 1) << ran.err;
    const Programs programs = saved_programs(saved, most);
    ASSERT_FALSE(programs.files.empty());
    std::atomic<std::size_t> next = 0;
    std::mutex telling;
    const auto work = [&] {
        for (std::size_t i = next++; i < programs.files.size(); i = next++) {
            const auto wrong = try_program(programs.files[i]);
            const std::lock_guard lock(telling);
            EXPECT_EQ(wrong, "") << programs.files[i];
        }
    };
    // They sleep for most of their time.
    std::vector<std::thread> others;
    for (int i = 0; i < 3; ++i) others.emplace_back(work);
    work();
    for (std::thread& other : others) other.join();
    std::printf("%s: %zu programs compiled and run, %zu left out (SELVAGE_ALL_REPRODUCERS=1 runs them)\n",
                provider.c_str(), programs.files.size(), programs.left_out);
}

TEST(Reproducers, OfShmShowTheirDeviation) { expect_programs_show("shm", 25); }
TEST(Reproducers, OfTcpShowTheirDeviation) { expect_programs_show("tcp", 25); }

TEST(Reproducers, OfAllProvidersShowTheirDeviation) {
    if (!all_of_them()) GTEST_SKIP() << "SELVAGE_ALL_REPRODUCERS=1 runs them";
    for (const char* provider : {"udp", "sockets", "net", "tcp;ofi_rxm", "udp;ofi_rxd", "net;ofi_rxm"}) {
        SCOPED_TRACE(provider);
        expect_programs_show(provider, 25);
    }
}

}  // namespace
}  // namespace selvage::conformance
