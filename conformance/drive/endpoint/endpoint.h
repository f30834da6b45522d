// One endpoint of a pair, with its queues, counters and memory: everything that is ever done to a side.
//
// LocalEndpoint makes the calls in this process.  Whoever drives a pair knows this interface alone, so that the other
// side may be opened elsewhere.  Values that cross it hold no pointers: memory is named by offsets (memory.h), and what
// the library hands out by the addresses that it has in the endpoint's process.
//
// Only for child processes: the library may do anything.  One thread.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "conformance/drive/endpoint/memory.h"
#include "conformance/runtime/side.h"
#include "model/traffic/traffic.h"

namespace selvage::conformance {

/// What became of several calls: the first that failed, if any.
struct Outcome {
    std::int64_t ret = 0;
    std::string failed;  ///< its name; empty: all went well
    [[nodiscard]] bool ok() const { return failed.empty(); }
};

/// Bytes of an address, which may be shorter.
inline constexpr std::size_t kAddressLength = NAME;

/// A region as the peer names it, and an entry of a completion queue: addresses are those in the endpoint's process.
using RemoteRegion = ::region;
using QueueEntry = ::entry;

/// What came of the two queues.
struct Arrivals {
    std::vector<QueueEntry> received, transmitted;
    std::string trouble;  ///< empty, or what is wrong with a queue itself
    [[nodiscard]] bool any() const { return !received.empty() || !transmitted.empty() || !trouble.empty(); }
};

/// How often an endpoint is asked to read its queues by one call.
inline constexpr unsigned kMostLooks = 64;

/// One call of an operation.
struct PostedCall {
    model::Operation operation;
    std::uint64_t context = 0;                          ///< offset of the context that it is given
    RemoteRegion target{};                              ///< RMA, atomics: the peer's region
    std::uint64_t buffer = 0, result = 0, compare = 0;  ///< offsets; 0: its call has none
    std::uint64_t pieces = 1;                           ///< of each buffer
    std::uint64_t stride = 0;                           ///< from one piece to the next
};

/// Successes of send, recv, read, write, remote read, remote write, deferred work; then the errors of each.  Zeros: no
/// such counter.
using CounterValues = std::array<std::uint64_t, std::size_t{2} * COUNTERS>;

class Endpoint {
public:
    Endpoint() = default;
    /// Closes all that is left.
    virtual ~Endpoint() = default;
    Endpoint(const Endpoint&) = delete;
    Endpoint& operator=(const Endpoint&) = delete;

    /// Opens and enables it; a connected one that `listens` gets as far as fi_listen.  Then address() is known.
    virtual Outcome open(bool listens) = 0;
    /// Makes the peer known (fi_av_insert), or begins to connect to it.
    virtual Outcome connect(const std::string& peer) = 0;
    /// Connected ones: reads the event queues once.  @return -FI_EAGAIN, and what is waited for, until it is connected.
    virtual Outcome poll_connection() = 0;
    /// Makes the descriptor one of the arena's first `used` bytes at least.  While nothing is under way.
    virtual Outcome cover(std::size_t used) = 0;
    /// The region for these remote accesses, registered on first use.
    virtual RemoteRegion region(std::uint64_t access) = 0;
    /// @return what the call returns.
    virtual std::int64_t post(const PostedCall& call) = 0;
    /// How many values the library says that an atomic operation may have; 0: it is not supported.
    virtual std::uint64_t valid_count(const model::Operation& o) = 0;
    /// Reads both queues, that of FI_RECV first; again until something has come, `looks` times at the most.
    /// @param looks up to kMostLooks
    virtual void read(unsigned looks, Arrivals& out) = 0;
    virtual CounterValues counters() = 0;
    /// Closes the endpoint and its regions, so that the peer's can be closed ahead of the queues.
    virtual void close() = 0;

    /// Brings what was written to memory() to the endpoint, and what lies there to memory().  Does nothing where they
    /// are the same memory.
    virtual void push(MemoryRange) {}
    virtual void pull(MemoryRange) {}
    /// Its memory, as this process sees it.
    [[nodiscard]] unsigned char* memory() const { return memory_; }
    /// Where it begins in the endpoint's process.
    [[nodiscard]] std::uint64_t memory_address() const { return memory_address_; }
    [[nodiscard]] const std::string& address() const { return address_; }

protected:
    unsigned char* memory_ = nullptr;
    std::uint64_t memory_address_ = 0;
    std::string address_;
};

}  // namespace selvage::conformance
