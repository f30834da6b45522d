/* Scalable endpoints, as fi_endpoint(3) and fi_av(3) tell of them. Plain C, nothing but the interface: it runs on any
 * libfabric that has them.
 *
 *   contexts PROVIDER FOLDER [automatic]
 *
 * FOLDER is where the libfabric that runs is expected. Each check is a process of its own with two scalable endpoints
 * that are opened for it; a line says what became of it. The result is 1 if one was not kept, 77 if there are none.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <rdma/fabric.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "pair_checks.h"

enum { kContexts = 8, kBits = 4, kBytes = 64, kRounds = 300 };
#define LARGE ((size_t)1 << 20)

/* One transmit or receive context with what is bound to it. */
struct way {
    struct fid_ep* ep;
    struct fid_cq* cq;
    struct fid_cntr* counter;
    size_t done; /* entries */
    struct fi_cq_tagged_entry last;
    fi_addr_t source; /* of the last */
    int error;        /* of the last that failed */
};
struct side {
    struct fid_ep* sep;
    struct fid_av* av;
    struct way tx[kContexts], rx[kContexts];
    fi_addr_t peer;
};

static struct fi_info* info;
static struct fid_fabric* fabric;
static struct fid_domain* domain;
static struct side a, b;
static _Alignas(8) char from[LARGE], to[LARGE];
static _Alignas(8) char memory[kBytes];
static struct fid_mr* region;
static uint64_t base; /* of the region, for the initiator */

static struct fi_info* wanted(void) {
    struct fi_info* hints = fi_allocinfo();
    struct fi_info* found = NULL;
    hints->ep_attr->type = FI_EP_RDM;
    hints->ep_attr->tx_ctx_cnt = hints->ep_attr->rx_ctx_cnt = kContexts;
    hints->caps = FI_MSG | FI_TAGGED | FI_RMA | FI_ATOMIC | FI_NAMED_RX_CTX | FI_SOURCE | FI_DIRECTED_RECV;
    hints->domain_attr->mr_mode = FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_LOCAL;
    hints->domain_attr->threading = FI_THREAD_SAFE;
    hints->domain_attr->data_progress = automatic ? FI_PROGRESS_AUTO : FI_PROGRESS_UNSPEC;
    hints->fabric_attr->prov_name = strdup(provider);
    hints->mode = FI_CONTEXT | FI_CONTEXT2;
    const int result =
        fi_getinfo(FI_VERSION(1, 17), strcmp(provider, "shm") ? "127.0.0.1" : NULL, NULL, 0, hints, &found);
    fi_freeinfo(hints);
    return result ? NULL : found;
}

static void bind_way(struct way* way, uint64_t side) {
    struct fi_cq_attr cq = {.size = 1024, .format = FI_CQ_FORMAT_TAGGED};
    struct fi_cntr_attr counter = {.events = FI_CNTR_EVENTS_COMP, .wait_obj = FI_WAIT_UNSPEC};
    DO(fi_cq_open(domain, &cq, &way->cq, NULL));
    DO(fi_cntr_open(domain, &counter, &way->counter, NULL));
    DO(fi_ep_bind(way->ep, &way->cq->fid, side));
    DO(fi_ep_bind(way->ep, &way->counter->fid, side == FI_TRANSMIT ? FI_SEND | FI_WRITE | FI_READ : FI_RECV));
}

static void open_side(struct side* side) {
    struct fi_av_attr av = {.type = FI_AV_TABLE, .rx_ctx_bits = kBits};
    DO(fi_scalable_ep(domain, info, &side->sep, NULL));
    DO(fi_av_open(domain, &av, &side->av, NULL));
    DO(fi_scalable_ep_bind(side->sep, &side->av->fid, 0));
    for (int i = 0; i < kContexts; ++i) {
        DO(fi_tx_context(side->sep, i, NULL, &side->tx[i].ep, &side->tx[i]));
        bind_way(&side->tx[i], FI_TRANSMIT);
        DO(fi_enable(side->tx[i].ep));
        DO(fi_rx_context(side->sep, i, NULL, &side->rx[i].ep, &side->rx[i]));
        bind_way(&side->rx[i], FI_RECV);
        DO(fi_enable(side->rx[i].ep));
    }
    DO(fi_enable(side->sep));
}

static void insert(struct side* side, const struct fid_ep* peer, fi_addr_t* address) {
    char name[256];
    size_t length = sizeof name;
    DO(fi_getname((struct fid*)&peer->fid, name, &length));
    EXPECT(fi_av_insert(side->av, name, 1, address, 0, NULL) == 1);
}

static void open_all(void) {
    info = wanted();
    EXPECT(info);
    DO(fi_fabric(info->fabric_attr, &fabric, NULL));
    DO(fi_domain(fabric, info, &domain, NULL));
    open_side(&a);
    open_side(&b);
    insert(&a, b.sep, &a.peer);
    insert(&b, a.sep, &b.peer);
    DO(fi_mr_reg(domain, memory, sizeof memory, FI_REMOTE_READ | FI_REMOTE_WRITE, 0, 7, 0, &region, NULL));
    if (info->domain_attr->mr_mode & FI_MR_VIRT_ADDR) base = (uint64_t)(uintptr_t)memory;
}

static void read_way(struct way* way) {
    struct fi_cq_err_entry error = {0};
    if (!way->cq) return;
    const ssize_t got = fi_cq_readfrom(way->cq, &way->last, 1, &way->source);
    if (got == 1) ++way->done;
    if (got == -FI_EAVAIL && fi_cq_readerr(way->cq, &error, 0) == 1) way->error = entry_error = error.err;
}
static void move(void) {
    for (int i = 0; i < kContexts; ++i) {
        read_way(&a.tx[i]);
        read_way(&a.rx[i]);
        read_way(&b.tx[i]);
        read_way(&b.rx[i]);
    }
}
/* Posts again while there is no room, or no connection yet. */
#define POST(call)                                                              \
    do {                                                                        \
        const double until = busy() + 4;                                        \
        long posted;                                                            \
        while ((posted = (long)(call)) == -FI_EAGAIN && busy() < until) move(); \
        DO(posted);                                                             \
    } while (0)
static void let_pass(void) {
    const double end = now() + 0.05;
    while (now() < end) move();
}
static fi_addr_t context_of(const struct side* side, int index) { return fi_rx_addr(side->peer, index, kBits); }

static struct fi_context2 ids[4 * kContexts];

/* One message from a context of a to one of b; only that one has it. */
static void pass(int transmit, int receive, size_t size) {
    const size_t sent = a.tx[transmit].done, received = b.rx[receive].done;
    memset(from, 'a' + transmit, size);
    memset(to, 0, size);
    DO(fi_recv(b.rx[receive].ep, to, size, NULL, FI_ADDR_UNSPEC, &ids[0]));
    POST(fi_send(a.tx[transmit].ep, from, size, NULL, context_of(&a, receive), &ids[1]));
    AWAIT(a.tx[transmit].done == sent + 1 && b.rx[receive].done == received + 1);
    EXPECT(memcmp(from, to, size) == 0);
    EXPECT(b.rx[receive].last.len == size && b.rx[receive].last.op_context == &ids[0]);
}

static void each_context_is_reached(void) {
    for (int i = 0; i < kContexts; ++i) pass(i, i, 8);
    for (int i = 0; i < kContexts; ++i) {
        EXPECT(fi_cntr_read(a.tx[i].counter) == 1 && fi_cntr_read(b.rx[i].counter) == 1);
        EXPECT(a.tx[i].done == 1 && b.rx[i].done == 1);
    }
}

static void all_pairs_are_reached(void) {
    for (int i = 0; i < kContexts; ++i) {
        for (int k = 0; k < kContexts; ++k) pass(i, (i + k) % kContexts, 8);
    }
}

static void unnamed_goes_to_the_first(void) {
    DO(fi_recv(b.rx[0].ep, to, 8, NULL, FI_ADDR_UNSPEC, &ids[0]));
    POST(fi_send(a.tx[3].ep, "unnamed", 8, NULL, a.peer, &ids[1]));
    AWAIT(b.rx[0].done == 1);
    EXPECT(strcmp(to, "unnamed") == 0);
}

static void a_message_waits_for_its_context(void) {
    DO(fi_recv(b.rx[2].ep, to, 8, NULL, FI_ADDR_UNSPEC, &ids[0]));
    POST(fi_send(a.tx[0].ep, "for one", 8, NULL, context_of(&a, 5), &ids[1]));
    let_pass();
    EXPECT(b.rx[2].done == 0);
    DO(fi_recv(b.rx[5].ep, to + 8, 8, NULL, FI_ADDR_UNSPEC, &ids[2]));
    AWAIT(b.rx[5].done == 1);
    EXPECT(strcmp(to + 8, "for one") == 0 && b.rx[2].done == 0);
}

static void tags_are_matched_in_a_context(void) {
    for (int i = 0; i < kContexts; ++i) {
        DO(fi_trecv(b.rx[i].ep, to + 8 * i, 8, NULL, FI_ADDR_UNSPEC, 40 + (uint64_t)i, 0, &ids[i]));
    }
    for (int i = kContexts; i-- > 0;) {
        snprintf(from, sizeof from, "tag %d", i);
        POST(fi_tinject(a.tx[0].ep, from, 8, context_of(&a, i), 40 + (uint64_t)i));
        AWAIT(b.rx[i].done == 1);
        EXPECT(b.rx[i].last.tag == 40 + (uint64_t)i && strcmp(to + 8 * i, from) == 0);
    }
}

static void long_messages_pass(void) {
    pass(1, 6, LARGE);
    pass(0, 0, 40000);
}

static void the_source_is_the_endpoint(void) {
    for (int i = 0; i < kContexts; ++i) {
        pass(i, 3, 8);
        EXPECT(b.rx[3].source == b.peer);
    }
}

static void a_receive_is_directed_at_the_endpoint(void) {
    DO(fi_recv(b.rx[1].ep, to, 8, NULL, b.peer, &ids[0]));
    POST(fi_send(a.tx[7].ep, "direct", 7, NULL, context_of(&a, 1), &ids[1]));
    AWAIT(b.rx[1].done == 1);
    EXPECT(strcmp(to, "direct") == 0);
    /* Whichever of its contexts the address names; and not from others. */
    fi_addr_t self;
    insert(&b, b.sep, &self);
    DO(fi_recv(b.rx[1].ep, to, 8, NULL, context_of(&b, 3), &ids[0]));
    POST(fi_send(b.tx[0].ep, "own", 4, NULL, fi_rx_addr(self, 1, kBits), &ids[2]));
    let_pass();
    POST(fi_send(a.tx[7].ep, "again", 6, NULL, context_of(&a, 1), &ids[1]));
    AWAIT(b.rx[1].done == 2);
    EXPECT(strcmp(to, "again") == 0);
}

static void memory_is_reached_by_each_context(void) {
    const uint64_t key = fi_mr_key(region);
    for (int i = 0; i < kContexts; ++i) {
        snprintf(from, kBytes, "written by %d", i);
        POST(fi_write(a.tx[i].ep, from, kBytes, NULL, context_of(&a, kContexts - 1 - i), base, key, &ids[0]));
        AWAIT(a.tx[i].done == 1);
        EXPECT(strcmp(memory, from) == 0);
        POST(fi_read(a.tx[i].ep, to, kBytes, NULL, context_of(&a, i), base, key, &ids[0]));
        AWAIT(a.tx[i].done == 2);
        EXPECT(strcmp(to, from) == 0);
    }
    POST(fi_write(a.tx[0].ep, "unnamed", 8, NULL, a.peer, base, key, &ids[0]));
    AWAIT(a.tx[0].done == 3);
    EXPECT(strcmp(memory, "unnamed") == 0);
}

static void atomics_are_done_by_each_context(void) {
    uint64_t one = 1, sum = 0;
    memcpy(from, &one, sizeof one);
    for (int i = 0; i < kContexts; ++i) {
        POST(fi_atomic(a.tx[i].ep, from, 1, NULL, context_of(&a, i), base, fi_mr_key(region), FI_UINT64, FI_SUM,
                       &ids[0]));
        AWAIT(a.tx[i].done == 1);
    }
    memcpy(&sum, memory, sizeof sum);
    EXPECT(sum == kContexts);
}

static void indices_are_checked(void) {
    struct fid_ep* ep = NULL;
    EXPECT(fi_tx_context(a.sep, -1, NULL, &ep, NULL) == -FI_EINVAL);
    EXPECT(fi_tx_context(a.sep, kContexts, NULL, &ep, NULL) == -FI_EINVAL);
    EXPECT(fi_rx_context(a.sep, -1, NULL, &ep, NULL) == -FI_EINVAL);
    EXPECT(fi_rx_context(a.sep, kContexts, NULL, &ep, NULL) == -FI_EINVAL);
}

static void close_way(struct way* way) {
    DO(fi_close(&way->ep->fid));
    DO(fi_close(&way->cq->fid));
    DO(fi_close(&way->counter->fid));
    memset(way, 0, sizeof *way);
}

static void it_is_closed_after_its_contexts(void) {
    EXPECT(fi_close(&a.sep->fid) == -FI_EBUSY);
    for (int i = 0; i < kContexts; ++i) {
        close_way(&a.tx[i]);
        EXPECT(fi_close(&a.sep->fid) == -FI_EBUSY);
        close_way(&a.rx[i]);
    }
    EXPECT(fi_close(&a.av->fid) == -FI_EBUSY);
    DO(fi_close(&a.sep->fid));
    DO(fi_close(&a.av->fid));
}

static void a_context_is_opened_again(void) {
    pass(2, 2, 8);
    close_way(&a.tx[2]);
    DO(fi_tx_context(a.sep, 2, NULL, &a.tx[2].ep, NULL));
    bind_way(&a.tx[2], FI_TRANSMIT);
    DO(fi_enable(a.tx[2].ep));
    pass(2, 2, 8);
}

static void one_name_is_that_of_all(void) {
    char name[256] = "", other[256] = "";
    size_t length = sizeof name, other_length = sizeof other;
    DO(fi_getname(&a.sep->fid, name, &length));
    DO(fi_getname(&a.rx[4].ep->fid, other, &other_length));
    EXPECT(length == other_length && memcmp(name, other, length) == 0);
    other_length = sizeof other;
    DO(fi_getname(&a.tx[4].ep->fid, other, &other_length));
    EXPECT(length == other_length && memcmp(name, other, length) == 0);
}

static void a_context_has_attributes_of_its_own(void) {
    struct fi_tx_attr attr = *info->tx_attr;
    struct fid_ep* ep = NULL;
    close_way(&a.tx[1]);
    attr.caps = FI_MSG;
    attr.size = 16;
    DO(fi_tx_context(a.sep, 1, &attr, &a.tx[1].ep, NULL));
    EXPECT(attr.size >= 16 && (attr.caps & FI_MSG) && !(attr.caps & FI_RMA));
    bind_way(&a.tx[1], FI_TRANSMIT);
    DO(fi_enable(a.tx[1].ep));
    pass(1, 1, 8);
    EXPECT(fi_write(a.tx[1].ep, from, 8, NULL, a.peer, base, fi_mr_key(region), &ids[0]) < 0);
    close_way(&a.tx[2]);
    attr.caps = FI_MSG | FI_TRIGGER; /* which the endpoint was not opened with */
    EXPECT(fi_tx_context(a.sep, 2, &attr, &ep, NULL) < 0);
}

static void receives_are_cancelled_in_their_context(void) {
    DO(fi_recv(b.rx[0].ep, to, 8, NULL, FI_ADDR_UNSPEC, &ids[0]));
    DO(fi_recv(b.rx[1].ep, to, 8, NULL, FI_ADDR_UNSPEC, &ids[0]));
    DO(fi_cancel(&b.rx[1].ep->fid, &ids[0]));
    AWAIT(b.rx[1].error == FI_ECANCELED);
    POST(fi_send(a.tx[0].ep, "still", 6, NULL, a.peer, &ids[1]));
    AWAIT(b.rx[0].done == 1);
    EXPECT(strcmp(to, "still") == 0 && !b.rx[0].error);
}

static void a_context_has_aliases(void) {
    struct fid_ep* alias;
    DO(fi_ep_alias(a.tx[6].ep, &alias, FI_TRANSMIT));
    DO(fi_recv(b.rx[2].ep, to, 8, NULL, FI_ADDR_UNSPEC, &ids[0]));
    POST(fi_send(alias, "alias", 6, NULL, context_of(&a, 2), &ids[1]));
    AWAIT(b.rx[2].done == 1 && a.tx[6].done == 1);
    EXPECT(fi_close(&a.tx[6].ep->fid) == -FI_EBUSY);
    DO(fi_close(&alias->fid));
    close_way(&a.tx[6]);
}

static void a_plain_endpoint_names_contexts(void) {
    struct side plain = {0};
    struct way* way = &a.tx[0]; /* whose place in move() it takes */
    struct fi_av_attr av = {.type = FI_AV_TABLE, .rx_ctx_bits = kBits};
    fi_addr_t back;
    struct fi_info* single = fi_dupinfo(info);
    single->ep_attr->tx_ctx_cnt = single->ep_attr->rx_ctx_cnt = 1;
    close_way(way);
    DO(fi_endpoint(domain, single, &way->ep, NULL));
    fi_freeinfo(single);
    DO(fi_av_open(domain, &av, &plain.av, NULL));
    bind_way(way, FI_TRANSMIT);
    DO(fi_ep_bind(way->ep, &way->cq->fid, FI_RECV));
    DO(fi_ep_bind(way->ep, &plain.av->fid, 0));
    DO(fi_enable(way->ep));
    insert(&plain, b.sep, &plain.peer);
    insert(&b, way->ep, &back);
    DO(fi_recv(b.rx[5].ep, to, 8, NULL, FI_ADDR_UNSPEC, &ids[0]));
    POST(fi_send(way->ep, "plain", 6, NULL, context_of(&plain, 5), &ids[1]));
    AWAIT(b.rx[5].done == 1 && way->done == 1);
    EXPECT(b.rx[5].source == back);
    DO(fi_recv(way->ep, to, 8, NULL, FI_ADDR_UNSPEC, &ids[0]));
    POST(fi_send(b.tx[5].ep, "answer", 7, NULL, back, &ids[1]));
    AWAIT(way->done == 2);
    EXPECT(strcmp(to, "answer") == 0);
}

static void a_context_needs_what_is_bound(void) {
    struct side c = {0};
    struct way* way = &c.tx[0];
    DO(fi_scalable_ep(domain, info, &c.sep, NULL));
    DO(fi_tx_context(c.sep, 0, NULL, &way->ep, NULL));
    bind_way(way, FI_TRANSMIT);
    EXPECT(fi_enable(way->ep) < 0); /* no address vector */
    EXPECT(fi_send(way->ep, from, 8, NULL, 0, NULL) < 0);
    close_way(way);
    DO(fi_close(&c.sep->fid));
}

/* As Open MPI has them for one-sided transfers: its receive contexts are bound to nothing. */
static void a_target_needs_no_queue(void) {
    struct side c = {0};
    struct way* way = &b.tx[0]; /* whose place in move() it takes */
    struct fid_ep* target;
    struct fi_av_attr av = {.type = FI_AV_TABLE};
    fi_addr_t peer;
    struct fi_info* memory_only = fi_dupinfo(info);
    memory_only->caps = FI_RMA;
    memory_only->tx_attr->caps = memory_only->rx_attr->caps = 0;
    close_way(way);
    DO(fi_scalable_ep(domain, memory_only, &c.sep, NULL));
    fi_freeinfo(memory_only);
    DO(fi_av_open(domain, &av, &c.av, NULL));
    DO(fi_scalable_ep_bind(c.sep, &c.av->fid, 0));
    DO(fi_tx_context(c.sep, 0, NULL, &way->ep, NULL));
    DO(fi_rx_context(c.sep, 0, NULL, &target, NULL));
    bind_way(way, FI_TRANSMIT);
    DO(fi_enable(way->ep));
    DO(fi_enable(target));
    DO(fi_enable(c.sep));
    insert(&a, c.sep, &peer);
    POST(fi_write(a.tx[0].ep, "written", 8, NULL, peer, base, fi_mr_key(region), &ids[0]));
    AWAIT(a.tx[0].done == 1);
    EXPECT(strcmp(memory, "written") == 0);
}

static void a_shared_receive_context_serves_one(void) {
    struct fid_ep* shared;
    struct way* way = &b.rx[0];
    close_way(way);
    DO(fi_srx_context(domain, info->rx_attr, &shared, NULL));
    DO(fi_rx_context(b.sep, 0, NULL, &way->ep, NULL));
    bind_way(way, FI_RECV);
    DO(fi_ep_bind(way->ep, &shared->fid, 0));
    DO(fi_enable(way->ep));
    DO(fi_recv(shared, to, 8, NULL, FI_ADDR_UNSPEC, &ids[0]));
    POST(fi_send(a.tx[0].ep, "shared", 7, NULL, a.peer, &ids[1]));
    AWAIT(way->done == 1);
    EXPECT(strcmp(to, "shared") == 0);
    EXPECT(fi_close(&shared->fid) == -FI_EBUSY);
}

/* Each thread has a pair of contexts, and nobody else looks at them. */
static void* exchange(void* argument) {
    const int i = (int)(intptr_t)argument;
    struct fi_context2 sent, received;
    char out[16] = "", in[16];
    for (int round = 0; round < kRounds; ++round) {
        const size_t before = b.rx[i].done;
        DO(fi_recv(b.rx[i].ep, in, sizeof in, NULL, FI_ADDR_UNSPEC, &received));
        snprintf(out, sizeof out, "%d", round);
        while (fi_send(a.tx[i].ep, out, sizeof out, NULL, context_of(&a, i), &sent) == -FI_EAGAIN) {
            read_way(&a.tx[i]);
            read_way(&b.rx[i]);
        }
        while (b.rx[i].done == before || a.tx[i].done <= (size_t)round) {
            read_way(&a.tx[i]);
            read_way(&b.rx[i]);
        }
        EXPECT(strcmp(in, out) == 0);
    }
    return NULL;
}

static void threads_have_contexts_of_their_own(void) {
    pthread_t threads[kContexts];
    for (int i = 0; i < kContexts; ++i) pthread_create(&threads[i], NULL, exchange, (void*)(intptr_t)i);
    for (int i = 0; i < kContexts; ++i) pthread_join(threads[i], NULL);
    for (int i = 0; i < kContexts; ++i) EXPECT(fi_cntr_read(b.rx[i].counter) == kRounds);
}

static const struct check checks[] = {
    {"a message that names a context reaches it", each_context_is_reached},
    {"each transmit context reaches each receive context", all_pairs_are_reached},
    {"a message that names no context reaches the first", unnamed_goes_to_the_first},
    {"a message waits for a receive of its own context", a_message_waits_for_its_context},
    {"tags are matched within a context", tags_are_matched_in_a_context},
    {"long messages reach a context", long_messages_pass},
    {"the source of a message is the scalable endpoint", the_source_is_the_endpoint},
    {"a receive directed at an endpoint takes from its contexts", a_receive_is_directed_at_the_endpoint},
    {"writes and reads name a context", memory_is_reached_by_each_context},
    {"atomics name a context", atomics_are_done_by_each_context},
    {"an index beyond the count is refused", indices_are_checked},
    {"an endpoint is closed after its contexts", it_is_closed_after_its_contexts},
    {"a context that was closed is opened again", a_context_is_opened_again},
    {"contexts have the name of their endpoint", one_name_is_that_of_all},
    {"a context has attributes of its own", a_context_has_attributes_of_its_own},
    {"a receive is cancelled in its context", receives_are_cancelled_in_their_context},
    {"a context has aliases", a_context_has_aliases},
    {"a plain endpoint names contexts, and is answered", a_plain_endpoint_names_contexts},
    {"a context without an address vector is not enabled", a_context_needs_what_is_bound},
    {"a target of remote access alone needs no queue", a_target_needs_no_queue},
    {"a shared receive context serves a receive context", a_shared_receive_context_serves_one},
    {"threads have contexts of their own", threads_have_contexts_of_their_own},
};

int main(int argc, char** argv) {
    const int status = begin_checks(argc, argv, "has no scalable endpoints");
    return status ? status : run_checks(checks, sizeof checks / sizeof *checks, open_all);
}
