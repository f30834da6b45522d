#include "conformance/runtime/runtime.h"

int64_t post_atomic(struct side* s, const struct operation* o, struct arguments* a) {
    const enum fi_datatype type = o->datatype;

    name_pieces(s, o, a);
    name_target(o, a);
    name_trigger(s, o);
    name_values(o, a);
    void* const desc = a->desc[0];
    const uint64_t at = a->rma_ioc[0].addr, key = a->rma_ioc[0].key;
    const struct fi_msg_atomic msg = {a->ioc,          a->desc, a->count, s->peer,    a->rma_ioc,
                                      a->target_count, type,    o->op,    o->context, o->data};

    switch (o->call) {
        case ATOMIC:
            return fi_atomic(s->ep, o->buffer, o->count, desc, s->peer, at, key, type, o->op, o->context);
        case ATOMICV:
            return fi_atomicv(s->ep, a->ioc, a->desc, a->count, s->peer, at, key, type, o->op, o->context);
        case ATOMICMSG:
            return fi_atomicmsg(s->ep, &msg, o->flags);
        case INJECT_ATOMIC:
            return fi_inject_atomic(s->ep, o->buffer, o->count, s->peer, at, key, type, o->op);
        case FETCH_ATOMIC:
            return fi_fetch_atomic(s->ep, o->buffer, o->count, desc, o->result, desc, s->peer, at, key, type, o->op,
                                   o->context);
        case FETCH_ATOMICV:
            return fi_fetch_atomicv(s->ep, a->ioc, a->desc, a->count, a->results, a->desc, a->count, s->peer, at, key,
                                    type, o->op, o->context);
        case FETCH_ATOMICMSG:
            return fi_fetch_atomicmsg(s->ep, &msg, a->results, a->desc, a->count, o->flags);
        case COMPARE_ATOMIC:
            return fi_compare_atomic(s->ep, o->buffer, o->count, desc, o->compare, desc, o->result, desc, s->peer, at,
                                     key, type, o->op, o->context);
        case COMPARE_ATOMICV:
            return fi_compare_atomicv(s->ep, a->ioc, a->desc, a->count, a->compares, a->desc, a->count, a->results,
                                      a->desc, a->count, s->peer, at, key, type, o->op, o->context);
        case COMPARE_ATOMICMSG:
            return fi_compare_atomicmsg(s->ep, &msg, a->compares, a->desc, a->count, a->results, a->desc, a->count,
                                        o->flags);
        default:
            return -FI_EINVAL;
    }
}
