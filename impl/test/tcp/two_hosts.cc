// See two_hosts.h.
#include "impl/test/tcp/two_hosts.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <stdexcept>

namespace selvage::impl::test {
namespace {

void require(bool done, const std::string& what) {
    if (!done) throw std::runtime_error(what);
}

void command(const std::string& line) { require(system((line + " >/dev/null 2>&1").c_str()) == 0, line); }

void write_setting(const char* file, const char* value) {
    FILE* const out = fopen(file, "w");
    if (!out) return;
    fputs(value, out);
    fclose(out);
}

void enter_host() {
    require(unshare(CLONE_NEWNET) == 0, "a network namespace (root makes them)");
    command("ip link set lo up");
    // What one connection learns of a cable is not kept for the next.
    write_setting("/proc/sys/net/ipv4/tcp_no_metrics_save", "1\n");
}

std::string device(unsigned cable, unsigned host) { return (host ? "right" : "left") + std::to_string(cable); }

bool is_slow(const Cable& cable) { return cable.round_trip || cable.drop_every; }

// Of one end: what it sends.
void shape(const Cable& cable, const std::string& name) {
    const std::string rate = std::to_string(cable.megabits) + "mbit";
    if (is_slow(cable)) {
        const std::string bandwidth = cable.megabits ? " rate " + rate : "";
        const std::string delay = std::to_string(cable.round_trip * 500) + "us";
        command("tc qdisc add dev " + name + " root netem limit 100000 delay " + delay + bandwidth);
    } else if (cable.megabits) {
        command("tc qdisc add dev " + name + " root tbf burst 256k limit 4m rate " + rate);
    }
    if (!cable.drop_every) return;
    command("ip link set " + name + " gso_max_segs 1");
    command("tc qdisc add dev " + name + " clsact");
    command("tc filter add dev " + name + " egress matchall action pass random determ drop " +
            std::to_string(cable.drop_every));
}

void set_up(const std::vector<Cable>& cables, unsigned host, bool netem) {
    for (unsigned i = 0; i < cables.size(); ++i) {
        const std::string name = device(i, host);
        command("ip addr add " + TwoHosts::address(i, host) + "/24 dev " + name);
        command("ip link set " + name + " up");
        // What Linux has unless it is set otherwise; of the whole host it may not be set in a namespace.
        const std::string network = "10.78." + std::to_string(i) + ".0/24 dev " + name;
        command("ip route replace " + network + " src " + TwoHosts::address(i, host) + " congctl cubic");
        if (netem || !is_slow(cables[i])) shape(cables[i], name);
    }
}

bool is_ready(int control) {
    char byte;
    return read(control, &byte, 1) == 1;
}
void signal_ready(int control) { require(write(control, "", 1) == 1, "the other host"); }

int run_second(const std::vector<Cable>& cables, bool netem, int control, const std::function<int(int)>& second) {
    try {
        enter_host();
        signal_ready(control);
        require(is_ready(control), "the first host");
        set_up(cables, 1, netem);
        signal_ready(control);
        return second(control);
    } catch (const std::exception& failed) {
        fprintf(stderr, "the second host: %s\n", failed.what());
        return 1;
    }
}

}  // namespace

std::string TwoHosts::address(unsigned cable, unsigned host) {
    return "10.78." + std::to_string(cable) + "." + std::to_string(host + 1);
}

void TwoHosts::set_cable_down(unsigned cable) { command("ip link set " + device(cable, 0) + " down"); }

// Who sends to it sends to its old address, and without ARP it sends to its own: each end drops what is not its own.
void TwoHosts::silence_cable(unsigned cable) {
    const std::string change = "ip link set dev " + device(cable, 0);
    command(change + " address 02:00:00:00:00:77");
    command(change + " arp off");
}

TwoHosts::TwoHosts(const std::vector<Cable>& cables, bool netem, const std::function<int(int)>& second) {
    enter_host();
    int ends[2];
    require(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0, "a pair of sockets");
    child_ = fork();
    require(child_ >= 0, "a process");
    if (child_ == 0) {
        close(ends[0]);
        _exit(run_second(cables, netem, ends[1], second));
    }
    close(ends[1]);
    control_ = ends[0];
    require(is_ready(control_), "the second host's namespace");
    network_ = open(("/proc/" + std::to_string(child_) + "/ns/net").c_str(), O_RDONLY | O_CLOEXEC);
    const std::string second_host = " netns " + std::to_string(child_);
    std::vector<CableEnds> made;
    for (unsigned i = 0; i < cables.size(); ++i) {
        if (netem || !is_slow(cables[i])) {
            command("ip link add name " + device(i, 0) + " type veth peer name " + device(i, 1) + second_host);
            continue;
        }
        CableEnds ends_of{.cable = cables[i], .ends = {}};
        for (unsigned host = 0; host < 2; ++host)
            ends_of.ends[host] = make_tunnel(device(i, host), !cables[i].drop_every);
        command("ip link set " + device(i, 1) + second_host);
        made.push_back(ends_of);
    }
    if (!made.empty()) make_cables(made);
    set_up(cables, 0, netem);
    signal_ready(control_);
    require(is_ready(control_), "the second host's cables");
}

void TwoHosts::make_cables(const std::vector<CableEnds>& cables) {
    cables_ = fork();
    require(cables_ >= 0, "a process");
    if (cables_ == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        close(control_);
        run_cables(cables);
    }
    for (const CableEnds& each : cables) {
        for (const int end : each.ends) close(end);
    }
}

int TwoHosts::join() {
    close(control_);
    control_ = -1;
    int status = -1;
    if (child_ > 0) waitpid(child_, &status, 0);
    child_ = -1;
    if (cables_ > 0) {
        kill(cables_, SIGKILL);
        waitpid(cables_, nullptr, 0);
    }
    cables_ = -1;
    return status;
}

TwoHosts::~TwoHosts() {
    if (child_ > 0) join();
    if (network_ >= 0) close(network_);
}

}  // namespace selvage::impl::test
