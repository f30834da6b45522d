#include "conformance/runtime/runtime.h"

static struct fid_cntr* completed_of(struct side* s) {
    struct fi_cntr_attr attr = {.events = FI_CNTR_EVENTS_COMP, .wait_obj = FI_WAIT_NONE};
    struct fid_cntr** const counter = &s->counter[COUNTERS - 1];

    if (!*counter && fi_cntr_open(s->in->domain, &attr, counter, NULL) != 0) *counter = NULL;
    return *counter;
}

static enum fi_op_type name_message(struct side* s, const struct operation* o, struct arguments* a) {
    const fi_addr_t from = o->source == SELF ? s->self : o->source == PEER ? s->peer : FI_ADDR_UNSPEC;
    const int sends = o->call == SENDMSG || o->call == TSENDMSG;
    const fi_addr_t to = sends ? s->peer : from;

    if (o->call == SENDMSG || o->call == RECVMSG) {
        a->work.msg = (struct fi_op_msg){s->ep, {a->iov, a->desc, a->count, to, o->context, o->data}, o->flags};
        return sends ? FI_OP_SEND : FI_OP_RECV;
    }
    a->work.tagged =
        (struct fi_op_tagged){s->ep, {a->iov, a->desc, a->count, to, o->tag, o->ignore, o->context, o->data}, o->flags};
    return sends ? FI_OP_TSEND : FI_OP_TRECV;
}

static enum fi_op_type name_access(struct side* s, const struct operation* o, struct arguments* a) {
    name_target(o, a);
    a->work.rma = (struct fi_op_rma){
        s->ep, {a->iov, a->desc, a->count, s->peer, a->rma_iov, a->target_count, o->context, o->data}, o->flags};
    return o->call == READMSG ? FI_OP_READ : FI_OP_WRITE;
}

static enum fi_op_type name_atomic(struct side* s, const struct operation* o, struct arguments* a) {
    const struct fi_msg_fetch fetch = {a->results, a->desc, a->count};
    const struct fi_msg_compare compare = {a->compares, a->desc, a->count};

    name_target(o, a);
    name_values(o, a);
    const struct fi_msg_atomic msg = {a->ioc,          a->desc,     a->count, s->peer,    a->rma_ioc,
                                      a->target_count, o->datatype, o->op,    o->context, o->data};
    switch (o->call) {
        case ATOMICMSG:
            a->work.atomic = (struct fi_op_atomic){s->ep, msg, o->flags};
            return FI_OP_ATOMIC;
        case FETCH_ATOMICMSG:
            a->work.fetch = (struct fi_op_fetch_atomic){s->ep, msg, fetch, o->flags};
            return FI_OP_FETCH_ATOMIC;
        default:
            a->work.compare = (struct fi_op_compare_atomic){s->ep, msg, fetch, compare, o->flags};
            return FI_OP_COMPARE_ATOMIC;
    }
}

static enum fi_op_type name_work(struct side* s, const struct operation* o, struct arguments* a) {
    if (o->call >= TRIGGER) {
        const uint64_t value = o->call == TRIGGER_SET ? s->triggered + o->count : o->count;

        a->work.cntr = (struct fi_op_cntr){s->trigger, value};
        return o->call == TRIGGER_SET ? FI_OP_CNTR_SET : FI_OP_CNTR_ADD;
    }
    name_pieces(s, o, a);
    if (o->call >= ATOMIC) return name_atomic(s, o, a);
    return o->call >= WRITE ? name_access(s, o, a) : name_message(s, o, a);
}

int64_t post_work(struct side* s, const struct operation* o, struct arguments* a) {
    struct fid* const domain = &s->in->domain->fid;
    struct fi_deferred_work* const work = o->context;
    struct fid_cntr* const completed = o->call < TRIGGER ? completed_of(s) : NULL;

    if (o->call == CANCEL_WORK) return fi_control(domain, FI_CANCEL_WORK, work);
    if (o->call == FLUSH_WORK) return fi_control(domain, FI_FLUSH_WORK, NULL);
    if (!trigger_of(s) || (o->call < TRIGGER && !completed)) return -FI_ENOSYS;
    *work = (struct fi_deferred_work){
        .threshold = s->triggered + o->threshold, .triggering_cntr = s->trigger, .completion_cntr = completed};
    work->op_type = name_work(s, o, a);
    work->op.msg = &a->work.msg; /* they are one union */
    return fi_control(domain, FI_QUEUE_WORK, work);
}
