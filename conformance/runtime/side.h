/* One side of a pair of endpoints: what it is opened with, what it is made of, what it is given to post, and what its
   queues return. */
#pragma once

#include <rdma/fabric.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>
#include <rdma/fi_trigger.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/uio.h>

enum {
    ARENA = 64 << 20, /* bytes of a side's own buffers */
    REGION = 2 << 20, /* bytes that its peer reads and writes */
    PIECES = 64,      /* at most, of one buffer */
    BATCH = 8,        /* entries that one call reads */
    BOUND = 6,        /* counters of an endpoint: send, recv, read, write, remote read, remote write */
    COUNTERS,         /* and that of deferred work that is complete */
    NAME = 512        /* bytes of an address, which may be shorter */
};

/* What became of several calls: the first that failed, and what it returned.  NULL: none did. */
struct outcome {
    int64_t ret;
    const char* call;
};

/* How both sides are set up. */
struct setup {
    enum fi_cq_format format;
    size_t queue_size;
    uint64_t receive_selective, transmit_selective; /* FI_SELECTIVE_COMPLETION or 0 */
    uint64_t receive_flags, transmit_flags;         /* defaults of the operations */
    int counters;
    size_t min_multi_recv; /* 0: left alone */
};

/* What sides of one process share. */
struct opened {
    struct fi_info* info;
    struct fid_fabric* fabric;
    struct fid_domain* domain;
    uint64_t next_key;
};

/* As the peer names it. */
struct region {
    uint64_t address, key;
    uint8_t registered; /* else it could not be */
};

struct side {
    const struct setup* setup;
    struct opened* in;
    unsigned char* arena;  /* ARENA bytes */
    unsigned char* target; /* REGION bytes */
    struct fid_ep* ep;
    struct fid_cq* queue[2]; /* receives, transmits */
    struct fid_cntr* counter[COUNTERS];
    struct fid_cntr*
        trigger;        /* what operations with FI_TRIGGER and deferred work wait for, from the first of them on */
    uint64_t triggered; /* what calls have added to it */
    struct fid_av* av;  /* where there are no connections */
    fi_addr_t peer, self;
    struct fid_eq *eq, *listening; /* where there are */
    struct fid_pep* pep;
    struct fi_info* request; /* of FI_CONNREQ; fi_freeinfo is left to whoever closes the side */
    int connected;
    char name[NAME]; /* its address, once it is open; zeros behind it */
    struct fid_mr* local;
    size_t local_length;
    struct region regions[4]; /* by remote access */
    struct fid_mr* mr[4];
    unsigned requested;     /* for which of them, as bits */
    struct outcome outcome; /* of what was done to it last */
};

/* The calls, by transfer: of a buffer, a vector, a message; injected, with data, injected with data. */
/* clang-format off */
enum call {
    SEND, SENDV, SENDMSG, INJECT, SENDDATA, INJECTDATA,
    RECV, RECVV, RECVMSG,
    TSEND = 12, TSENDV, TSENDMSG, TINJECT, TSENDDATA, TINJECTDATA,
    TRECV, TRECVV, TRECVMSG,
    WRITE = 24, WRITEV, WRITEMSG, INJECT_WRITE, WRITEDATA, INJECT_WRITEDATA,
    READ, READV, READMSG,
    ATOMIC = 36, ATOMICV, ATOMICMSG, INJECT_ATOMIC,
    FETCH_ATOMIC = 42, FETCH_ATOMICV, FETCH_ATOMICMSG,
    COMPARE_ATOMIC = 48, COMPARE_ATOMICV, COMPARE_ATOMICMSG,
    CANCEL = 54, TRIGGER = 66, TRIGGER_ERROR = 72, TRIGGER_SET = 78, CANCEL_WORK = 84, FLUSH_WORK = 90
};
/* clang-format on */

/* Whose message a receive takes. */
enum source { ANYONE, PEER, SELF };

/* One operation.  What its call has no argument for is left out. */
struct operation {
    enum call call;
    void *buffer, *result, *compare;
    size_t length;         /* bytes of a buffer, in all */
    size_t pieces, stride; /* it is given in so many, each so far behind the one before; 0: one, close together */
    enum source source;
    uint64_t tag, ignore, data, flags;
    struct region target;
    uint64_t offset; /* in it */
    size_t target_pieces;
    int bad_key; /* one that no region has */
    enum fi_datatype datatype;
    enum fi_op op;
    size_t count;
    uint64_t threshold; /* FI_TRIGGER, deferred work: by how much the counter has to grow from now on */
    void* context;      /* of deferred work: where its struct fi_deferred_work is */
};

/* The arguments of a call that are arrays.  They stay until the operation is over: a provider may look again
   (FI_ASYNC_IOV). */
struct arguments {
    size_t count, target_count;
    void* desc[PIECES];
    struct iovec iov[PIECES];
    struct fi_ioc ioc[PIECES], results[PIECES], compares[PIECES];
    struct fi_rma_iov rma_iov[PIECES];
    struct fi_rma_ioc rma_ioc[PIECES];
    union {
        struct fi_op_msg msg;
        struct fi_op_tagged tagged;
        struct fi_op_rma rma;
        struct fi_op_atomic atomic;
        struct fi_op_fetch_atomic fetch;
        struct fi_op_compare_atomic compare;
        struct fi_op_cntr cntr;
    } work; /* of deferred work */
};

/* One entry of a completion queue, or of its errors.  What the queue's format lacks is 0. */
struct entry {
    uint64_t context, buffer; /* addresses */
    uint64_t flags, len, data, tag;
    uint64_t err, olen, err_data_size;
    uint8_t failed; /* it was read by fi_cq_readerr */
    uint8_t source; /* as fi_cq_readfrom returned it: one of these */
};
enum { NOBODY, THE_PEER, ANOTHER };
