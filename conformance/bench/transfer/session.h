// The suite `transfer` as sessions: two processes, each with the library of its own, that measure one provider's rows.
#pragma once

#include "conformance/bench/session.h"
#include "conformance/bench/transfer/station.h"

namespace selvage::conformance::bench::transfer {

void transfer_session(const std::string& library, Rows rows, const Setting& setting, const Tell& tell);

/// Opens a port on each side and lets both know one another.  Both sides call it.  @return the other's card.
Card meet(Port& port, bool near);

}  // namespace selvage::conformance::bench::transfer
