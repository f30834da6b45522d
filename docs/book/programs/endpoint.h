// What the programs of the book share: an endpoint with all that it needs, opened step by step.
#pragma once

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

//! [check]
// Ends the program unless `ret` is what it should be.
static inline void expect(long ret, long expected, const char* what) {
    if (ret == expected) return;
    fprintf(stderr, "%s: %ld (%s), expected %ld\n", what, ret, fi_strerror((int)(ret < 0 ? -ret : ret)), expected);
    exit(1);
}

// Ends the program unless something is so.
static inline void require(int holds, const char* what) {
    if (holds) return;
    fprintf(stderr, "it does not hold that %s\n", what);
    exit(1);
}
//! [check]

struct endpoint {
    struct fi_info* info;
    struct fid_fabric* fabric;
    struct fid_domain* domain;
    struct fid_av* av;
    struct fid_cq* cq;
    struct fid_ep* ep;
};

//! [choose]
// The first offer with these capabilities for connectionless, reliable endpoints of one machine.
static inline struct fi_info* choose(uint64_t caps) {
    struct fi_info *hints = fi_allocinfo(), *info = NULL;
    hints->caps = caps;
    hints->ep_attr->type = FI_EP_RDM;
    hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
    hints->fabric_attr->prov_name = strdup("shm");
    expect(fi_getinfo(FI_VERSION(1, 17), NULL, NULL, 0, hints, &info), 0, "fi_getinfo");
    fi_freeinfo(hints);
    return info;
}
//! [choose]

//! [open]
// Each object is made from the one above it, and of the same offer.
static inline struct endpoint open_domain(struct fi_info* info) {
    struct endpoint e = {.info = info};
    expect(fi_fabric(e.info->fabric_attr, &e.fabric, NULL), 0, "fi_fabric");
    expect(fi_domain(e.fabric, e.info, &e.domain, NULL), 0, "fi_domain");
    return e;
}

static inline void add_endpoint(struct endpoint* e) {
    expect(fi_endpoint(e->domain, e->info, &e->ep, NULL), 0, "fi_endpoint");
    //! [open]

    //! [bind]
    struct fi_cq_attr cq_attr = {.format = FI_CQ_FORMAT_TAGGED};
    struct fi_av_attr av_attr = {.type = FI_AV_UNSPEC};
    expect(fi_cq_open(e->domain, &cq_attr, &e->cq, NULL), 0, "fi_cq_open");
    expect(fi_av_open(e->domain, &av_attr, &e->av, NULL), 0, "fi_av_open");
    expect(fi_ep_bind(e->ep, &e->cq->fid, FI_TRANSMIT | FI_RECV), 0, "binding the completion queue");
    expect(fi_ep_bind(e->ep, &e->av->fid, 0), 0, "binding the address vector");
}

static inline struct endpoint open_endpoint(uint64_t caps) {
    struct endpoint e = open_domain(choose(caps));
    add_endpoint(&e);
    // From here on it sends and receives; nothing can be bound to it any more.
    expect(fi_enable(e.ep), 0, "fi_enable");
    return e;
}
//! [bind]

//! [close]
// What was made last goes first: an object that another one uses answers -FI_EBUSY.
static inline void close_the_rest(struct endpoint* e) {
    expect(fi_close(&e->av->fid), 0, "closing the address vector");
    expect(fi_close(&e->cq->fid), 0, "closing the completion queue");
    expect(fi_close(&e->domain->fid), 0, "closing the domain");
    expect(fi_close(&e->fabric->fid), 0, "closing the fabric");
    fi_freeinfo(e->info);
}

static inline void close_endpoint(struct endpoint* e) {
    expect(fi_close(&e->ep->fid), 0, "closing the endpoint");
    close_the_rest(e);
}
//! [close]

//! [meet]
// How `from` speaks of `to`: a name goes out of band from one to the other, and becomes an fi_addr_t.
static inline fi_addr_t meet(struct endpoint* from, struct endpoint* to) {
    char name[256];
    size_t size = sizeof name;
    fi_addr_t address = FI_ADDR_NOTAVAIL;
    expect(fi_getname(&to->ep->fid, name, &size), 0, "fi_getname");
    expect(fi_av_insert(from->av, name, 1, &address, 0, NULL), 1, "fi_av_insert");
    return address;
}
//! [meet]

//! [again]
// A call that begins an operation may ask for another try: there is no room, or the peer is not known yet. Then `e` and
// `other` make progress, and the call is made again.
#define UNTIL_TAKEN(call, e, other)             \
    do {                                        \
        long ret_;                              \
        while ((ret_ = (call)) == -FI_EAGAIN) { \
            fi_cq_read((e)->cq, NULL, 0);       \
            fi_cq_read((other)->cq, NULL, 0);   \
        }                                       \
        expect(ret_, 0, #call);                 \
    } while (0)
//! [again]

//! [wait]
// Waits for one completion of `e`, while both make progress: they live in one process here.
static inline struct fi_cq_tagged_entry wait_for_entry(struct endpoint* e, struct endpoint* other) {
    struct fi_cq_tagged_entry entry = {0};
    for (;;) {
        long got = fi_cq_read(e->cq, &entry, 1);
        if (got == 1) return entry;
        expect(got, -FI_EAGAIN, "fi_cq_read");
        fi_cq_read(other->cq, NULL, 0);  // no entries are read, but progress is made
    }
}
//! [wait]
