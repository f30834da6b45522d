// Operations on a port, and the two roles: the near process measures rows, the far one serves them.
#pragma once

#include <vector>

#include "conformance/bench/transfer/blocks.h"
#include "conformance/bench/transfer/plan.h"
#include "conformance/bench/transfer/station.h"

namespace selvage::conformance::bench::transfer {

/// What the near process asks of the far one next.
struct Order {
    enum class What : std::uint8_t {
        Echo,   ///< answer each message, `turns` times
        Drain,  ///< take `turns` windows of `window` messages, one answer for each
        Serve,  ///< make progress until told to stop
        Crowd,  ///< open `window` more ports
        Greet,  ///< each port of the crowd sends one message
        Flood,  ///< each port of the crowd sends `window` messages a turn; one answer for all
        Rest,   ///< a row is over
        End,
    } what = What::End;
    Operation operation = Operation::Message;
    std::size_t size = 0;
    std::size_t window = 0;
    std::uint64_t turns = 0;
};

/// Posts one tagged message to the peer, or a receive for one.
void put_tagged(Port& port, std::size_t size);
void take_tagged(Port& port, std::size_t size);
inline constexpr std::size_t kAnswer = 4;  ///< bytes that end a window

/// Measures a row of Latency, Bandwidth or Rate.  @return samples in its quantity.
std::vector<double> measure(Port& port, const Item& item, const Effort& effort);
/// One message there and back.
void greet(Port& port, const Item& item);
/// Sends `n` messages, each once the one before is complete, with as little around the calls as can be.
void send_and_complete(Port& port, const Item& item, std::uint64_t n);
/// The far side of one order of Echo, Drain or Serve.
void serve(Port& port, const Order& order);
/// Sends an order and waits until the far process is ready for it.
void give(Port& port, const Order& order);

}  // namespace selvage::conformance::bench::transfer
