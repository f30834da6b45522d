// Makes the call of one operation.
//
// The arrays that a call is given stay where they are until the exchange is over, for providers that keep them
// (FI_ASYNC_IOV).  Only for child processes.  One thread.
#pragma once

#include <rdma/fi_atomic.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>

#include <vector>

#include "conformance/drive/transfer/buffers.h"

namespace selvage::conformance {

/// The arguments of one call that are arrays.
struct Arguments {
    std::vector<iovec> local;
    std::vector<void*> descriptors;
    std::vector<fi_ioc> values, results, compares;
    std::vector<fi_rma_iov> target;
    std::vector<fi_rma_ioc> target_values;
};

/// Posts it.  @param context given to the call.  @return what the call returns.
std::int64_t post(Pair& pair, const model::Operation& o, Buffers& buffers, Arguments& arguments, void* context);

}  // namespace selvage::conformance
