// Makes the call of one operation.
//
// The arrays that a call is given stay where they are until the exchange is over, for providers that keep them
// (FI_ASYNC_IOV).  Only for child processes.  One thread.
#pragma once

#include <rdma/fi_atomic.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>

#include <vector>

#include "conformance/drive/endpoint/endpoint.h"

namespace selvage::conformance {

/// The arguments of one call that are arrays.
struct Arguments {
    std::vector<iovec> local;
    std::vector<void*> descriptors;
    std::vector<fi_ioc> values, results, compares;
    std::vector<fi_rma_iov> target;
    std::vector<fi_rma_ioc> target_values;
};

/// Whose call it is.
struct Poster {
    fid_ep* ep = nullptr;
    void* descriptor = nullptr;  ///< of the buffers
    fi_addr_t peer = FI_ADDR_UNSPEC;
    fi_addr_t self = FI_ADDR_UNSPEC;
    unsigned char* memory = nullptr;
};

/// Posts it.  @return what the call returns.
std::int64_t post(const Poster& poster, const PostedCall& call, Arguments& arguments);

}  // namespace selvage::conformance
