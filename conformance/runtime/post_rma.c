#include "conformance/runtime/runtime.h"

int64_t post_rma(struct side* s, const struct operation* o, struct arguments* a) {
    name_pieces(s, o, a);
    name_target(o, a);
    name_trigger(s, o);
    const uint64_t at = a->rma_iov[0].addr, key = a->rma_iov[0].key;
    const struct fi_msg_rma msg = {a->iov,     a->desc,         a->count,   s->peer,
                                   a->rma_iov, a->target_count, o->context, o->data};

    switch (o->call) {
        case WRITE:
            return fi_write(s->ep, o->buffer, o->length, a->desc[0], s->peer, at, key, o->context);
        case WRITEV:
            return fi_writev(s->ep, a->iov, a->desc, a->count, s->peer, at, key, o->context);
        case WRITEMSG:
            return fi_writemsg(s->ep, &msg, o->flags);
        case INJECT_WRITE:
            return fi_inject_write(s->ep, o->buffer, o->length, s->peer, at, key);
        case WRITEDATA:
            return fi_writedata(s->ep, o->buffer, o->length, a->desc[0], o->data, s->peer, at, key, o->context);
        case INJECT_WRITEDATA:
            return fi_inject_writedata(s->ep, o->buffer, o->length, o->data, s->peer, at, key);
        case READ:
            return fi_read(s->ep, o->buffer, o->length, a->desc[0], s->peer, at, key, o->context);
        case READV:
            return fi_readv(s->ep, a->iov, a->desc, a->count, s->peer, at, key, o->context);
        case READMSG:
            return fi_readmsg(s->ep, &msg, o->flags);
        default:
            return -FI_EINVAL;
    }
}
