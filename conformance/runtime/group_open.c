#include "conformance/runtime/group.h"

int went_well(struct group* g, int64_t ret, const char* call) {
    g->seen->doing++;
    if (ret != 0 && !g->seen->failed) {
        g->seen->failed = call;
        g->seen->ret = ret;
    }
    return ret == 0;
}

int open_member(struct group* g, struct member* x, int rx_ctx_bits) {
    struct fi_cq_attr cq = {.format = FI_CQ_FORMAT_MSG, .wait_obj = FI_WAIT_NONE, .size = 256};
    struct fi_eq_attr eq = {.wait_obj = FI_WAIT_NONE};
    struct fi_av_attr av = {.type = FI_AV_TABLE, .count = MEMBERS, .rx_ctx_bits = rx_ctx_bits};

    x->name_length = sizeof x->name;
    return went_well(g, fi_eq_open(g->fabric, &eq, &x->eq, NULL), "fi_eq_open") &&
           went_well(g, fi_cq_open(g->domain, &cq, &x->cq, NULL), "fi_cq_open") &&
           went_well(g, fi_av_open(g->domain, &av, &x->av, NULL), "fi_av_open") &&
           went_well(g, fi_endpoint(g->domain, g->info, &x->ep, NULL), "fi_endpoint") &&
           went_well(g, fi_ep_bind(x->ep, &x->eq->fid, 0), "fi_ep_bind of an event queue") &&
           went_well(g, fi_ep_bind(x->ep, &x->cq->fid, FI_TRANSMIT | FI_RECV), "fi_ep_bind of a completion queue") &&
           went_well(g, fi_ep_bind(x->ep, &x->av->fid, 0), "fi_ep_bind of an address vector") &&
           went_well(g, fi_enable(x->ep), "fi_enable") &&
           went_well(g, fi_getname(&x->ep->fid, x->name, &x->name_length), "fi_getname");
}

static int know_each_other(struct group* g) {
    int m, n;

    for (m = 0; m < g->script->members; m++)
        for (n = 0; n < g->script->members; n++)
            if (!went_well(g,
                           fi_av_insert(g->member[m].av, g->member[n].name, 1, &g->member[m].address[n], 0, NULL) - 1,
                           "fi_av_insert"))
                return 0;
    return 1;
}

int open_group(struct group* g) {
    int m;

    if (!went_well(g, fi_domain(g->fabric, g->info, &g->domain, NULL), "fi_domain")) return 0;
    if (g->script->act == NAMED_CONTEXTS || g->script->act == OTHER_KEYS || g->script->act == CALLS) return 1;
    for (m = 0; m < g->script->members; m++)
        if (!(g->script->act == MULTICAST ? open_at_port_of_group(g, m) : open_member(g, &g->member[m], 0))) return 0;
    return g->script->act == UNKNOWN_SENDER || g->script->act == USER_IDS || know_each_other(g);
}

static void* shut(void* object) {
    if (object) fi_close(object);
    return NULL;
}

static void close_queues_of(struct member* x) {
    x->av = shut(x->av);
    x->cq = shut(x->cq);
    x->eq = shut(x->eq);
    free(x->from);
    free(x->to);
}

void close_group(struct group* g) {
    int m;

    while (g->objects > 0) fi_close(g->object[--g->objects]);
    for (m = 0; m < MEMBERS; m++) {
        struct member* const x = &g->member[m];

        x->mc = shut(x->mc);
        x->ep = shut(x->ep);
        x->set = shut(x->set);
    }
    g->transmit = shut(g->transmit);
    g->scalable = shut(g->scalable);
    g->av = shut(g->av);
    g->sender.ep = shut(g->sender.ep);
    for (m = 0; m < MEMBERS; m++) close_queues_of(&g->member[m]);
    close_queues_of(&g->sender);
    g->domain = shut(g->domain);
    g->other = shut(g->other);
}
