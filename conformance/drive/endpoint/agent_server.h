// Between machines: the agent of `selvage check --agent`, and how a driver reaches it.
//
// Each worker of the driver has a connection of its own, and behind it a process that loads the library.  What comes
// over a connection may be anything (commands.h); who can reach the port can have the library's calls made, with
// arguments that are checked, and nothing else.  Single-threaded.
#pragma once

#include <chrono>
#include <string>

namespace selvage::conformance {

/// An address as options give it.
struct HostPort {
    std::string host, port;
};
/// Reads "HOST:PORT" or "[HOST]:PORT".  @return false: it is neither.
bool parse_host_port(const std::string& text, HostPort& out);

/// What a connection is for.
enum class AgentSession : char {
    WholeRun = 'r',  ///< the driver's run: once it is over, the agent ends
    Endpoint = 'e',  ///< commands to an endpoint
};

/// Serves one run of a driver: returns once its session of the run is over.
/// @return a one-line error, or nothing
std::string serve_agent(const std::string& library, const HostPort& listen_at);

/// @param patience how long it is tried: the agent may start later
/// @return a socket, or -1 and a one-line error
int connect_to_agent(const std::string& peer, AgentSession session, std::chrono::milliseconds patience,
                     std::string& error);

/// This machine's address towards another, as a number; empty if there is no way.
std::string address_towards(const std::string& peer);
/// This machine's address of a connected socket.
std::string own_address(int socket);

}  // namespace selvage::conformance
