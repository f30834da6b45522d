// The domain object: one interface of a fabric, with the attributes it was opened with. Parent of everything that moves
// data.
#pragma once

#include "impl/base/lock.h"
#include "impl/base/object.h"
#include "impl/domain/mr_table.h"
#include "impl/domain/region_counters.h"
#include "impl/domain/region_users.h"
#include "impl/domain/work_queue.h"
#include "impl/fabric/domain_core.h"
#include "impl/fabric/fabric.h"

namespace selvage::impl {

struct EventQueue;

struct Domain : DomainCore {
    // The offer that the domain was opened on, as far as it outlives a change of interfaces.
    AddressKind kind = AddressKind::None;
    SocketAddress source;
    SocketAddress host;  // the internet address of the interface
    unsigned interface = 0;
    void* device = nullptr;  // the provider's (MemoryOps)
    int duties = 0;          // bits of mr_mode that are insisted on (mr_duties.h)

    // As opened.
    uint64_t caps = 0;  // fi_info::caps
    uint32_t addr_format = FI_FORMAT_UNSPEC;
    uint8_t auth_key[64] = {};

    Mutex lock;                   // protects what follows
    EventQueue* eq = nullptr;     // bound; holds a use of it
    bool register_async = false;  // bound with FI_REG_MR
    fi_hmem_override_ops hmem{};  // size 0: none set
    MrTable regions;
    RegionUsers region_users;        // locks itself
    RegionCounters region_counters;  // locks itself
    WorkQueue work;                  // locks itself

    static Domain* of(fid_domain* domain) { return object_of<Domain>(domain); }
    bool basic_registration() const { return attr.mr_mode == FI_MR_BASIC; }
    bool chooses_keys() const { return basic_registration() || (attr.mr_mode & FI_MR_PROV_KEY); }
};

// The table in ops, one function per file of its subject; domain_core.h has the others.
int domain_open_av(fid_domain*, fi_av_attr*, fid_av**, void* context);                      // av.cc
int domain_open_endpoint(fid_domain*, fi_info*, fid_ep**, void* context);                   // ep.cc
int domain_open_endpoint2(fid_domain*, fi_info*, fid_ep**, uint64_t flags, void* context);  // ep.cc
int domain_open_scalable(fid_domain*, fi_info*, fid_ep**, void* context);                   // scalable.cc
int domain_open_shared_transmit(fid_domain*, fi_tx_attr*, fid_stx**, void* context);        // shared.cc
int domain_open_shared_receive(fid_domain*, fi_rx_attr*, fid_ep**, void* context);          // engine/shared_receiver.cc
int domain_query_atomic(fid_domain*, fi_datatype, fi_op, fi_atomic_attr*, uint64_t flags);  // atomic_types.cc
int domain_query_collective(fid_domain*, fi_collective_op, fi_collective_attr*,
                            uint64_t flags);            // collective/calls.cc
int domain_control(fid*, int command, void* argument);  // mr.cc
extern const fi_ops_mr kMrOps;                          // mr.cc

}  // namespace selvage::impl
