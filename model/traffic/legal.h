// Whether a call must be accepted, as far as the pages say.
//
// Invariants: pure functions of the operation and of what the endpoints were opened with.
#pragma once

#include "model/traffic/words.h"

namespace selvage::model {

/// What a call may be answered with.
enum class Admission : std::uint8_t {
    Accept,  ///< within all that was promised: 0, or -FI_EAGAIN for the time being
    Open,    ///< the provider may refuse it
    Refuse,  ///< against a limit or a missing capability: it cannot be served
};

Admission admission(const Traffic& t, const Operation& o);
/// The capabilities that it takes are there.
bool is_able(const Traffic& t, const Operation& o);

}  // namespace selvage::model
