#include "conformance/runtime/runtime.h"

int works(struct side* s, int64_t ret, const char* call) {
    s->outcome.ret = ret;
    s->outcome.call = ret != 0 ? call : NULL;
    return ret == 0;
}

void add_defaults(struct fi_info* info, const struct setup* setup) {
    info->tx_attr->op_flags |= setup->transmit_flags;
    info->rx_attr->op_flags |= setup->receive_flags;
}

static int open_queue(struct side* s, int transmits, uint64_t flags) {
    struct fi_cq_attr attr = {.format = s->setup->format,
                              .wait_obj = FI_WAIT_NONE,
                              .size = s->setup->queue_size ? s->setup->queue_size : 256};

    return works(s, fi_cq_open(s->in->domain, &attr, &s->queue[transmits], NULL), "fi_cq_open") &&
           works(s, fi_ep_bind(s->ep, &s->queue[transmits]->fid, flags), "fi_ep_bind of a completion queue");
}

static int open_counters(struct side* s) {
    static const uint64_t counted[BOUND] = {FI_SEND, FI_RECV, FI_READ, FI_WRITE, FI_REMOTE_READ, FI_REMOTE_WRITE};
    struct fi_cntr_attr attr = {.events = FI_CNTR_EVENTS_COMP, .wait_obj = FI_WAIT_NONE};
    const uint64_t caps = s->in->info->caps;
    int i;

    for (i = 0; i < BOUND; i++) {
        if (!(caps & (i < 2 ? FI_MSG | FI_TAGGED : FI_RMA | FI_ATOMIC)) || (i >= 4 && !(caps & FI_RMA_EVENT))) continue;
        if (!works(s, fi_cntr_open(s->in->domain, &attr, &s->counter[i], NULL), "fi_cntr_open") ||
            !works(s, fi_ep_bind(s->ep, &s->counter[i]->fid, counted[i]),
                   i < 4 ? "fi_ep_bind of a counter" : "fi_ep_bind of a counter of remote operations"))
            return 0;
    }
    return 1;
}

static int bind_addresses(struct side* s, const struct fi_info* info) {
    struct fi_av_attr attr = {.type = info->domain_attr->av_type ? info->domain_attr->av_type : FI_AV_MAP, .count = 8};

    if (info->ep_attr->type == FI_EP_MSG)
        return works(s, fi_ep_bind(s->ep, &s->eq->fid, 0), "fi_ep_bind of an event queue");
    return works(s, fi_av_open(s->in->domain, &attr, &s->av, NULL), "fi_av_open") &&
           works(s, fi_ep_bind(s->ep, &s->av->fid, 0), "fi_ep_bind of an address vector");
}

int open_endpoint(struct side* s, struct fi_info* info) {
    size_t least = s->setup->min_multi_recv;

    return works(s, fi_endpoint(s->in->domain, info, &s->ep, NULL), "fi_endpoint") &&
           open_queue(s, 0, FI_RECV | s->setup->receive_selective) &&
           open_queue(s, 1, FI_TRANSMIT | s->setup->transmit_selective) && (!s->setup->counters || open_counters(s)) &&
           (!least || works(s, fi_setopt(&s->ep->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &least, sizeof least),
                            "fi_setopt")) &&
           bind_addresses(s, info) && works(s, fi_enable(s->ep), "fi_enable");
}

static int listen_for_peer(struct side* s) {
    struct fi_eq_attr eq = {.wait_obj = FI_WAIT_NONE};
    size_t size = sizeof s->name;

    return works(s, fi_eq_open(s->in->fabric, &eq, &s->listening, NULL), "fi_eq_open") &&
           works(s, fi_passive_ep(s->in->fabric, s->in->info, &s->pep, NULL), "fi_passive_ep") &&
           works(s, fi_pep_bind(s->pep, &s->listening->fid, 0), "fi_pep_bind") &&
           works(s, fi_listen(s->pep), "fi_listen") &&
           works(s, fi_getname(&s->pep->fid, s->name, &size), "fi_getname of a passive endpoint");
}

struct outcome open_side(struct side* s, int listens) {
    struct fi_eq_attr eq = {.wait_obj = FI_WAIT_NONE};
    size_t size = sizeof s->name;

    s->peer = s->self = FI_ADDR_UNSPEC;
    if (s->in->info->ep_attr->type != FI_EP_MSG) {
        if (open_endpoint(s, s->in->info)) works(s, fi_getname(&s->ep->fid, s->name, &size), "fi_getname");
    } else if (works(s, fi_eq_open(s->in->fabric, &eq, &s->eq, NULL), "fi_eq_open")) {
        if (listens)
            listen_for_peer(s);
        else
            open_endpoint(s, s->in->info);
    }
    return s->outcome;
}
