// The parts that processes play, by scenario.  See processes.h.
#pragma once

#include <memory>

#include "conformance/bench/many/processes.h"

namespace selvage::conformance::bench::many {

/// Each sends to all others: in a turn one message to each.
std::unique_ptr<Worker> make_all_to_all(const Entries& entries, const Scenario& scenario, Board& board,
                                        std::size_t number);
/// The first receives; in a turn each endpoint of the others sends it a window.
std::unique_ptr<Worker> make_to_one(const Entries& entries, const Scenario& scenario, Board& board, std::size_t number);
/// The first sends and is answered; `turns` of an order is its number.
std::unique_ptr<Worker> make_first(const Entries& entries, const Scenario& scenario, Board& board, std::size_t number);
/// One alone, which fills address vectors.
std::unique_ptr<Worker> make_addresses(const Entries& entries, const Scenario& scenario, Board& board,
                                       std::size_t number);

}  // namespace selvage::conformance::bench::many
