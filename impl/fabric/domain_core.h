// What a domain is to the queues and counters that are opened on it: a use count, the attributes that it was opened
// with, its thread of automatic progress. The whole domain is in domain.h, which knows of queues and counters in turn.
//
// Every DomainCore is the beginning of a Domain.
#pragma once

#include "impl/base/object.h"
#include "impl/fabric/fabric.h"
#include "impl/progress/progress_thread.h"

namespace selvage::impl {

struct DomainCore {
    fid_domain descriptor{};
    UseCount uses;
    Fabric* fabric = nullptr;
    char name[FI_NAME_MAX] = {};
    DomainCore* next_opened = nullptr;  // opened.cc
    fi_domain_attr attr{};              // as opened; the pointers in it are nullptr
    ProgressThread automatic;           // locks itself

    static DomainCore* of(fid_domain* domain) { return object_of<DomainCore>(domain); }
    uint32_t version() const { return fabric->api_version; }
    bool automatic_data() const { return attr.data_progress == FI_PROGRESS_AUTO; }
    bool automatic_control() const { return attr.control_progress == FI_PROGRESS_AUTO; }
    // The application promises that no two threads use the domain's endpoints and queues at once, and no thread of this
    // library does: they need no locks, unless an event queue drives them (endpoint/datapath.h).
    bool serialised() const {
        return (attr.threading == FI_THREAD_DOMAIN || attr.threading == FI_THREAD_COMPLETION) && !automatic_data() &&
               !automatic_control();
    }
};

// For the queues and counters of a domain: how their lists of what makes progress are locked, and attached to. With
// automatic data progress the domain's thread has the object, too, and it alone sleeps on its descriptor.
void prepare(DomainCore& domain, ProgressList& list);
int attach_to(DomainCore& domain, ProgressList& list, Progressive* path);
void detach_from(DomainCore& domain, ProgressList& list, Progressive* path);

// Of the table in fi_ops_domain, what needs no more of a domain than this.
int domain_open_cq(fid_domain*, fi_cq_attr*, fid_cq**, void* context);           // cq.cc
int domain_open_counter(fid_domain*, fi_cntr_attr*, fid_cntr**, void* context);  // cntr.cc
int domain_open_poll(fid_domain*, fi_poll_attr*, fid_poll**);                    // poll.cc

}  // namespace selvage::impl
