// The calls of an alias whose default flags have FI_TRIGGER.
//
// fi_trigger(3) asks for the flag as part of the operation, and an alias is what gives calls without flags theirs
// (fi_endpoint(3), fi_ep_alias): so fi_write() on it waits for the counter that its context names. Called by
// share_path() and by FI_SETOPSFLAG on an alias, with the lock of the base.
#pragma once

#include "impl/endpoint/ep.h"

namespace selvage::impl {

// Gives an alias of an enabled endpoint the tables that its flags ask for: those of its base, or those whose calls
// without flags are handed to the base's as calls with them. What injects has no context that could name a counter, so
// it is refused.
void choose_tables(Endpoint* alias);

}  // namespace selvage::impl
