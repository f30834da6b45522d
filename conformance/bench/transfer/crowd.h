// Many peers of one endpoint: many that send at once, many that are silent, and what one of them takes of memory.
//
// The near process has one endpoint; the crowd are endpoints of the far process, each with a queue of its own. With
// manual progress, a message that is complete may still be on its way (to a peer that is being connected, say): so all
// ports are read until the near side has what was sent.
#pragma once

#include <memory>
#include <vector>

#include "conformance/bench/transfer/operate.h"

namespace selvage::conformance::bench::transfer {

/// Measures a row of ManyToOne, Idle, EndpointMemory or PeerMemory.
std::vector<double> measure_crowd(Port& port, const Item& item, const Effort& effort);

/// The far side.
class Crowd {
public:
    Crowd(Port& main, const Card& near) : main_(main), near_(near) {}
    void serve(const Order& order);

private:
    void open(std::size_t count);
    unsigned reap();                           ///< reads every queue once
    [[nodiscard]] std::uint64_t sent() const;  ///< by all ports together
    void greet();
    void flood(const Order& order);
    Port& main_;
    Card near_;
    std::vector<std::unique_ptr<Port>> ports_;
};

}  // namespace selvage::conformance::bench::transfer
