// An endpoint that an agent has opened: every call is a command to it.  See endpoint.h.
//
// What differs from two endpoints of one process:
// 1. Calls come back once the agent's have, so that what is done to the two sides is done in one order, as before: a
//    barrier is in step, queues are read by turns, what was posted and read is counted in one place, and all times are
//    the driver's clock.  While one side makes a call, the other makes none.
// 2. A rest sends no command that makes a call: on one machine none at all, as both processes see the memory; between
//    machines Pull, which the agent does without the library.
// 3. What lies in memory when an entry is read is looked at a command later, and between machines a round trip later:
//    an entry that is ahead of its bytes by less is not seen there.
// 4. Each side asks fi_getinfo, opens its own fabric and domain, and numbers its keys by itself.
// 5. An address in one process is none in the other.  On one machine the memories lie at addresses of their own;
//    between machines they may be the same, and whose operation a context belongs to decides.
// 6. Arguments of calls that are arrays are the agent's (LocalEndpoint), where the library may keep them.
#pragma once

#include <map>

#include "conformance/case/case.h"
#include "conformance/drive/endpoint/agent_link.h"
#include "conformance/drive/endpoint/commands.h"

namespace selvage::conformance {

class RemoteEndpoint : public Endpoint {
public:
    /// @param link has no other endpoint, and outlives it
    /// @param c whose call the agent asks, and whose sequence says how queues, counters and defaults are set up
    RemoteEndpoint(AgentLink& link, const Case& c);
    ~RemoteEndpoint() override;

    Outcome open(bool listens) override;
    Outcome connect(const std::string& peer) override;
    Outcome poll_connection() override;
    Outcome cover(std::size_t used) override;
    RemoteRegion region(std::uint64_t access) override;
    std::int64_t post(const PostedCall& call) override;
    std::uint64_t valid_count(const model::Operation& o) override;
    void read(unsigned looks, Arrivals& out) override;
    CounterValues counters() override;
    void close() override;
    void push(MemoryRange range) override;
    void pull(MemoryRange range) override;

private:
    AgentLink& link_;
    std::string case_;
    std::map<std::uint64_t, RemoteRegion> regions_;
};

}  // namespace selvage::conformance
