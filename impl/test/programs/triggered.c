/* Operations that wait for counters, as fi_trigger(3) tells of them: with FI_TRIGGER among their flags, and deferred
 * work. Plain C, nothing but the interface: it runs on any libfabric that offers FI_TRIGGER.
 *
 *   triggered PROVIDER FOLDER [automatic]
 *
 * FOLDER is where the libfabric that runs is expected. Each check is a process of its own with two endpoints that are
 * opened for it; a line says what became of it. The result is 1 if one was not kept, 77 if FI_TRIGGER is not offered.
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
#include <rdma/fi_trigger.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "pair_checks.h"

enum { kEntries = 64, kBytes = 256, kChain = 2000, kThreads = 4, kAdds = 500, kMany = 3000 };
#define LARGE ((size_t)1 << 20)

struct side {
    struct fid_ep* ep;
    struct fid_cq* cq;
    struct fid_av* av;
    struct fid_cntr* sent;
    struct fid_cntr* received;
    struct fid_cntr* written;
    fi_addr_t peer;
    struct fi_cq_tagged_entry entries[kEntries];
    size_t count;  /* entries */
    size_t errors; /* read with fi_cq_readerr */
    int error;     /* of the last one */
    void* error_context;
};

static struct fi_info* info;
static struct fid_fabric* fabric;
static struct fid_domain* domain;
static struct side a, b;
static struct fid_cntr* trigger;
static struct fid_cntr* done;
static struct fid_mr* region;
static uint64_t base; /* of the region, for the initiator */
static _Alignas(8) char from[LARGE], to[LARGE];
static _Alignas(8) char memory[kBytes]; /* the region */
static const char passed[8] = "passed", untagged[8] = "one", tagged_3[8] = "two";

static struct fi_info* wanted(void) {
    struct fi_info* hints = fi_allocinfo();
    struct fi_info* found = NULL;
    hints->ep_attr->type = FI_EP_RDM;
    hints->caps = FI_MSG | FI_TAGGED | FI_RMA | FI_ATOMIC | FI_TRIGGER | FI_RMA_EVENT;
    hints->domain_attr->mr_mode = FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_RMA_EVENT | FI_MR_LOCAL;
    hints->domain_attr->threading = FI_THREAD_SAFE;
    hints->domain_attr->data_progress = automatic ? FI_PROGRESS_AUTO : FI_PROGRESS_UNSPEC;
    hints->tx_attr->msg_order = FI_ORDER_SAS;
    hints->fabric_attr->prov_name = strdup(provider);
    hints->mode = FI_CONTEXT | FI_CONTEXT2;
    const int result =
        fi_getinfo(FI_VERSION(1, 17), strcmp(provider, "shm") ? "127.0.0.1" : NULL, NULL, 0, hints, &found);
    fi_freeinfo(hints);
    return result ? NULL : found;
}

static struct fid_cntr* open_counter(void) {
    struct fi_cntr_attr attr = {.events = FI_CNTR_EVENTS_COMP, .wait_obj = FI_WAIT_UNSPEC};
    struct fid_cntr* counter;
    DO(fi_cntr_open(domain, &attr, &counter, NULL));
    return counter;
}

static void open_side(struct side* side) {
    struct fi_cq_attr cq = {.size = 4096, .format = FI_CQ_FORMAT_TAGGED};
    struct fi_av_attr av = {.type = FI_AV_TABLE};
    DO(fi_endpoint(domain, info, &side->ep, NULL));
    DO(fi_cq_open(domain, &cq, &side->cq, NULL));
    DO(fi_av_open(domain, &av, &side->av, NULL));
    side->sent = open_counter();
    side->received = open_counter();
    side->written = open_counter();
    DO(fi_ep_bind(side->ep, &side->cq->fid, FI_TRANSMIT | FI_RECV));
    DO(fi_ep_bind(side->ep, &side->av->fid, 0));
    DO(fi_ep_bind(side->ep, &side->sent->fid, FI_SEND));
    DO(fi_ep_bind(side->ep, &side->received->fid, FI_RECV));
    DO(fi_ep_bind(side->ep, &side->written->fid, FI_WRITE | FI_READ));
    DO(fi_enable(side->ep));
}

static void insert(struct side* side, const struct side* peer) {
    char name[256];
    size_t length = sizeof name;
    DO(fi_getname(&peer->ep->fid, name, &length));
    EXPECT(fi_av_insert(side->av, name, 1, &side->peer, 0, NULL) == 1);
}

static void open_all(void) {
    info = wanted();
    EXPECT(info);
    DO(fi_fabric(info->fabric_attr, &fabric, NULL));
    DO(fi_domain(fabric, info, &domain, NULL));
    trigger = open_counter();
    done = open_counter();
    open_side(&a);
    open_side(&b);
    insert(&a, &b);
    insert(&b, &a);
    DO(fi_mr_reg(domain, memory, sizeof memory, FI_REMOTE_READ | FI_REMOTE_WRITE, 0, 7, 0, &region, NULL));
    if (info->domain_attr->mr_mode & FI_MR_VIRT_ADDR) base = (uint64_t)(uintptr_t)memory;
}

static void read_side(struct side* side) {
    struct fi_cq_err_entry error = {0};
    ssize_t got;
    while ((got = fi_cq_read(side->cq, &side->entries[side->count], 1)) == 1) {
        if (side->count + 1 < kEntries) ++side->count;
    }
    if (got != -FI_EAVAIL || fi_cq_readerr(side->cq, &error, 0) != 1) return;
    ++side->errors;
    side->error = entry_error = error.err;
    side->error_context = error.op_context;
}
static void move(void) {
    read_side(&a);
    read_side(&b);
}
static void let_pass(void) {
    const double end = now() + 0.05;
    while (now() < end) move();
}

static struct iovec range = {from, 8};
static struct iovec receive_range = {to, 8};
static struct fi_rma_iov target = {.len = 8};
static struct fi_ioc operand = {from, 1}, result = {to, 1}, comparand = {from + 64, 1};
static struct fi_rma_ioc atomic_target = {.count = 1};

static struct fi_triggered_context2 at(size_t threshold) {
    struct fi_triggered_context2 context = {.event_type = FI_TRIGGER_THRESHOLD};
    context.trigger.threshold.cntr = trigger;
    context.trigger.threshold.threshold = threshold;
    return context;
}
static struct fi_msg message_of(struct iovec* ranges, size_t count, fi_addr_t address, void* context) {
    const struct fi_msg message = {.msg_iov = ranges, .iov_count = count, .addr = address, .context = context};
    return message;
}
static ssize_t send_at(struct fi_triggered_context2* context, uint64_t flags) {
    const struct fi_msg message = message_of(&range, 1, a.peer, context);
    return fi_sendmsg(a.ep, &message, flags | FI_TRIGGER);
}
static void post(size_t count) {
    for (size_t i = 0; i < count; ++i) DO(fi_recv(b.ep, to + 8 * i, 8, NULL, FI_ADDR_UNSPEC, to + 8 * i));
}
static struct fi_msg_rma rma_message(void* context) {
    target.addr = base;
    target.key = fi_mr_key(region);
    const struct fi_msg_rma message = {
        .msg_iov = &range, .iov_count = 1, .addr = a.peer, .rma_iov = &target, .rma_iov_count = 1, .context = context};
    return message;
}
static struct fi_msg_atomic atomic_message(enum fi_op op, void* context) {
    atomic_target.addr = base;
    atomic_target.key = fi_mr_key(region);
    const struct fi_msg_atomic message = {.msg_iov = &operand,
                                          .iov_count = 1,
                                          .addr = a.peer,
                                          .rma_iov = &atomic_target,
                                          .rma_iov_count = 1,
                                          .datatype = FI_UINT64,
                                          .op = op,
                                          .context = context};
    return message;
}
static uint64_t* word(char* bytes) { return (uint64_t*)(void*)bytes; }

/* With FI_TRIGGER. */

static void send_waits(void) {
    struct fi_triggered_context2 context = at(2);
    post(1);
    strcpy(from, "early");
    DO(send_at(&context, FI_COMPLETION));
    DO(fi_cntr_add(trigger, 1));
    let_pass();
    EXPECT(a.count == 0 && b.count == 0);
    strcpy(from, "late"); /* the buffer is not read before */
    DO(fi_cntr_add(trigger, 1));
    AWAIT(a.count == 1 && b.count == 1);
    EXPECT(strcmp(to, "late") == 0);
    EXPECT(a.entries[0].op_context == &context && (a.entries[0].flags & FI_SEND));
    AWAIT(fi_cntr_read(a.sent) == 1);
}
static void send_starts_at_once(void) {
    struct fi_triggered_context2 context = at(3);
    post(1);
    DO(fi_cntr_set(trigger, 5));
    DO(send_at(&context, 0));
    AWAIT(b.count == 1 && fi_cntr_read(a.sent) == 1);
}
static void thresholds_are_the_order(void) {
    static const size_t thresholds[] = {3, 1, 2, 3, 1};
    static const char expected[] = "BECAD";
    struct fi_triggered_context2 contexts[5];
    struct iovec ranges[5];
    post(5);
    for (size_t i = 0; i < 5; ++i) {
        contexts[i] = at(thresholds[i]);
        from[8 * i] = (char)('A' + i);
        ranges[i].iov_base = from + 8 * i;
        ranges[i].iov_len = 8;
        const struct fi_msg message = message_of(&ranges[i], 1, a.peer, &contexts[i]);
        DO(fi_sendmsg(a.ep, &message, FI_TRIGGER));
    }
    DO(fi_cntr_add(trigger, 3));
    AWAIT(b.count == 5);
    for (size_t i = 0; i < 5; ++i) EXPECT(to[8 * i] == expected[i]);
}
static void tagged_send_waits(void) {
    struct fi_triggered_context2 context = at(1);
    const struct fi_msg_tagged message = {
        .msg_iov = &range, .iov_count = 1, .addr = a.peer, .tag = 9, .context = &context};
    DO(fi_trecv(b.ep, to, 8, NULL, FI_ADDR_UNSPEC, 9, 0, NULL));
    DO(fi_tsendmsg(a.ep, &message, FI_TRIGGER));
    let_pass();
    EXPECT(b.count == 0);
    DO(fi_cntr_add(trigger, 1));
    AWAIT(b.count == 1);
    EXPECT(b.entries[0].tag == 9);
}
static void receives_wait(void) {
    struct fi_triggered_context2 contexts[2] = {at(1), at(2)};
    const struct fi_msg message = message_of(&receive_range, 1, FI_ADDR_UNSPEC, &contexts[0]);
    const struct fi_msg_tagged tagged = {
        .msg_iov = &receive_range, .iov_count = 1, .addr = FI_ADDR_UNSPEC, .tag = 4, .context = &contexts[1]};
    DO(fi_recvmsg(b.ep, &message, FI_TRIGGER));
    DO(fi_trecvmsg(b.ep, &tagged, FI_TRIGGER));
    DO(fi_send(a.ep, from, 8, NULL, a.peer, NULL));
    DO(fi_tsend(a.ep, from, 8, NULL, a.peer, 4, NULL));
    let_pass();
    EXPECT(b.count == 0);
    DO(fi_cntr_add(trigger, 1));
    AWAIT(b.count == 1);
    EXPECT(b.entries[0].op_context == &contexts[0] && (b.entries[0].flags & FI_MSG));
    DO(fi_cntr_add(trigger, 1));
    AWAIT(b.count == 2);
    EXPECT(b.entries[1].op_context == &contexts[1] && (b.entries[1].flags & FI_TAGGED));
}
static void write_and_read_wait(void) {
    struct fi_triggered_context2 contexts[2] = {at(1), at(2)};
    const struct fi_msg_rma write = rma_message(&contexts[0]), read = rma_message(&contexts[1]);
    *word(from) = 11;
    DO(fi_writemsg(a.ep, &write, FI_TRIGGER | FI_DELIVERY_COMPLETE));
    DO(fi_readmsg(a.ep, &read, FI_TRIGGER));
    let_pass();
    EXPECT(*word(memory) == 0);
    DO(fi_cntr_add(trigger, 1));
    AWAIT(a.count == 1);
    EXPECT(*word(memory) == 11);
    *word(memory) = 12;
    DO(fi_cntr_add(trigger, 1));
    AWAIT(a.count == 2);
    EXPECT(*word(from) == 12);
    AWAIT(fi_cntr_read(a.written) == 2);
}
static void atomics_wait(void) {
    struct fi_triggered_context2 contexts[3] = {at(1), at(2), at(3)};
    const struct fi_msg_atomic add = atomic_message(FI_SUM, &contexts[0]), fetch = atomic_message(FI_SUM, &contexts[1]),
                               swap = atomic_message(FI_CSWAP, &contexts[2]);
    *word(from) = 5;
    *word(from + 64) = 11;
    *word(memory) = 1;
    DO(fi_atomicmsg(a.ep, &add, FI_TRIGGER | FI_DELIVERY_COMPLETE));
    DO(fi_fetch_atomicmsg(a.ep, &fetch, &result, NULL, 1, FI_TRIGGER));
    DO(fi_compare_atomicmsg(a.ep, &swap, &comparand, NULL, 1, &result, NULL, 1, FI_TRIGGER));
    let_pass();
    EXPECT(*word(memory) == 1);
    DO(fi_cntr_add(trigger, 1));
    AWAIT(a.count == 1);
    EXPECT(*word(memory) == 6);
    DO(fi_cntr_add(trigger, 1));
    AWAIT(a.count == 2);
    EXPECT(*word(to) == 6 && *word(memory) == 11);
    DO(fi_cntr_add(trigger, 1));
    AWAIT(a.count == 3);
    EXPECT(*word(to) == 11 && *word(memory) == 5);
}
static void a_receive_sets_off_a_send(void) {
    struct fi_triggered_context2 context = at(1);
    context.trigger.threshold.cntr = a.received;
    DO(fi_recv(a.ep, from, 8, NULL, FI_ADDR_UNSPEC, NULL));
    post(1);
    DO(send_at(&context, 0));
    DO(fi_send(b.ep, passed, sizeof passed, NULL, b.peer, NULL));
    AWAIT(b.count == 2);
    EXPECT(strcmp(to, "passed") == 0);
}
static void vectors_are_copied(void) {
    struct fi_triggered_context2 context = at(1);
    struct iovec ranges[2] = {{from, 4}, {from + 100, 4}};
    const struct fi_msg message = message_of(ranges, 2, a.peer, &context);
    post(1);
    memcpy(from, "left", 4);
    memcpy(from + 100, "right", 4);
    DO(fi_sendmsg(a.ep, &message, FI_TRIGGER));
    memset(ranges, 0, sizeof ranges);
    DO(fi_cntr_add(trigger, 1));
    AWAIT(b.count == 1);
    EXPECT(memcmp(to, "leftrigh", 8) == 0);
}
static void a_long_message_waits(void) {
    struct fi_triggered_context2 context = at(1);
    struct iovec all = {from, LARGE};
    const struct fi_msg message = message_of(&all, 1, a.peer, &context);
    DO(fi_recv(b.ep, to, LARGE, NULL, FI_ADDR_UNSPEC, NULL));
    DO(fi_sendmsg(a.ep, &message, FI_TRIGGER));
    memset(from, 42, LARGE);
    DO(fi_cntr_add(trigger, 1));
    AWAIT(a.count == 1 && b.count == 1);
    EXPECT(memcmp(from, to, LARGE) == 0);
}
static void a_waiting_send_is_cancelled(void) {
    struct fi_triggered_context2 contexts[2] = {at(1), at(1)};
    post(2);
    DO(send_at(&contexts[0], 0));
    DO(send_at(&contexts[1], 0));
    DO(fi_cancel(&a.ep->fid, &contexts[0]));
    AWAIT(a.errors == 1);
    EXPECT(a.error == FI_ECANCELED && a.error_context == &contexts[0]);
    DO(fi_cntr_add(trigger, 1));
    AWAIT(b.count == 1);
    let_pass();
    EXPECT(b.count == 1);
}
static void errors_set_off_no_send(void) {
    struct fi_triggered_context2 context = at(1);
    post(1);
    DO(send_at(&context, 0));
    DO(fi_cntr_adderr(trigger, 1));
    let_pass();
    EXPECT(b.count == 0);
    DO(fi_cntr_add(trigger, 1));
    AWAIT(b.count == 1);
}
static void accelerators_are_refused(void) {
    struct fi_triggered_context2 context = {.event_type = FI_TRIGGER_XPU};
    EXPECT(send_at(&context, 0) == -FI_ENOSYS);
}
static void an_endpoint_is_closed(void) {
    struct fi_triggered_context2 context = at(1);
    DO(send_at(&context, 0));
    DO(fi_close(&a.ep->fid));
    DO(fi_cntr_add(trigger, 1));
    read_side(&b);
    EXPECT(b.count == 0);
    DO(fi_close(&trigger->fid));
}

/* More than the transmit context takes: what is due waits for room, and keeps its order. */
static void more_is_due_than_there_is_room_for(void) {
    struct fi_triggered_context2* contexts = calloc(kMany, sizeof *contexts);
    struct iovec* ranges = calloc(kMany, sizeof *ranges);
    EXPECT(info->tx_attr->size < kMany);
    post(kMany);
    for (size_t i = 0; i < kMany; ++i) {
        contexts[i] = at(1);
        *word(from + 8 * i) = i;
        ranges[i].iov_base = from + 8 * i;
        ranges[i].iov_len = 8;
        const struct fi_msg message = message_of(&ranges[i], 1, a.peer, &contexts[i]);
        DO(fi_sendmsg(a.ep, &message, FI_TRIGGER));
    }
    DO(fi_cntr_add(trigger, 1));
    AWAIT(fi_cntr_read(b.received) == kMany && fi_cntr_read(a.sent) == kMany);
    for (size_t i = 0; i < kMany; ++i) EXPECT(*word(to + 8 * i) == i);
    free(contexts);
    free(ranges);
}

/* Deferred. */

static struct fi_deferred_work work_for(enum fi_op_type type, void* operation, uint64_t threshold) {
    struct fi_deferred_work work = {.threshold = threshold, .triggering_cntr = trigger, .op_type = type};
    work.op.msg = operation;
    if (type != FI_OP_CNTR_SET && type != FI_OP_CNTR_ADD) work.completion_cntr = done;
    return work;
}
/* Completions name the work, as a provider may require it: Debian's sockets takes no other context. */
static int queue(struct fi_deferred_work* work) {
    switch (work->op_type) {
        case FI_OP_SEND:
        case FI_OP_RECV:
            work->op.msg->msg.context = &work->context;
            break;
        case FI_OP_TSEND:
        case FI_OP_TRECV:
            work->op.tagged->msg.context = &work->context;
            break;
        case FI_OP_READ:
        case FI_OP_WRITE:
            work->op.rma->msg.context = &work->context;
            break;
        case FI_OP_ATOMIC:
        case FI_OP_FETCH_ATOMIC:
        case FI_OP_COMPARE_ATOMIC: /* all three begin alike */
            work->op.atomic->msg.context = &work->context;
            break;
        default:
            break;
    }
    return fi_control(&domain->fid, FI_QUEUE_WORK, work);
}

/* Nothing tells of an operation but the completion counter, unless it was asked for. */
static void deferred_send(uint64_t flags) {
    struct fi_op_msg operation = {.ep = a.ep, .msg = message_of(&range, 1, a.peer, NULL), .flags = flags};
    struct fi_deferred_work work = work_for(FI_OP_SEND, &operation, 2);
    const size_t entries = flags & FI_COMPLETION ? 1 : 0;
    post(1);
    DO(queue(&work));
    DO(fi_cntr_add(trigger, 1));
    let_pass();
    EXPECT(b.count == 0);
    DO(fi_cntr_add(trigger, 1));
    AWAIT(b.count == 1 && fi_cntr_read(done) == 1);
    let_pass();
    EXPECT(a.count == entries && fi_cntr_read(a.sent) == 0 && fi_cntr_readerr(done) == 0);
    if (entries) EXPECT(a.entries[0].op_context == &work.context && (a.entries[0].flags & FI_SEND));
}
static void deferred_send_is_silent(void) { deferred_send(0); }
static void deferred_send_completes(void) { deferred_send(FI_COMPLETION); }
static void deferred_send_is_due_at_once(void) {
    struct fi_op_msg operation = {.ep = a.ep, .msg = message_of(&range, 1, a.peer, NULL)};
    struct fi_deferred_work work = work_for(FI_OP_SEND, &operation, 2);
    post(1);
    DO(fi_cntr_add(trigger, 2));
    DO(queue(&work));
    AWAIT(b.count == 1 && fi_cntr_read(done) == 1);
}
static void deferred_tagged_send(void) {
    struct fi_op_tagged operation = {.ep = a.ep, .msg = {.msg_iov = &range, .iov_count = 1, .addr = a.peer, .tag = 3}};
    struct fi_deferred_work work = work_for(FI_OP_TSEND, &operation, 1);
    DO(fi_trecv(b.ep, to, 8, NULL, FI_ADDR_UNSPEC, 3, 0, NULL));
    DO(queue(&work));
    DO(fi_cntr_add(trigger, 1));
    AWAIT(b.count == 1 && fi_cntr_read(done) == 1);
    EXPECT(a.count == 0);
}
static void deferred_receives(void) {
    struct fi_op_msg operation = {.ep = b.ep, .msg = message_of(&receive_range, 1, FI_ADDR_UNSPEC, NULL)};
    struct fi_op_tagged tagged = {.ep = b.ep,
                                  .flags = FI_COMPLETION,
                                  .msg = {.msg_iov = &receive_range, .iov_count = 1, .addr = FI_ADDR_UNSPEC, .tag = 3}};
    struct fi_deferred_work first = work_for(FI_OP_RECV, &operation, 1), second = work_for(FI_OP_TRECV, &tagged, 2);
    DO(queue(&first));
    DO(queue(&second));
    DO(fi_send(a.ep, untagged, sizeof untagged, NULL, a.peer, NULL));
    DO(fi_tsend(a.ep, tagged_3, sizeof tagged_3, NULL, a.peer, 3, NULL));
    let_pass();
    EXPECT(fi_cntr_read(done) == 0 && *to == 0);
    DO(fi_cntr_add(trigger, 1));
    AWAIT(fi_cntr_read(done) == 1);
    EXPECT(strcmp(to, "one") == 0 && b.count == 0);
    DO(fi_cntr_add(trigger, 1));
    AWAIT(fi_cntr_read(done) == 2 && b.count == 1);
    EXPECT(strcmp(to, "two") == 0 && b.entries[0].op_context == &second.context && fi_cntr_read(b.received) == 0);
}
static void deferred_write_and_read(void) {
    struct fi_op_rma write = {.ep = a.ep, .msg = rma_message(NULL), .flags = FI_DELIVERY_COMPLETE};
    struct fi_op_rma read = {.ep = a.ep, .msg = rma_message(NULL), .flags = FI_COMPLETION};
    struct fi_deferred_work first = work_for(FI_OP_WRITE, &write, 1), second = work_for(FI_OP_READ, &read, 2);
    *word(from) = 21;
    DO(queue(&first));
    DO(queue(&second));
    let_pass();
    EXPECT(*word(memory) == 0);
    DO(fi_cntr_add(trigger, 1));
    AWAIT(fi_cntr_read(done) == 1);
    EXPECT(*word(memory) == 21 && a.count == 0);
    *word(memory) = 22;
    DO(fi_cntr_add(trigger, 1));
    AWAIT(fi_cntr_read(done) == 2 && a.count == 1);
    EXPECT(*word(from) == 22 && a.entries[0].op_context == &second.context && fi_cntr_read(a.written) == 0);
}
static void deferred_atomics(void) {
    struct fi_op_atomic add = {.ep = a.ep, .msg = atomic_message(FI_SUM, NULL), .flags = FI_DELIVERY_COMPLETE};
    struct fi_op_fetch_atomic fetch = {.ep = a.ep, .msg = atomic_message(FI_SUM, NULL), .fetch = {&result, NULL, 1}};
    struct fi_op_compare_atomic swap = {.ep = a.ep,
                                        .msg = atomic_message(FI_CSWAP, NULL),
                                        .fetch = {&result, NULL, 1},
                                        .compare = {&comparand, NULL, 1}};
    struct fi_deferred_work works[3] = {work_for(FI_OP_ATOMIC, &add, 1), work_for(FI_OP_FETCH_ATOMIC, &fetch, 2),
                                        work_for(FI_OP_COMPARE_ATOMIC, &swap, 3)};
    *word(from) = 5;
    *word(from + 64) = 11;
    *word(memory) = 1;
    for (int i = 0; i < 3; ++i) DO(queue(&works[i]));
    DO(fi_cntr_add(trigger, 1));
    AWAIT(fi_cntr_read(done) == 1);
    EXPECT(*word(memory) == 6);
    DO(fi_cntr_add(trigger, 1));
    AWAIT(fi_cntr_read(done) == 2);
    EXPECT(*word(to) == 6 && *word(memory) == 11);
    DO(fi_cntr_add(trigger, 1));
    AWAIT(fi_cntr_read(done) == 3);
    EXPECT(*word(to) == 11 && *word(memory) == 5 && a.count == 0);
}
static void counters_are_set_and_added_to(void) {
    struct fi_op_cntr set = {done, 40}, add = {done, 2};
    struct fi_deferred_work first = work_for(FI_OP_CNTR_SET, &set, 1), second = work_for(FI_OP_CNTR_ADD, &add, 2);
    DO(queue(&second));
    DO(queue(&first));
    let_pass();
    EXPECT(fi_cntr_read(done) == 0);
    DO(fi_cntr_add(trigger, 2));
    AWAIT(fi_cntr_read(done) == 42);
}
static void a_chain_of_counters(void) {
    struct fi_op_cntr add = {trigger, 1};
    static struct fi_deferred_work works[kChain];
    for (int i = 0; i < kChain; ++i) {
        works[i] = work_for(FI_OP_CNTR_ADD, &add, (uint64_t)i + 1);
        DO(queue(&works[i]));
    }
    DO(fi_cntr_add(trigger, 1));
    AWAIT(fi_cntr_read(trigger) == kChain + 1);
}
static void a_chain_of_transfers(void) { /* a receive sets off a send, whose completion sets off the next one */
    struct fi_op_msg first = {.ep = a.ep, .msg = message_of(&range, 1, a.peer, NULL)}, second = first;
    struct fi_deferred_work works[2] = {work_for(FI_OP_SEND, &first, 1), work_for(FI_OP_SEND, &second, 1)};
    works[0].triggering_cntr = a.received;
    works[1].triggering_cntr = done;
    works[1].completion_cntr = trigger;
    post(2);
    DO(fi_recv(a.ep, from, 8, NULL, FI_ADDR_UNSPEC, NULL));
    DO(queue(&works[0]));
    DO(queue(&works[1]));
    DO(fi_send(b.ep, passed, sizeof passed, NULL, b.peer, NULL));
    AWAIT(b.count == 3 && fi_cntr_read(trigger) == 1);
    EXPECT(strcmp(to, "passed") == 0 && strcmp(to + 8, "passed") == 0);
}
static void a_wait_is_for_all_of_it(void) { /* nothing but fi_cntr_wait makes progress */
    struct fi_op_msg send = {.ep = a.ep, .msg = message_of(&range, 1, a.peer, NULL)};
    struct fi_deferred_work work = work_for(FI_OP_SEND, &send, 1);
    struct fi_op_msg receive = {.ep = b.ep, .msg = message_of(&receive_range, 1, FI_ADDR_UNSPEC, NULL)};
    struct fi_deferred_work first = work_for(FI_OP_RECV, &receive, 0);
    work.triggering_cntr = b.received;
    post(1);
    DO(queue(&work));
    DO(queue(&first));
    DO(fi_send(a.ep, "set off", 8, NULL, a.peer, NULL));
    DO(fi_cntr_wait(done, 2, 4000));
}
static void errors_set_off_deferred_work(void) {
    struct fi_op_cntr add = {done, 1};
    struct fi_deferred_work work = work_for(FI_OP_CNTR_ADD, &add, 3);
    DO(queue(&work));
    DO(fi_cntr_add(trigger, 2));
    let_pass();
    EXPECT(fi_cntr_read(done) == 0);
    DO(fi_cntr_adderr(trigger, 1));
    AWAIT(fi_cntr_read(done) == 1);
}
static void a_failure_counts_as_an_error(void) {
    struct fi_op_rma write = {.ep = a.ep, .msg = rma_message(NULL)};
    struct fi_deferred_work work = work_for(FI_OP_WRITE, &write, 1);
    target.key += 1000;
    DO(queue(&work));
    DO(fi_cntr_add(trigger, 1));
    AWAIT(fi_cntr_readerr(done) == 1);
    EXPECT(fi_cntr_read(done) == 0);
    AWAIT(a.errors == 1);
    EXPECT(a.error_context == &work.context && fi_cntr_readerr(a.written) == 0);
}
static void work_is_cancelled(void) {
    struct fi_op_msg operation = {.ep = a.ep, .msg = message_of(&range, 1, a.peer, NULL)};
    struct fi_deferred_work works[2] = {work_for(FI_OP_SEND, &operation, 1), work_for(FI_OP_SEND, &operation, 1)};
    post(2);
    DO(queue(&works[0]));
    DO(queue(&works[1]));
    DO(fi_control(&domain->fid, FI_CANCEL_WORK, &works[0]));
    EXPECT(fi_control(&domain->fid, FI_CANCEL_WORK, &works[0]) < 0);
    DO(fi_cntr_add(trigger, 1));
    AWAIT(b.count == 1 && fi_cntr_read(done) == 1);
    let_pass();
    EXPECT(b.count == 1 && fi_cntr_read(done) == 1 && fi_cntr_readerr(done) == 0);
}
static void all_work_is_flushed(void) {
    struct fi_op_msg operation = {.ep = a.ep, .msg = message_of(&range, 1, a.peer, NULL)};
    struct fi_op_cntr add = {done, 1};
    struct fi_deferred_work works[2] = {work_for(FI_OP_SEND, &operation, 1), work_for(FI_OP_CNTR_ADD, &add, 2)};
    post(1);
    DO(queue(&works[0]));
    DO(queue(&works[1]));
    DO(fi_control(&domain->fid, FI_FLUSH_WORK, NULL));
    DO(fi_cntr_add(trigger, 2));
    let_pass();
    EXPECT(b.count == 0 && fi_cntr_read(done) == 0);
}
static void objects_are_closed_under_work(void) {
    struct fi_op_msg operation = {.ep = a.ep, .msg = message_of(&range, 1, a.peer, NULL)};
    struct fi_op_cntr add = {done, 1};
    struct fi_deferred_work works[2] = {work_for(FI_OP_SEND, &operation, 1), work_for(FI_OP_CNTR_ADD, &add, 1)};
    DO(queue(&works[0]));
    DO(fi_close(&a.ep->fid));
    DO(queue(&works[1]));
    EXPECT(fi_close(&trigger->fid) == -FI_EBUSY && fi_close(&done->fid) == -FI_EBUSY);
    DO(fi_control(&domain->fid, FI_CANCEL_WORK, &works[1]));
    DO(fi_close(&trigger->fid));
    DO(fi_close(&done->fid));
}
static void bad_work_is_refused(void) {
    struct fi_op_msg operation = {.ep = a.ep, .msg = message_of(&range, 1, a.peer, NULL)};
    struct fi_op_cntr add = {done, 1};
    struct fi_deferred_work none = work_for(FI_OP_SEND, &operation, 1), two = work_for(FI_OP_CNTR_ADD, &add, 1);
    none.triggering_cntr = NULL;
    EXPECT(queue(&none) == -FI_EINVAL);
    two.completion_cntr = done;
    EXPECT(queue(&two) == -FI_EINVAL);
    two = work_for((enum fi_op_type)77, &add, 1);
    EXPECT(queue(&two) < 0);
}

/* Some threads queue work, others move the counter that it waits for, and all of it is done. */
static void* adds(void* unused) {
    for (int i = 0; i < kAdds; ++i) DO(fi_cntr_add(trigger, 1));
    return unused;
}
static struct fi_op_cntr add_one = {.value = 1}; /* to `done` */
static void* queues(void* unused) {              /* returns the work: it is the application's until it is done */
    (void)unused;
    struct fi_deferred_work* works = calloc(kAdds, sizeof *works);
    for (int i = 0; i < kAdds; ++i) {
        works[i] = work_for(FI_OP_CNTR_ADD, &add_one, (uint64_t)i * kThreads);
        DO(queue(&works[i]));
    }
    return works;
}
static void* sends(void* contexts) {
    struct fi_triggered_context2* context = contexts;
    for (int i = 0; i < kAdds; ++i) {
        context[i] = at((size_t)i * kThreads);
        const struct fi_msg message = message_of(&range, 1, a.peer, &context[i]);
        ssize_t got;
        while ((got = fi_sendmsg(a.ep, &message, FI_TRIGGER)) == -FI_EAGAIN) usleep(10);
        DO(got);
    }
    return NULL;
}
static void threads_share_it(void) {
    pthread_t threads[2 * kThreads + 1];
    struct fi_triggered_context2* contexts = calloc(kAdds, sizeof *contexts);
    add_one.cntr = done;
    for (int i = 0; i < kAdds; ++i) DO(fi_recv(b.ep, to, 8, NULL, FI_ADDR_UNSPEC, NULL));
    for (int i = 0; i < kThreads; ++i) pthread_create(&threads[i], NULL, adds, NULL);
    for (int i = 0; i < kThreads; ++i) pthread_create(&threads[kThreads + i], NULL, queues, NULL);
    pthread_create(&threads[2 * kThreads], NULL, sends, contexts);
    AWAIT(fi_cntr_read(done) == kThreads * kAdds && fi_cntr_read(b.received) == kAdds && fi_cntr_read(a.sent) == kAdds);
    for (int i = 0; i < 2 * kThreads + 1; ++i) {
        void* works;
        pthread_join(threads[i], &works);
        free(works);
    }
    free(contexts);
}

static const struct check checks[] = {
    {"a send waits for its counter, and its buffer is not read before", send_waits},
    {"a send whose threshold is reached starts at once", send_starts_at_once},
    {"thresholds, then the order of posting, are the order", thresholds_are_the_order},
    {"a tagged send waits", tagged_send_waits},
    {"receives wait", receives_wait},
    {"a write and a read wait", write_and_read_wait},
    {"atomics wait", atomics_wait},
    {"a receive sets off a send", a_receive_sets_off_a_send},
    {"the vectors of a call are copied", vectors_are_copied},
    {"a long message waits", a_long_message_waits},
    {"a send that waits is cancelled", a_waiting_send_is_cancelled},
    {"errors of a counter set off no send", errors_set_off_no_send},
    {"a trigger of an accelerator is refused", accelerators_are_refused},
    {"an endpoint is closed while a send waits", an_endpoint_is_closed},
    {"more is due than there is room for", more_is_due_than_there_is_room_for},
    {"of a deferred send the completion counter alone tells", deferred_send_is_silent},
    {"a deferred send has an entry if that is asked for", deferred_send_completes},
    {"a deferred send whose threshold is reached starts at once", deferred_send_is_due_at_once},
    {"a tagged send is deferred", deferred_tagged_send},
    {"receives are deferred", deferred_receives},
    {"a write and a read are deferred", deferred_write_and_read},
    {"atomics are deferred", deferred_atomics},
    {"a counter is set, and added to, in order", counters_are_set_and_added_to},
    {"counters make a long chain", a_chain_of_counters},
    {"transfers make a chain", a_chain_of_transfers},
    {"waiting for the last counter moves all that leads to it", a_wait_is_for_all_of_it},
    {"errors of a counter set off deferred work", errors_set_off_deferred_work},
    {"deferred work that fails is an error of its counter", a_failure_counts_as_an_error},
    {"deferred work is cancelled", work_is_cancelled},
    {"all deferred work is flushed", all_work_is_flushed},
    {"objects are closed while work names them", objects_are_closed_under_work},
    {"work that cannot be is refused", bad_work_is_refused},
    {"threads share counters and work", threads_share_it},
};

int main(int argc, char** argv) {
    const int status = begin_checks(argc, argv, "does not offer FI_TRIGGER");
    return status ? status : run_checks(checks, sizeof checks / sizeof *checks, open_all);
}
