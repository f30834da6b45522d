// Which side of a run between two machines this process is.
//
// Two tasks of mpirun or srun may be parts of one run, which share its tests out (shard.h), or its two sides.  The
// option --peer decides: with it the first task judges and the second is its agent; without it tasks are parts.
#pragma once

#include <string>

namespace selvage::conformance {

struct Role {
    enum class Kind : unsigned char {
        Alone,   ///< both endpoints of a transfer are opened on this machine
        Driver,  ///< asks and judges; the other endpoint is opened by the agent at `at`
        Agent,   ///< does what a driver says, which reaches it at `at`
    } kind = Kind::Alone;
    std::string at;  ///< HOST:PORT
};

/// @param peer, agent values of the options; empty: not given
/// @return false and one line in `error` if they make no sense, or not for this task
bool find_role(const std::string& peer, const std::string& agent, Role& out, std::string& error);

}  // namespace selvage::conformance
