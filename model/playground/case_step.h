// A step as a line of a case file (docs/formats.md), also one that the page does not list: with other flags, or one
// that fi_domain2 takes.  Private to model/playground; any thread.
#pragma once

#include <optional>
#include <string>

#include "model/playground/moves.h"

namespace selvage::model::playground {

/// Reads `open`, `bind`, `ep-bind`, `enable` and `close`; what is opened stands on `offer`.
/// @return nothing and one line in `error`, of a step that this state does not allow or a page cannot show.  The move
/// refers to `life` and `offer`.
std::optional<Move> read_step(const std::string& line, const Lifetime& life, const Info& offer, std::string& error);

}  // namespace selvage::model::playground
