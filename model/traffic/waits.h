// What operations with FI_TRIGGER and deferred work have in common: they wait, and begin in order. Only the chapters of
// this folder include it.
#pragma once

#include "model/traffic/shapes.h"

namespace selvage::model::waits {

/// Whether an operation that waits is spoken of.
using Concerns = bool (*)(const TrafficCase& c, int i);

/// What is concerned is neither complete, nor its message received, before its counter has got there; what never begins
/// touches nothing.
Ruling waits_for_threshold(const TrafficCase& c, Concerns concerns);

/// Messages of sends that begin together come in the order of thresholds and then of posting; `concerns` says which
/// pairs of thresholds are spoken of.
Ruling begins_in_order(const TrafficCase& c, bool (*is_one)(const Operation&),
                       bool (*concerns)(std::uint64_t, std::uint64_t));

/// The call that moved a counter did not come back.
bool is_lost_in_counter(const TrafficCase& c);

}  // namespace selvage::model::waits
