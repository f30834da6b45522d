// The domain object: one interface of a fabric, with the attributes it was opened with. Parent of everything that moves
// data.
#ifndef SELVAGE_IMPL_CORE_DOMAIN_H
#define SELVAGE_IMPL_CORE_DOMAIN_H

#include "impl/core/fabric.h"
#include "impl/core/lock.h"
#include "impl/core/mr_table.h"
#include "impl/core/object.h"
#include "impl/core/progress_thread.h"
#include "impl/core/region_counters.h"
#include "impl/core/region_users.h"

namespace selvage::impl {

struct EventQueue;

struct Domain {
    fid_domain descriptor{};
    UseCount uses;
    Fabric* fabric = nullptr;
    char name[FI_NAME_MAX] = {};
    Domain* next_opened = nullptr;  // opened.cc

    // The offer that the domain was opened on, as far as it outlives a change of interfaces.
    AddressKind kind = AddressKind::kNone;
    SocketAddress source;
    SocketAddress host;  // the internet address of the interface
    unsigned interface = 0;
    void* device = nullptr;  // the provider's (MemoryOps)

    // As opened.
    uint64_t caps = 0;  // fi_info::caps
    uint32_t addr_format = FI_FORMAT_UNSPEC;
    fi_domain_attr attr{};  // the pointers in it are nullptr
    uint8_t auth_key[64] = {};

    Mutex lock;                   // protects what follows
    EventQueue* eq = nullptr;     // bound; holds a use of it
    bool register_async = false;  // bound with FI_REG_MR
    fi_hmem_override_ops hmem{};  // size 0: none set
    MrTable regions;
    RegionUsers region_users;        // locks itself
    ProgressThread automatic;        // locks itself
    RegionCounters region_counters;  // locks itself

    static Domain* of(fid_domain* domain) { return object_of<Domain>(domain); }
    uint32_t version() const { return fabric->api_version; }
    bool automatic_data() const { return attr.data_progress == FI_PROGRESS_AUTO; }
    bool automatic_control() const { return attr.control_progress == FI_PROGRESS_AUTO; }
    // The application promises that no two threads use the domain's endpoints and queues at once, and no thread of this
    // library does: they need no locks.
    bool serialised() const {
        return (attr.threading == FI_THREAD_DOMAIN || attr.threading == FI_THREAD_COMPLETION) && !automatic_data() &&
               !automatic_control();
    }
    bool basic_registration() const { return attr.mr_mode == FI_MR_BASIC; }
    bool chooses_keys() const { return basic_registration() || (attr.mr_mode & FI_MR_PROV_KEY); }
};

// For the queues and counters of a domain: how their lists of what makes progress are locked, and attached to. With
// automatic data progress the domain's thread has the object, too, and it alone sleeps on its descriptor.
void prepare(Domain& domain, ProgressList& list);
int attach_to(Domain& domain, ProgressList& list, Progressive* path);
void detach_from(Domain& domain, ProgressList& list, Progressive* path);

// The table in ops, one function per file of its subject.
int domain_open_av(fid_domain*, fi_av_attr*, fid_av**, void* context);                      // av.cc
int domain_open_cq(fid_domain*, fi_cq_attr*, fid_cq**, void* context);                      // cq.cc
int domain_open_counter(fid_domain*, fi_cntr_attr*, fid_cntr**, void* context);             // cntr.cc
int domain_open_poll(fid_domain*, fi_poll_attr*, fid_poll**);                               // poll.cc
int domain_open_endpoint(fid_domain*, fi_info*, fid_ep**, void* context);                   // ep.cc
int domain_open_endpoint2(fid_domain*, fi_info*, fid_ep**, uint64_t flags, void* context);  // ep.cc
int domain_open_shared_transmit(fid_domain*, fi_tx_attr*, fid_stx**, void* context);        // shared.cc
int domain_open_shared_receive(fid_domain*, fi_rx_attr*, fid_ep**, void* context);          // shared.cc
int domain_query_atomic(fid_domain*, fi_datatype, fi_op, fi_atomic_attr*, uint64_t flags);  // atomic_types.cc
int domain_control(fid*, int command, void* argument);                                      // mr.cc
extern const fi_ops_mr kMrOps;                                                              // mr.cc

}  // namespace selvage::impl

#endif
