#include <rdma/fi_trigger.h>

#include "conformance/runtime/group.h"

enum { SHORT_ADDRESS = 4, MOST_BUFFERS = 64, BUFFER = 8 };

/* What is noted as stored: 1 if the length is the whole one and the bytes that fit are those of the name. */
static void read_name_short(struct group* g) {
    struct member* const x = &g->member[0];
    unsigned char name[GROUP_NAME];
    size_t length = SHORT_ADDRESS;
    int ret;

    if (!open_named(g, x) || x->name_length <= SHORT_ADDRESS) return;
    memset(name, 0x55, sizeof name);
    begin_call(g);
    ret = fi_getname(&x->ep->fid, name, &length);
    note_call(g, ret, length == x->name_length && memcmp(name, x->name, SHORT_ADDRESS) == 0);
}

static void require_peer_to_peer(struct group* g) {
    struct member* const x = &g->member[0];
    int mode = FI_HMEM_P2P_REQUIRED;

    if (!open_alone(g, x, FI_TRANSMIT | FI_RECV)) return;
    begin_call(g);
    note_call(g, fi_setopt(&x->ep->fid, FI_OPT_ENDPOINT, FI_OPT_FI_HMEM_P2P, &mode, sizeof mode), 0);
}

static void count_trigger_variables(struct group* g) {
    struct member* const x = &g->member[0];
    struct fi_trigger_xpu xpu = {.count = 0, .iface = FI_HMEM_CUDA};
    size_t size = sizeof xpu;

    if (!open_alone(g, x, FI_TRANSMIT | FI_RECV)) return;
    begin_call(g);
    note_call(g, fi_getopt(&x->ep->fid, FI_OPT_ENDPOINT, FI_OPT_XPU_TRIGGER, &xpu, &size), 0);
}

static void read_operation_flags(struct group* g) {
    struct member* const x = &g->member[0];
    uint64_t flags = FI_TRANSMIT;

    if (!open_named(g, x)) return;
    begin_call(g);
    note_call(g, fi_control(&x->ep->fid, FI_GETOPSFLAG, &flags), (int64_t)flags);
}

static void enable_with(struct group* g, uint64_t directions) {
    struct member* const x = &g->member[0];

    if (!open_alone(g, x, directions)) return;
    begin_call(g);
    note_call(g, fi_enable(x->ep), 0);
}

static void bind_of_other_domain(struct group* g) {
    struct fi_cq_attr attr = {.format = FI_CQ_FORMAT_MSG, .wait_obj = FI_WAIT_NONE, .size = 16};
    struct member* const x = &g->member[0];
    struct fid_cq* cq = NULL;

    if (!opened(g, fi_domain(g->fabric, g->info, &g->other, NULL), NULL)) return;
    if (!opened(g, fi_cq_open(g->other, &attr, &cq, NULL), &cq) || !open_alone(g, x, 0)) return;
    begin_call(g);
    note_call(g, fi_ep_bind(x->ep, &cq->fid, FI_TRANSMIT), 0);
}

static void enable_unshared(struct group* g) {
    if (g->info->ep_attr->rx_ctx_cnt != FI_SHARED_CONTEXT) return;
    enable_with(g, FI_TRANSMIT | FI_RECV);
}

/* The contexts are opened ahead of the endpoint, and closed behind it. */
static void bind_second_shared(struct group* g) {
    struct member* const x = &g->member[0];
    struct fid_ep *first = NULL, *second = NULL;

    if (g->info->ep_attr->rx_ctx_cnt != FI_SHARED_CONTEXT) return;
    if (!opened(g, fi_srx_context(g->domain, g->info->rx_attr, &first, NULL), &first)) return;
    if (!opened(g, fi_srx_context(g->domain, g->info->rx_attr, &second, NULL), &second)) return;
    if (!open_alone(g, x, FI_TRANSMIT | FI_RECV) || fi_ep_bind(x->ep, &first->fid, 0) != 0) return;
    begin_call(g);
    note_call(g, fi_ep_bind(x->ep, &second->fid, 0), 0);
}

static void receive_into_many(struct group* g) {
    static unsigned char bytes[MOST_BUFFERS][BUFFER];
    struct member* const x = &g->member[0];
    const size_t limit = g->info->rx_attr->iov_limit;
    struct iovec iov[MOST_BUFFERS];
    size_t k;

    if (limit == 0 || limit >= MOST_BUFFERS || !open_named(g, x)) return;
    for (k = 0; k <= limit; k++) iov[k] = (struct iovec){.iov_base = bytes[k], .iov_len = BUFFER};
    if (fi_recvv(x->ep, iov, NULL, limit, FI_ADDR_UNSPEC, x->context[0]) != 0) return;
    begin_call(g);
    note_call(g, fi_recvv(x->ep, iov, NULL, limit + 1, FI_ADDR_UNSPEC, x->context[1]), 0);
}

void endpoint_calls(struct group* g) {
    switch (g->script->call) {
        case CALL_SHORT_NAME:
            read_name_short(g);
            break;
        case CALL_PEER_TO_PEER:
            require_peer_to_peer(g);
            break;
        case CALL_TRIGGER_VARIABLES:
            count_trigger_variables(g);
            break;
        case CALL_OPERATION_FLAGS:
            read_operation_flags(g);
            break;
        case CALL_ENABLE_TO_SEND:
            enable_with(g, FI_RECV);
            break;
        case CALL_ENABLE_TO_RECEIVE:
            enable_with(g, FI_TRANSMIT);
            break;
        case CALL_OTHER_DOMAIN:
            bind_of_other_domain(g);
            break;
        case CALL_SHARED_UNBOUND:
            enable_unshared(g);
            break;
        case CALL_SHARED_TWICE:
            bind_second_shared(g);
            break;
        case CALL_MANY_BUFFERS:
            receive_into_many(g);
            break;
        default:
            break;
    }
}
