// What the machine does without a library: a cache line there and back, a ring of them, copies, raw TCP sockets, a raw
// connection of an RDMA device.
#pragma once

#include "conformance/bench/session.h"

namespace selvage::conformance::bench::transfer {

/// A session on no library; two processes as in the others.
void floor_session(const std::string& library, Rows rows, const Setting& setting, const Tell& tell);

}  // namespace selvage::conformance::bench::transfer
