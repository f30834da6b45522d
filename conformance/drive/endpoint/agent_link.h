// The way to an agent: a process of its own in which an endpoint is opened.
//
// Belongs to the process that made it, which ends as the agent does: the agent's crash is a crash of whoever drives it,
// so that it is triaged like any other.  (An agent that hangs is waited for; whoever watches this process sees that
// nothing comes back.)  One thread.
#pragma once

#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "conformance/base/library.h"
#include "conformance/drive/endpoint/memory.h"
#include "conformance/drive/endpoint/record.h"

namespace selvage::conformance {

/// How a driver ends that has lost its agent, and does not know how: what a worker with this status carried was not
/// judged.
inline constexpr int kLostAgent = 111;

class AgentLink {
public:
    /// Forks an agent.  Before this process has opened anything of the library, and while it has one thread.
    /// @param not_for_agent a descriptor that the agent closes
    static std::unique_ptr<AgentLink> fork_agent(const Library& library, int not_for_agent);
    /// Has an agent on another machine.  @param peer HOST:PORT of its server
    /// @return nullptr if there is none
    static std::unique_ptr<AgentLink> connect_to(const std::string& peer);
    ~AgentLink();
    AgentLink(const AgentLink&) = delete;
    AgentLink& operator=(const AgentLink&) = delete;

    /// Sends a command, and waits for its reply, which stays until the next one.  Does not return if the agent ends.
    void send(std::string_view command);
    std::string_view request(std::string_view command);
    /// The endpoint's memory, as this process sees it.
    [[nodiscard]] unsigned char* memory() const { return memory_.data(); }
    /// True if the agent sees the same memory.
    [[nodiscard]] bool shares_memory() const { return pid_ > 0; }
    /// The agent, if it runs on this machine.
    [[nodiscard]] pid_t process() const { return pid_; }

private:
    explicit AgentLink(Mapping::Sharing sharing) : memory_(sharing) {}
    [[noreturn]] void end_as_agent(bool has_replied);

    Mapping memory_;
    int socket_ = -1;
    pid_t pid_ = -1;
    std::optional<RecordReader> replies_;  // of the socket
    std::string reply_;
};

}  // namespace selvage::conformance
