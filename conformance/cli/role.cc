// See role.h.
#include "conformance/cli/role.h"

#include <charconv>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "conformance/drive/endpoint/agent_server.h"

namespace selvage::conformance {
namespace {

// What launchers call the number of a task; a task of srun alone has SLURM_PROCID, too.
constexpr const char* kRanks[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"};

std::optional<unsigned> own_rank() {
    for (const char* name : kRanks) {
        const char* const value = std::getenv(name);
        if (value == nullptr) continue;
        const std::string_view text = value;
        unsigned rank = 0;
        if (std::from_chars(text.data(), text.data() + text.size(), rank).ec == std::errc{}) return rank;
    }
    return std::nullopt;
}

bool is_address(const char* option, const std::string& value, std::string& error) {
    HostPort at;
    if (parse_host_port(value, at)) return true;
    error = std::string(option) + " " + value + ": should be HOST:PORT, as node2:7471";
    return false;
}

}  // namespace

bool find_role(const std::string& peer, const std::string& agent, Role& out, std::string& error) {
    out = {};
    if (!agent.empty()) {
        out = {Role::Kind::Agent, agent};
        return is_address("--agent", agent, error);
    }
    if (peer.empty()) return true;
    const unsigned rank = own_rank().value_or(0);
    out = {rank == 0 ? Role::Kind::Driver : Role::Kind::Agent, peer};
    if (rank < 2) return is_address("--peer", peer, error);
    error = "--peer: the first task judges and the second is its agent; start two, not more";
    return false;
}

}  // namespace selvage::conformance
