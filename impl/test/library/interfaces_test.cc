// A change of the interfaces is seen by the next question. Runs in a network namespace of its own, as root or as a user
// that may make one.
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <set>
#include <string>

#include "impl/test/library/ask.h"

namespace selvage::test {
namespace {

constexpr int kSkipped = 77;

std::set<std::string> networks() {
    std::set<std::string> names;
    const Answer answer = ask(make_hints("tcp"));
    for (const fi_info* info = answer.get(); info; info = info->next) {
        names.insert(std::string(info->domain_attr->name) + " " + info->fabric_attr->name);
    }
    return names;
}

bool run(const char* command) { return system(command) == 0; }

// The steps that the child takes; returns the number of the first that goes wrong, 0 when none does.
int change_interfaces() {
    if (unshare(CLONE_NEWNET) && unshare(CLONE_NEWUSER | CLONE_NEWNET)) return kSkipped;
    if (!run("command -v ip >/dev/null")) return kSkipped;
    if (!networks().empty()) return 1;  // loopback starts down
    if (!run("ip link set lo up")) return kSkipped;
    if (!networks().contains("lo 127.0.0.0/8")) return 2;
    if (!run("ip addr add 10.9.8.7/24 dev lo")) return kSkipped;
    if (!networks().contains("lo 10.9.8.0/24")) return 3;
    if (!networks().contains("lo 10.9.8.0/24")) return 4;  // and stays without a further change
    if (!run("ip addr del 10.9.8.7/24 dev lo")) return kSkipped;
    if (networks().contains("lo 10.9.8.0/24")) return 5;
    if (!run("ip link set lo down")) return kSkipped;
    return networks().empty() ? 0 : 6;
}

TEST(Interfaces, ChangesAreSeenByTheNextQuestion) {
    networks();  // the child inherits a table that is no longer true for it
    const pid_t child = fork();
    if (child == 0) _exit(change_interfaces());
    int status = -1;
    waitpid(child, &status, 0);
    ASSERT_TRUE(WIFEXITED(status));
    if (WEXITSTATUS(status) == kSkipped) GTEST_SKIP() << "no network namespace or no ip command here";
    EXPECT_EQ(WEXITSTATUS(status), 0);
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
