// What a C program about an exchange looks at, and when it calls the promise broken.
//
// Values in, text out; any thread.
#pragma once

#include <string>

#include "conformance/reproduce/program.h"

namespace selvage::conformance {

/// The body of LOOK(operation), which the program does when an entry was read; empty if nothing is looked at then.
std::string look_of_traffic(const Program& p);
/// The statements that stand for a rest: no call is made until the bytes have come that the evidence speaks of.
std::string rest_of_traffic(Program& p);
/// The end of the program: exit status 1 if the promise is broken, 0 if it was kept, 77 if it cannot tell.
void emit_traffic_verdict(Program& p);

}  // namespace selvage::conformance
