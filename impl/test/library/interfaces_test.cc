// A change of the interfaces is seen by the next query, and their order is what the kernel says of them. Runs in a
// network namespace of its own, as root or as a user that may make one.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/ethtool.h>
#include <linux/if_tun.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "impl/test/library/getinfo.h"

namespace selvage::test {
namespace {

constexpr int kNoNamespace = 77;

std::set<std::string> networks() {
    std::set<std::string> names;
    const Answer answer = getinfo(make_hints("tcp"));
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

int in_child(int (*steps)()) {
    networks();  // the child inherits a table that is no longer true for it
    const pid_t child = fork();
    if (child == 0) _exit(steps());
    int status = -1;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(Interfaces, ChangesAreSeenByTheNextQuestion) {
    const int result = in_child(change_interfaces);
    if (result == kNoNamespace) GTEST_SKIP() << "this system grants no network namespace";
    EXPECT_EQ(result, 0) << "what does not hold stands above";
}

using Names = std::vector<std::string>;

// The interfaces as they are offered for one family, best first; link-local addresses aside.
Names order(uint32_t format) {
    InfoPtr hints = make_hints("tcp", FI_EP_RDM);
    hints->addr_format = format;
    Names names;
    const Answer answer = getinfo(hints);
    for (const fi_info* info = answer.get(); info; info = info->next) {
        if (strncmp(info->fabric_attr->name, "fe80:", 5) != 0) names.push_back(info->domain_attr->name);
    }
    return names;
}

void expect_order(uint32_t format, const Names& expected, const char* when) {
    const Names seen = order(format);
    if (seen == expected) return;
    fprintf(stderr, "%s, %s:", when, format == FI_SOCKADDR_IN ? "IPv4" : "IPv6");
    for (const std::string& name : seen) fprintf(stderr, " %s", name.c_str());
    fprintf(stderr, "; expected");
    for (const std::string& name : expected) fprintf(stderr, " %s", name.c_str());
    fprintf(stderr, "\n");
    _exit(1);
}

bool is_running(const char* name) {
    const int probe = socket(AF_INET, SOCK_DGRAM, 0);
    ifreq request{};
    snprintf(request.ifr_name, sizeof request.ifr_name, "%s", name);
    const bool running = ioctl(probe, SIOCGIFFLAGS, &request) == 0 && (request.ifr_flags & IFF_RUNNING);
    close(probe);
    return running;
}

// The kernel looks at carriers once a second.
void expect_running(const char* name) {
    for (int i = 0; i < 1000 && !is_running(name); ++i) usleep(10000);
    require(is_running(name), name);
}

void give_addresses(const char* name, int network) {
    const std::string number = std::to_string(network), device = std::string(" dev ") + name;
    change(("ip addr add 10.77." + number + ".1/24" + device).c_str());
    change(("ip addr add fd00:77:" + number + "::1/64 nodad" + device).c_str());
}

bool add_pair(const std::string& name) {
    return run(("ip link add " + name + " type veth peer name " + name + "p 2>/dev/null").c_str()) &&
           run(("ip link set " + name + "p up && ip link set " + name + " up").c_str());
}

// A tap that this process has open for its life, so it has a carrier, with a speed of 10 Mbit/s. (Kernels differ in
// what a tap has at first, and where it cannot be set it is that.)
bool open_tap(const char* name) {
    const int tap = open("/dev/net/tun", O_RDWR | O_CLOEXEC);
    ifreq request{};
    snprintf(request.ifr_name, sizeof request.ifr_name, "%s", name);
    request.ifr_flags = IFF_TAP | IFF_NO_PI;
    if (tap < 0 || ioctl(tap, TUNSETIFF, &request)) return false;
    ethtool_cmd settings{};
    settings.cmd = ETHTOOL_SSET;
    ethtool_cmd_speed_set(&settings, SPEED_10);
    settings.duplex = DUPLEX_FULL;
    request.ifr_data = reinterpret_cast<char*>(&settings);
    const int any = socket(AF_INET, SOCK_DGRAM, 0);
    (void)ioctl(any, SIOCETHTOOL, &request);
    close(any);
    return run(("ip link set " + std::string(name) + " up").c_str());
}

constexpr int kNoLinks = 78;

// slow0 is the first; soft0, soft1: veth; down0 is down; bridge0 has a port; idle0 has no carrier; hard0, where the
// kernel has that type, stands on something (and it is the last that is made, so its number says nothing for it).
int make_machine(bool* has_hardware) {
    if (!enter_namespace()) return kNoNamespace;
    require(run("command -v ip >/dev/null"), "the command ip (Debian: iproute2) is missing");
    change("ip link set lo up");
    const bool links = open_tap("slow0") && add_pair("soft0") && add_pair("soft1") && add_pair("down0") &&
                       add_pair("port0") && run("ip link add bridge0 type bridge 2>/dev/null") &&
                       run("ip tuntap add idle0 mode tap 2>/dev/null");
    if (!links) return kNoLinks;
    change("ip link set port0 master bridge0 && ip link set bridge0 up && ip link set idle0 up");
    *has_hardware = run("ip link add hard0 link port0p type macvlan 2>/dev/null") ||
                    run("ip link add hard0 link port0p type vlan id 7 2>/dev/null");
    if (*has_hardware) change("ip link set hard0 up");
    int network = 0;
    for (const char* name : {"soft0", "soft1", "down0", "bridge0", "idle0", "slow0"}) give_addresses(name, ++network);
    if (*has_hardware) give_addresses("hard0", ++network);
    change("ip link set down0 down");
    for (const char* name : {"slow0", "soft0", "soft1", "bridge0"}) expect_running(name);
    if (*has_hardware) expect_running("hard0");
    require(!is_running("idle0"), "a tap that no program has open has no carrier");
    return 0;
}

void expect_both(Names names, bool has_hardware, const char* when) {
    if (!has_hardware) std::erase(names, "hard0");
    for (const uint32_t format : {FI_SOCKADDR_IN, FI_SOCKADDR_IN6}) expect_order(format, names, when);
}

void expect_v4(Names names, bool has_hardware, const char* when) {
    if (!has_hardware) std::erase(names, "hard0");
    expect_order(FI_SOCKADDR_IN, names, when);
}

int order_interfaces() {
    bool hardware = false;
    const int failed = make_machine(&hardware);
    if (failed) return failed;
    const Names plain = {"hard0", "bridge0", "soft0", "soft1", "slow0", "idle0", "lo"};
    const Names bridge_first = {"bridge0", "hard0", "soft0", "soft1", "slow0", "idle0", "lo"};
    const Names soft_first = {"soft1", "hard0", "bridge0", "soft0", "slow0", "idle0", "lo"};
    expect_both(plain, hardware, "without a default route");
    change("ip route add 10.99.0.0/16 via 10.77.2.2");
    expect_both(plain, hardware, "with a route that is none by default");
    change("ip route add default via 10.77.2.2 metric 500");
    expect_both(soft_first, hardware, "with a default route of IPv4, which goes for both");
    change("ip -6 route add default via fd00:77:4::2 metric 500");
    expect_v4(soft_first, hardware, "with a default route of IPv6, too");
    Names v6 = bridge_first;
    if (!hardware) std::erase(v6, "hard0");
    expect_order(FI_SOCKADDR_IN6, v6, "with a default route of its own");
    change("ip route add default via 10.77.4.2 metric 100");
    expect_both(bridge_first, hardware, "with a second one of a lower metric");
    change("ip route del default via 10.77.4.2 && ip -6 route del default");
    expect_both(soft_first, hardware, "after that one is gone");
    change("ip route del default");
    expect_both(plain, hardware, "after the last is gone");
    change("ip route add 0.0.0.0/1 via 10.77.4.2 && ip route add 128.0.0.0/1 via 10.77.4.2");
    expect_both(bridge_first, hardware, "with two halves, as tunnels do it");
    change(
        "ip route del 0.0.0.0/1 && ip route replace default nexthop via 10.77.2.2 nexthop via 10.77.4.2 && "
        "ip route del 128.0.0.0/1");
    expect_both(soft_first, hardware, "with a route of several ways");
    change("ip route replace unreachable default metric 0");
    expect_both(plain, hardware, "with a default route to nowhere");
    change("ip route del unreachable default");
    change("ip route replace default dev idle0");
    expect_both(plain, hardware, "with a default route where no carrier is");
    change("ip link set soft1p down");
    for (int i = 0; i < 1000 && is_running("soft1"); ++i) usleep(10000);
    expect_both({"hard0", "bridge0", "soft0", "slow0", "idle0", "soft1", "lo"}, hardware, "with one carrier less");
    return 0;
}

TEST(Interfaces, TheOrderIsWhatTheKernelSaysOfThem) {
    const int result = in_child(order_interfaces);
    if (result == kNoNamespace) GTEST_SKIP() << "this system grants no network namespace";
    if (result == kNoLinks) GTEST_SKIP() << "this kernel makes no veth, bridge or tap";
    EXPECT_EQ(result, 0) << "what does not hold stands above";
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
