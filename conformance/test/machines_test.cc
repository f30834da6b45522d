// Runs between two machines, here two on one: who is which side, the agent's server, and a whole check.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <future>

#include "conformance/cli/role.h"
#include "conformance/drive/endpoint/agent_server.h"
#include "conformance/test/tool_util.h"

namespace selvage::conformance {
namespace {

constexpr const char* kRanks[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"};

Role role_of(const std::string& peer, const std::string& agent, const char* variable = nullptr, const char* rank = "") {
    for (const char* name : kRanks) unsetenv(name);
    if (variable != nullptr) setenv(variable, rank, 1);
    Role out;
    std::string error;
    EXPECT_TRUE(find_role(peer, agent, out, error)) << error;
    if (variable != nullptr) unsetenv(variable);
    return out;
}

TEST(Machines, TheFirstOfTwoTasksJudgesAndTheSecondIsItsAgent) {
    for (const char* variable : kRanks) {
        EXPECT_EQ(role_of("node2:7471", "", variable, "0").kind, Role::Kind::Driver) << variable;
        EXPECT_EQ(role_of("node2:7471", "", variable, "1").kind, Role::Kind::Agent) << variable;
        EXPECT_EQ(role_of("", "", variable, "1").kind, Role::Kind::Alone) << "a part of a run, as ever: " << variable;
    }
    EXPECT_EQ(role_of("node2:7471", "").kind, Role::Kind::Driver);
    EXPECT_EQ(role_of("", "node2:7471").at, "node2:7471");
}

TEST(Machines, AThirdTaskIsRefused) {
    setenv("PMI_RANK", "2", 1);
    Role out;
    std::string error;
    EXPECT_FALSE(find_role("node2:7471", "", out, error));
    unsetenv("PMI_RANK");
    EXPECT_NE(error.find("start two"), std::string::npos);
    EXPECT_FALSE(find_role("node2", "", out, error));
    EXPECT_NE(error.find("HOST:PORT"), std::string::npos);
}

TEST(Machines, AnAddressMayHoldColonsAndHasAPort) {
    HostPort at;
    ASSERT_TRUE(parse_host_port("[::1]:7471", at));
    EXPECT_EQ(at.host, "::1");
    EXPECT_EQ(at.port, "7471");
    EXPECT_FALSE(parse_host_port("node2:", at));
    EXPECT_FALSE(parse_host_port("node2:65536", at));
    EXPECT_FALSE(parse_host_port("node2:99999999999999999999", at));
}

#ifdef SELVAGE_OWN_LIBRARY

// A port that nobody listened on a moment ago.
std::string free_port() {
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in at = {};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof at;
    EXPECT_EQ(bind(fd, reinterpret_cast<sockaddr*>(&at), size), 0);
    EXPECT_EQ(getsockname(fd, reinterpret_cast<sockaddr*>(&at), &size), 0);
    close(fd);
    return std::to_string(ntohs(at.sin_port));
}

TEST(Machines, TwoTasksWithOneCommandLineAreTheSidesOfOneCheck) {
    const Folder folder;
    const std::string report = folder.path("report.json");
    const std::vector<std::string> command = {
        "check",         "--library", SELVAGE_OWN_LIBRARY, "--provider", "tcp",  "--cases", "120",
        "--no-compiler", "--strict",  "--quiet",           "--report",   report, "--peer",  "127.0.0.1:" + free_port()};
    auto agent = std::async(std::launch::async, [&] { return run_tool(command, {"OMPI_COMM_WORLD_RANK=1"}); });
    const Ran driver = run_tool(command, {"OMPI_COMM_WORLD_RANK=0", "GTEST_FILTER=traffic.*"});
    EXPECT_EQ(driver.status, 0) << driver.out << driver.err;
    const Ran served = agent.get();
    EXPECT_EQ(served.status, 0) << "it ends with the run: " << served.err;
    const Report r = read_report(report);
    EXPECT_EQ(r.transfers, "on two machines");
    ASSERT_EQ(r.providers.size(), 1U);
    EXPECT_EQ(r.providers[0].judged, 120U);
    EXPECT_TRUE(r.deviations.empty());
    for (const auto& n : r.providers[0].notes) EXPECT_EQ(n.find("lost"), std::string::npos) << n;
}

TEST(Machines, AProviderThatStaysOnItsMachineIsNotAskedToLeaveIt) {
    const Folder folder;
    const std::string report = folder.path("report.json");
    const std::vector<std::string> command = {
        "check", "--library", SELVAGE_OWN_LIBRARY, "--provider", "shm",    "--cases",
        "50",    "--quiet",   "--report",          report,       "--peer", "127.0.0.1:" + free_port()};
    auto agent = std::async(std::launch::async, [&] { return run_tool(command, {"SLURM_PROCID=1"}); });
    const Ran driver = run_tool(command, {"SLURM_PROCID=0", "GTEST_FILTER=traffic.*"});
    EXPECT_EQ(driver.status, 0) << driver.out << driver.err;
    EXPECT_EQ(agent.get().status, 0);
    const Report r = read_report(report);
    ASSERT_EQ(r.providers.size(), 1U);
    EXPECT_EQ(r.providers[0].judged, 0U);
    std::string notes;
    for (const auto& n : r.providers[0].notes) notes += n;
    EXPECT_NE(notes.find("no endpoint reaches the other machine"), std::string::npos) << notes;
}

TEST(Machines, NobodyAnswersWhereNoAgentIs) {
    std::string error;
    EXPECT_EQ(connect_to_agent("127.0.0.1:" + free_port(), AgentSession::WholeRun, std::chrono::milliseconds(1), error),
              -1);
    EXPECT_NE(error, "");
}

TEST(Machines, ANameThatNobodyHasIsNotWaitedFor) {
    std::string error;
    const auto began = std::chrono::steady_clock::now();
    EXPECT_EQ(connect_to_agent("no such host:7471", AgentSession::WholeRun, std::chrono::hours(1), error), -1);
    EXPECT_TRUE(error.starts_with("no such host:7471: ")) << error;
    EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::minutes(1));
}

#ifdef SELVAGE_MUTANT_FOLDER
// What ends on the other machine is reported here, with its signal, and charged to the call that did it.
TEST(Machines, ACrashOfTheOtherMachinesSideIsAFinding) {
    const Folder folder;
    const std::string report = folder.path("report.json");
    const std::vector<std::string> command = {"check",
                                              "--library",
                                              std::string(SELVAGE_MUTANT_FOLDER) + "/libmutant-apart-crash.so",
                                              "--provider",
                                              "tcp",
                                              "--cases",
                                              "600",
                                              "--first",
                                              "--no-compiler",
                                              "--quiet",
                                              "--report",
                                              report,
                                              "--peer",
                                              "127.0.0.1:" + free_port()};
    auto agent = std::async(std::launch::async, [&] { return run_tool(command, {"PMI_RANK=1"}); });
    const Ran driver = run_tool(command, {"PMI_RANK=0", "GTEST_FILTER=traffic.*"});
    EXPECT_EQ(driver.status, 1) << driver.out << driver.err;
    EXPECT_EQ(agent.get().status, 0);
    const Report r = read_report(report);
    ASSERT_EQ(r.deviations.size(), 1U);
    EXPECT_EQ(r.deviations[0].grade, Grade::Fatal);
    EXPECT_EQ(r.deviations[0].shown_by.sequence.processes, 2U);
}
#endif

#endif  // SELVAGE_OWN_LIBRARY

}  // namespace
}  // namespace selvage::conformance
