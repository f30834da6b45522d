// Puts mutations between an application and what its endpoints do together: collective operations, sets of addresses,
// joins and their events, receive contexts.
//
// Objects get tables of our own whose functions hand each call to the mutation.  All objects of one class have the
// base's same table, which is kept for the process; so is the one mutation that is switched on.  One thread.
#pragma once

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_collective.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>

#include <functional>
#include <vector>

#include "conformance/mutants/mutant.h"

namespace selvage::mutants {

/// One call of a collective operation, whichever it was.
struct CollectiveCall {
    fi_collective_op what = FI_BARRIER;
    fid_ep* ep = nullptr;
    const void* from = nullptr;  ///< of a broadcast: the buffer
    void* to = nullptr;
    std::size_t count = 0;
    void *desc = nullptr, *result_desc = nullptr;
    fi_addr_t group = FI_ADDR_NOTAVAIL, root = FI_ADDR_NOTAVAIL;
    fi_datatype datatype = FI_UINT8;
    fi_op op = FI_SUM;
    std::uint64_t flags = 0;
    void* context = nullptr;
};

/// Makes the call as it now stands.
ssize_t go(const CollectiveCall& call);

/// What was read from an event queue.
struct EventReading {
    fid_eq* eq;
    std::uint32_t* event;
    fi_eq_entry* entry;
    ssize_t ret;  ///< of the base
};

/// What a mutation may change.  Unset functions leave the base alone.
struct GroupHooks {
    std::function<ssize_t(CollectiveCall&)> collective;
    std::function<void(fi_av_set_attr&)> set;         ///< ahead of fi_av_set
    std::function<void(fid_av_set*)> made;            ///< behind it
    std::function<bool(const char* operation)> skip;  ///< "insert", "remove", "union", "intersect", "diff": not done
    bool no_address = false;                          ///< fi_av_set_addr fails
    std::function<void(fid_ep*, fid_mc*, void*)> joined;  ///< behind fi_join_collective and fi_join
    std::function<ssize_t(EventReading)> event;           ///< behind fi_eq_read; @return what that returns
    std::function<int(int ret, int index)> rx_context;    ///< behind fi_rx_context
    bool no_scalable = false;                             ///< fi_scalable_ep fails
};

/// The rows on calls of single objects (object_calls.cc), which add_groups adds.
void add_object_calls(Table& table);

/// What is bound to an endpoint.
fid_eq* events_of(const fid_ep* ep);
std::vector<fid_cq*> queues_of(const fid_ep* ep);

/// A hook for LifeHooks::child that wraps what these hooks care about.
std::function<int(int, std::size_t, fid*, fid*)> acts_together(GroupHooks hooks);

}  // namespace selvage::mutants
