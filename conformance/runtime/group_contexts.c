#include "conformance/runtime/group.h"

enum { BITS = 3, SENT_TO_CONTEXTS = 100, CONTEXTS_MILLIS = 3000 };

static int open_scalable(struct group* g) {
    struct fi_av_attr av = {.type = FI_AV_TABLE, .count = MEMBERS, .rx_ctx_bits = BITS};
    struct fi_cq_attr cq = {.format = FI_CQ_FORMAT_MSG, .wait_obj = FI_WAIT_NONE, .size = 64};
    struct member* const first = &g->member[0];

    first->name_length = sizeof first->name;
    if (!went_well(g, fi_scalable_ep(g->domain, g->info, &g->scalable, NULL), "fi_scalable_ep")) {
        g->scalable = NULL;
        return 0;
    }
    return went_well(g, fi_av_open(g->domain, &av, &g->av, NULL), "fi_av_open") &&
           went_well(g, fi_scalable_ep_bind(g->scalable, &g->av->fid, 0), "fi_scalable_ep_bind") &&
           went_well(g, fi_tx_context(g->scalable, 0, NULL, &g->transmit, NULL), "fi_tx_context") &&
           went_well(g, fi_cq_open(g->domain, &cq, &g->sender.cq, NULL), "fi_cq_open") &&
           went_well(g, fi_ep_bind(g->transmit, &g->sender.cq->fid, FI_TRANSMIT), "fi_ep_bind of a transmit context");
}

/* What the first call returned that failed. */
static int open_context(struct group* g, int m) {
    struct member* const x = &g->member[m];
    struct fi_cq_attr cq = {.format = FI_CQ_FORMAT_MSG, .wait_obj = FI_WAIT_NONE, .size = 64};
    int ret = fi_rx_context(g->scalable, m, NULL, &x->ep, NULL);

    g->seen->doing++;
    if (ret == 0) ret = fi_cq_open(g->domain, &cq, &x->cq, NULL);
    if (ret == 0) ret = fi_ep_bind(x->ep, &x->cq->fid, FI_RECV);
    if (ret == 0) ret = fi_enable(x->ep);
    if (ret == 0) ret = (int)fi_recv(x->ep, &x->message[1], sizeof x->message[1], NULL, FI_ADDR_UNSPEC, x->context[3]);
    return ret;
}

static int name_it(struct group* g) {
    struct member* const first = &g->member[0];

    return went_well(g, fi_enable(g->transmit), "fi_enable of a transmit context") &&
           went_well(g, fi_enable(g->scalable), "fi_enable of a scalable endpoint") &&
           went_well(g, fi_getname(&g->scalable->fid, first->name, &first->name_length), "fi_getname");
}

/* A plain endpoint has one context of each side. */
static int open_sender(struct group* g) {
    struct fi_ep_attr* const attr = g->info->ep_attr;
    const size_t transmits = attr->tx_ctx_cnt, receives = attr->rx_ctx_cnt;
    struct fid_cq* const shared = g->sender.cq;
    int opened;

    g->sender.cq = NULL;
    attr->tx_ctx_cnt = attr->rx_ctx_cnt = 1;
    opened = open_member(g, &g->sender, BITS);
    attr->tx_ctx_cnt = transmits;
    attr->rx_ctx_cnt = receives;
    if (shared) fi_close(&shared->fid);
    return opened && went_well(g, fi_av_insert(g->sender.av, g->member[0].name, 1, &g->sender.address[0], 0, NULL) - 1,
                               "fi_av_insert");
}

static void send_to(struct group* g, struct group_round* r, int m) {
    struct member *const from = &g->sender, *const to = &g->member[m];
    int tries = 0;

    to->message[0] = SENT_TO_CONTEXTS + (uint64_t)m;
    do {
        r->fact[m][SEND_RETURNED] = fi_send(from->ep, &to->message[0], sizeof to->message[0], NULL,
                                            fi_rx_addr(from->address[0], m, BITS), to->context[2]);
        if (r->fact[m][SEND_RETURNED] == -FI_EAGAIN) poll_group(g, r, 0);
    } while (r->fact[m][SEND_RETURNED] == -FI_EAGAIN && ++tries < 100000);
    g->seen->doing++;
}

void run_contexts(struct group* g) {
    struct group_round* const r = &g->seen->round[1];
    int m, failed = 0;

    if (!open_scalable(g)) return;
    r->began = 1;
    for (m = 0; m < g->script->members; m++) failed |= (r->fact[m][OPEN_RETURNED] = open_context(g, m)) != 0;
    if (failed || !name_it(g) || !open_sender(g)) return;
    for (m = g->script->members - 1; m >= 0; m--) send_to(g, r, m);
    r->posted = 1;
    wait_group(g, r, 0, CONTEXTS_MILLIS, all_have_messages);
}
