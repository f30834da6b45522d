// Two hosts with cables between them: two network namespaces. A cable without a delay and losses is a pair of veth
// devices, whose bandwidth the kernel keeps (tbf); other ones are made by a process (slow_cable.h), or by the kernel's
// netem.
//
// The calling process moves into the first; a child, which it forks, runs in the second. For programs of one thread,
// with the rights of root, on a machine with ip and tc (iproute2).
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

#include "impl/test/tcp/slow_cable.h"

namespace selvage::impl::test {

class TwoHosts {
public:
    // `second` runs in the second host, with one end of a pipe in both directions; what it returns is the child's
    // status. When this returns, all cables are there; `netem`: slow ones by the kernel. Throws std::runtime_error with
    // the reason if they cannot be.
    TwoHosts(const std::vector<Cable>& cables, bool netem, const std::function<int(int control)>& second);
    // Waits for the child, and ends the cables.
    ~TwoHosts();
    TwoHosts(const TwoHosts&) = delete;
    TwoHosts& operator=(const TwoHosts&) = delete;

    // The end of the pipe that the first host has.
    int control() const { return control_; }
    pid_t second_process() const { return child_; }
    // Closes the pipe and waits: the status of the child, as waitpid gives it.
    int join();
    // Where the hosts are: host 0 or 1 at that cable.
    static std::string address(unsigned cable, unsigned host);
    // From the first host.
    static void set_cable_down(unsigned cable);
    // Its packets vanish in both directions, and neither host is notified.
    static void silence_cable(unsigned cable);

private:
    void make_cables(const std::vector<CableEnds>& cables);
    int control_ = -1;
    pid_t child_ = -1;
    int network_ = -1;   // of the second host, which stays though its process is killed
    pid_t cables_ = -1;  // the process that makes them
};

}  // namespace selvage::impl::test
