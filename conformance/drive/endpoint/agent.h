// The other end of a remote endpoint: opens it in this process and does what its socket says.
//
// One endpoint at a time; one thread.  Only for child processes.
#pragma once

#include <string>

#include "conformance/base/library.h"
#include "conformance/drive/endpoint/memory.h"

namespace selvage::conformance {

/// Serves commands until the socket is closed, or brings something that no driver sends.
/// @param own_address takes the place of the driver's own in calls of fi_getinfo that name it; empty: the machine is
/// the same
void serve_endpoint(const Library& library, int socket, unsigned char* memory, const std::string& own_address = {});

}  // namespace selvage::conformance
