// What `selvage bench transfer` measures, and what is hoped for: data, no code that runs a library.
#pragma once

#include <vector>

#include "conformance/bench/transfer/station.h"
#include "conformance/bench/workload.h"

namespace selvage::conformance::bench::transfer {

enum class Operation : std::uint8_t {
    Message,
    Tagged,
    Write,
    TakenWrite,  ///< complete once its buffer may be used again: FI_INJECT_COMPLETE
    Triggered,   ///< a message that waits for a counter: FI_TRIGGER; the counter is moved once a window is posted
    Read,
    FetchAdd,
    CompareSwap,
};
enum class Kind : std::uint8_t {
    Latency,         ///< there and back; one operation until it is complete
    Bandwidth,       ///< windows of operations
    Rate,            ///< the same of small messages, in messages
    ManyToOne,       ///< many senders, one receiver
    Idle,            ///< latency beside connected peers that are silent
    EndpointMemory,  ///< what an endpoint adds to the resident memory
    PeerMemory,      ///< what a peer that has sent adds to it
};

struct Provider {
    const char* name;      ///< of the rows
    const char* provider;  ///< as the interface has it
    fi_ep_type type;
    bool registers = true;  ///< the application registers its buffers, where the library wants that (FI_MR_LOCAL)
};

/// A row taken apart.
struct Item {
    const Workload* row;
    const Provider* provider;
    Operation operation;
    Kind kind;
    std::size_t size;
};
/// @param row one of transfer_workloads(), or a copy.
Item item_of(const Workload& row);

/// Capabilities that a program asks for that does this operation alone.
std::uint64_t caps_of(Operation operation);
/// Two processes take part by calls; otherwise the far one only makes progress.
inline bool two_sided(Operation o) {
    return o == Operation::Message || o == Operation::Tagged || o == Operation::Triggered;
}

/// How many senders, idle peers, and endpoints whose memory is measured.
inline constexpr std::size_t kSenders = 8;
inline constexpr std::size_t kIdle = 64;
inline constexpr std::size_t kEndpoints = 16;

/// Operations under way at once in a stream of this size.
std::size_t window_of(std::size_t size);

std::vector<Workload> transfer_workloads();
std::vector<Workload> transfer_floors();

/// How a size is written: "8 B", "64 KiB".
std::string in_bytes(std::size_t size);

}  // namespace selvage::conformance::bench::transfer
