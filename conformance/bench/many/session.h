// The suite `many`: what many peers cost, and what the first message to one does.
#pragma once

#include "conformance/bench/many/plan.h"
#include "conformance/bench/session.h"

namespace selvage::conformance::bench::many {

/// Each scenario is measured by processes of its own, one scenario after another.
void many_session(const std::string& library, Rows rows, const Setting& setting, const Tell& tell);

}  // namespace selvage::conformance::bench::many
