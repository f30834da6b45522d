// Cables that are slow, long and lossy, made by a process that passes packets on between TUN devices: on machines whose
// kernel has no netem, and with losses that are the same each time.
#pragma once

#include <string>
#include <vector>

namespace selvage::impl::test {

struct Cable {
    unsigned megabits = 0;    // a second; 0: as fast as the machine is
    unsigned round_trip = 0;  // milliseconds, half of it each way
    unsigned drop_every = 0;  // of so many packets one is lost, no longer ones than Ethernet's then; 0: none
};

// A TUN device of that name in the network namespace of the caller; its descriptor. Long packets stay whole, where none
// is to be lost. Throws std::runtime_error if there can be none.
int make_tunnel(const std::string& name, bool whole);

// Passes packets on between the two ends of each cable until the process is killed.
struct CableEnds {
    Cable cable;
    int ends[2];
};
[[noreturn]] void run_cables(const std::vector<CableEnds>& cables);

}  // namespace selvage::impl::test
