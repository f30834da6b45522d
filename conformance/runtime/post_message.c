#include "conformance/runtime/runtime.h"

int64_t post_message(struct side* s, const struct operation* o, struct arguments* a) {
    const fi_addr_t from = o->source == SELF ? s->self : o->source == PEER ? s->peer : FI_ADDR_UNSPEC;
    const fi_addr_t to = o->call < RECV ? s->peer : from;

    name_pieces(s, o, a);
    name_trigger(s, o);
    const struct fi_msg msg = {a->iov, a->desc, a->count, to, o->context, o->data};
    switch (o->call) {
        case SEND:
            return fi_send(s->ep, o->buffer, o->length, a->desc[0], s->peer, o->context);
        case SENDV:
            return fi_sendv(s->ep, a->iov, a->desc, a->count, s->peer, o->context);
        case SENDMSG:
            return fi_sendmsg(s->ep, &msg, o->flags);
        case INJECT:
            return fi_inject(s->ep, o->buffer, o->length, s->peer);
        case SENDDATA:
            return fi_senddata(s->ep, o->buffer, o->length, a->desc[0], o->data, s->peer, o->context);
        case INJECTDATA:
            return fi_injectdata(s->ep, o->buffer, o->length, o->data, s->peer);
        case RECV:
            return fi_recv(s->ep, o->buffer, o->length, a->desc[0], from, o->context);
        case RECVV:
            return fi_recvv(s->ep, a->iov, a->desc, a->count, from, o->context);
        case RECVMSG:
            return fi_recvmsg(s->ep, &msg, o->flags);
        default:
            return -FI_EINVAL;
    }
}
