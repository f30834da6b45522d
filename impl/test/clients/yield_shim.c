// Gives the processor away where a completion queue stays empty: MPICH waits by reading it without end, so that with
// more ranks than processors each message costs the others' whole slices of time. Preloaded on either library; it
// changes when calls are made, not what they return. Each object gets a table of operations of its own, with the one
// that it had behind it: a provider may be layered on another. Tables stay until the process ends. Called from any
// thread.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <sched.h>
#include <stdlib.h>

enum { kEmptyReads = 8 };  // in a row, before the processor is given away

struct fabric_table {
    struct fi_ops_fabric ops;
    struct fi_ops_fabric* before;
};

struct domain_table {
    struct fi_ops_domain ops;
    struct fi_ops_domain* before;
};

struct cq_table {
    struct fi_ops_cq ops;
    struct fi_ops_cq* before;
};

static ssize_t read_or_yield(struct fid_cq* cq, void* buffer, size_t count) {
    static _Thread_local int empty;
    const ssize_t result = ((struct cq_table*)cq->ops)->before->read(cq, buffer, count);
    empty = result == -FI_EAGAIN ? empty + 1 : 0;
    if (empty >= kEmptyReads) {
        empty = 0;
        sched_yield();
    }
    return result;
}

static int open_cq(struct fid_domain* domain, struct fi_cq_attr* attr, struct fid_cq** cq, void* context) {
    const int result = ((struct domain_table*)domain->ops)->before->cq_open(domain, attr, cq, context);
    struct cq_table* table = result ? NULL : malloc(sizeof *table);
    if (table) {
        table->before = (*cq)->ops;
        table->ops = *table->before;
        table->ops.read = read_or_yield;
        (*cq)->ops = &table->ops;
    }
    return result;
}

static int open_domain(struct fid_fabric* fabric, struct fi_info* info, struct fid_domain** domain, void* context) {
    const int result = ((struct fabric_table*)fabric->ops)->before->domain(fabric, info, domain, context);
    struct domain_table* table = result ? NULL : malloc(sizeof *table);
    if (table) {
        table->before = (*domain)->ops;
        table->ops = *table->before;
        table->ops.cq_open = open_cq;
        (*domain)->ops = &table->ops;
    }
    return result;
}

int fi_fabric(struct fi_fabric_attr* attr, struct fid_fabric** fabric, void* context) {
    int (*const open_fabric)(struct fi_fabric_attr*, struct fid_fabric**, void*) = dlsym(RTLD_NEXT, "fi_fabric");
    const int result = open_fabric(attr, fabric, context);
    struct fabric_table* table = result ? NULL : malloc(sizeof *table);
    if (table) {
        table->before = (*fabric)->ops;
        table->ops = *table->before;
        table->ops.domain = open_domain;
        (*fabric)->ops = &table->ops;
    }
    return result;
}
