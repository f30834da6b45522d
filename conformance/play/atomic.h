// What the record of an atomic says of its buffers: addresses, and how many elements lie there.
//
// Pure functions; any thread.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "conformance/trace/trace.h"

namespace selvage::conformance {

struct AtomicPiece {
    std::uint64_t address, count;
};

struct AtomicBuffers {
    std::vector<AtomicPiece> operands, compared, results;
    std::uint64_t datatype = 0;
};

/// fi_atomic, fi_fetch_atomicmsg and others; not those that say whether an operation is valid.
bool is_atomic_transfer(std::string_view call);
/// Throws std::runtime_error for what cannot be read. REQUIRES: is_atomic_transfer(call.call).
AtomicBuffers atomic_buffers(const TraceCall& call);

}  // namespace selvage::conformance
