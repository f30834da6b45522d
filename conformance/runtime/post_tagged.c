#include "conformance/runtime/runtime.h"

int64_t post_tagged(struct side* s, const struct operation* o, struct arguments* a) {
    const fi_addr_t from = o->source == SELF ? s->self : o->source == PEER ? s->peer : FI_ADDR_UNSPEC;
    const fi_addr_t to = o->call < TRECV ? s->peer : from;

    name_pieces(s, o, a);
    name_trigger(s, o);
    struct fi_msg_tagged msg = {a->iov, a->desc, a->count, to, o->tag, o->ignore, o->context, o->data};
    switch (o->call) {
        case TSEND:
            return fi_tsend(s->ep, o->buffer, o->length, a->desc[0], s->peer, o->tag, o->context);
        case TSENDV:
            return fi_tsendv(s->ep, a->iov, a->desc, a->count, s->peer, o->tag, o->context);
        case TSENDMSG:
            return fi_tsendmsg(s->ep, &msg, o->flags);
        case TINJECT:
            return fi_tinject(s->ep, o->buffer, o->length, s->peer, o->tag);
        case TSENDDATA:
            return fi_tsenddata(s->ep, o->buffer, o->length, a->desc[0], o->data, s->peer, o->tag, o->context);
        case TINJECTDATA:
            return fi_tinjectdata(s->ep, o->buffer, o->length, o->data, s->peer, o->tag);
        case TRECV:
            return fi_trecv(s->ep, o->buffer, o->length, a->desc[0], from, o->tag, o->ignore, o->context);
        case TRECVV:
            return fi_trecvv(s->ep, a->iov, a->desc, a->count, from, o->tag, o->ignore, o->context);
        case TRECVMSG:
            /* A look may bring a copy of the data along, if it has a buffer. */
            if (o->flags & FI_DISCARD || (o->flags & FI_PEEK && o->length == 0)) {
                msg.msg_iov = NULL;
                msg.desc = NULL;
                msg.iov_count = 0;
            }
            return fi_trecvmsg(s->ep, &msg, o->flags);
        default:
            return -FI_EINVAL;
    }
}
