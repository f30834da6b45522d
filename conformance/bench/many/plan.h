// What `selvage bench many` measures, and what is hoped for: data, no code that runs a library.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "conformance/bench/workload.h"

namespace selvage::conformance::bench::many {

enum class Kind : std::uint8_t {
    AllToAll,   ///< processes with an endpoint each, which send to all others
    ToOne,      ///< endpoints in a few processes, which send to one
    First,      ///< two new endpoints: the first message and its answer
    Addresses,  ///< an address vector of many addresses
};

/// What is measured by the same processes, from their making to their end.
struct Scenario {
    std::string_view provider;
    Kind kind;
    std::size_t count;  ///< processes, endpoints or addresses
    bool operator==(const Scenario&) const = default;
};

/// What one row reports of a scenario.
enum class Figure : std::uint8_t {
    Message,    ///< time by number of messages, once all are connected
    Memory,     ///< of a peer, or of an address
    Storm,      ///< from the order to send until all first messages have come
    First,      ///< from the post of the first message until the answer to it has come
    Insert,     ///< time of an address, all in one call
    InsertOne,  ///< an address, each by a call
    LookUp,     ///< fi_av_lookup, in no order
};

/// A row taken apart.
struct Item {
    Scenario scenario;
    Figure figure;
};
/// @param row one of many_workloads(), or a copy.
Item item_of(const Workload& row);

/// Processes that have the senders of Kind::ToOne, as many each; one more has the endpoint that they send to.
inline constexpr std::size_t kSenders = 4;
/// The most of each.
inline constexpr std::size_t kProcessesMost = 64;
inline constexpr std::size_t kEndpointsMost = 1000;

std::vector<Workload> many_workloads();
std::vector<Workload> many_floors();

}  // namespace selvage::conformance::bench::many
