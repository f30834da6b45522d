// A change of the interfaces is seen by the next question. Runs in a network namespace of its own, as root or as a user
// that may make one.
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <set>
#include <string>

#include "impl/test/library/ask.h"

namespace selvage::test {
namespace {

constexpr int kNoNamespace = 77;

std::set<std::string> networks() {
    std::set<std::string> names;
    const Answer answer = ask(make_hints("tcp"));
    for (const fi_info* info = answer.get(); info; info = info->next) {
        names.insert(std::string(info->domain_attr->name) + " " + info->fabric_attr->name);
    }
    return names;
}

// Ends the child, which has no other way to tell.
void require(bool holds, const char* what) {
    if (holds) return;
    fprintf(stderr, "%s\n", what);
    _exit(1);
}

bool run(const char* command) { return system(command) == 0; }

void change(const char* command) { require(run(command), command); }

void expect_offered(const char* network, const char* after) { require(networks().contains(network), after); }

void expect_gone(const char* network, const char* after) { require(!networks().contains(network), after); }

void change_loopback() {
    require(networks().empty(), "loopback starts down");
    change("ip link set lo up");
    expect_offered("lo 127.0.0.0/8", "loopback came up");
    change("ip addr add 10.9.8.7/24 dev lo");
    expect_offered("lo 10.9.8.0/24", "loopback got an address");
    expect_offered("lo 10.9.8.0/24", "and keeps it without a further change");
    change("ip addr del 10.9.8.7/24 dev lo");
    expect_gone("lo 10.9.8.0/24", "loopback lost an address");
    change("ip link set lo down");
    require(networks().empty(), "loopback went down");
}

// Kernels differ in the kinds of links that they can make.
bool add_link() {
    return run("ip link add fabric0 type dummy 2>/dev/null") ||
           run("ip link add fabric0 type veth peer name fabric1 2>/dev/null") ||
           run("ip tuntap add fabric0 mode tap 2>/dev/null");
}

void change_link() {
    constexpr const char* kNetwork = "fabric0 10.9.8.0/24";
    change("ip link set fabric0 up");
    expect_gone(kNetwork, "a link without an address has no network");
    change("ip addr add 10.9.8.7/24 dev fabric0");
    expect_offered(kNetwork, "a link got an address");
    change("ip link set fabric0 down");
    expect_gone(kNetwork, "a link went down, its address stays");
    change("ip link set fabric0 up");
    expect_offered(kNetwork, "a link came up again");
    change("ip addr add 10.9.7.7/24 dev fabric0");
    expect_offered("fabric0 10.9.7.0/24", "a link got another address");
    change("ip addr del 10.9.8.7/24 dev fabric0");
    expect_gone(kNetwork, "a link lost one of two addresses");
    expect_offered("fabric0 10.9.7.0/24", "and keeps the other");
    change("ip link del fabric0");
    expect_gone("fabric0 10.9.7.0/24", "a link was removed");
}

// As root directly, as another user by becoming root of a new user namespace.
bool enter_namespace() {
    const std::string map = "0 " + std::to_string(getuid()) + " 1";
    if (!unshare(CLONE_NEWNET)) return true;
    if (unshare(CLONE_NEWUSER | CLONE_NEWNET)) return false;
    std::ofstream file("/proc/self/uid_map");
    file << map << std::flush;
    return file.good();
}

// In a child. Only a system that grants no namespace is an excuse.
int change_interfaces() {
    if (!enter_namespace()) return kNoNamespace;
    require(run("command -v ip >/dev/null"), "the command ip (Debian: iproute2) is missing");
    change_loopback();
    if (add_link()) {
        change_link();
    } else {
        fprintf(stderr, "this kernel makes no links: only loopback was changed\n");
    }
    return 0;
}

TEST(Interfaces, ChangesAreSeenByTheNextQuestion) {
    networks();  // the child inherits a table that is no longer true for it
    const pid_t child = fork();
    if (child == 0) _exit(change_interfaces());
    int status = -1;
    waitpid(child, &status, 0);
    ASSERT_TRUE(WIFEXITED(status));
    if (WEXITSTATUS(status) == kNoNamespace) GTEST_SKIP() << "this system grants no network namespace";
    EXPECT_EQ(WEXITSTATUS(status), 0) << "what does not hold stands above";
}

// A number of a descriptor that the application closed and reuses is not the library's to read from.
TEST(Interfaces, AClosedDescriptorIsNoticed) {
    const pid_t child = fork();
    if (child == 0) {
        const size_t before = networks().size();
        for (int file = 3; file < 64; ++file) close(file);
        int pipes[2];
        if (pipe(pipes) || write(pipes[1], "x", 1) != 1) _exit(1);
        for (int file = 3; file < 16; ++file) dup2(pipes[0], file);
        const bool same = networks().size() == before && networks().size() == before;
        char byte = 0;
        _exit(same && read(pipes[0], &byte, 1) == 1 && byte == 'x' ? 0 : 2);
    }
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace selvage::test
