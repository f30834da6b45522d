// Puts mutations between an application and the transfers of its endpoints.
//
// Endpoints, completion queues and counters get tables of our own, whose functions bring every call into one form
// (Post), hand it to the mutation, and go on to the base.  What an object's own tables were is kept by its address, for
// as long as the process lives.  Mutations of transfers are for one thread.
#pragma once

#include <rdma/fabric.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>

#include <functional>

#include "conformance/mutants/mutant.h"

namespace selvage::mutants {

enum class Kind { Send, TaggedSend, Recv, TaggedRecv, Write, Read, Atomic, Fetch, Compare };

/// One call that posts an operation, whichever it was.
struct Post {
    Kind kind = Kind::Send;
    bool message = false;  ///< a …msg call: `flags` are its own
    bool inject = false;
    bool with_data = false;
    fid_ep* ep = nullptr;
    std::vector<iovec> iov;  ///< the local memory (of atomics: whole values)
    void* desc = nullptr;
    fi_addr_t addr = FI_ADDR_UNSPEC;
    std::uint64_t tag = 0, ignore = 0, data = 0, flags = 0;
    std::vector<fi_rma_iov> target;  ///< lengths in bytes, or in values for atomics
    fi_datatype datatype = FI_UINT8;
    fi_op op = FI_MIN;
    std::vector<iovec> result, compare;
    void* result_desc = nullptr;
    void* compare_desc = nullptr;
    void* context = nullptr;

    [[nodiscard]] std::size_t length() const;
};

/// Makes the call as it now stands.
ssize_t go(Post& post);

/// What was read from a queue: `entries` in the widest format, errors apart.
struct Reading {
    fid_cq* cq = nullptr;
    std::vector<fi_cq_tagged_entry> entries;
    std::vector<fi_addr_t> from;
    ssize_t ret = 0;  ///< of the base
};

/// What a queue or a counter was bound to an endpoint for: FI_TRANSMIT, FI_REMOTE_WRITE and so on.
std::uint64_t bound_for(fid_cq* cq);
std::uint64_t bound_for(fid_cntr* cntr);

/// The base's fi_cq_readerr on a wrapped queue.
ssize_t base_readerr(fid_cq* cq, fi_cq_err_entry* entry);

/// What a mutation of transfers may change.  Unset functions leave the base alone.
struct TrafficHooks {
    std::function<ssize_t(Post&)> post;
    std::function<void(Reading&)> read;  ///< behind each fi_cq_read(from) that brought something or nothing
    std::function<ssize_t(fid_cq*, fi_cq_err_entry*, ssize_t)> error;  ///< behind fi_cq_readerr
    std::function<ssize_t(fid_ep*, void*, ssize_t (*)(fid_ep*, void*))> cancel;
    std::function<std::uint64_t(fid_cntr*, std::uint64_t)> count;   ///< behind fi_cntr_read
    std::function<std::uint64_t(fid_cntr*, std::uint64_t)> errors;  ///< behind fi_cntr_readerr
    std::function<int(fid_cntr*, std::uint64_t)> add_error;         ///< instead of fi_cntr_adderr
    std::function<void()> closed;                                   ///< ahead of fi_close of an endpoint
    std::function<int(int ret, std::size_t* count)> valid;          ///< behind fi_atomicvalid and its kin
};

/// A hook for LifeHooks::child that wraps what carries traffic.
std::function<int(int, std::size_t, fid*, fid*)> carries(TrafficHooks hooks);

}  // namespace selvage::mutants
