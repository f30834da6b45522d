#include "conformance/runtime/group.h"

int opened(struct group* g, int64_t ret, const void* object) {
    g->seen->doing++;
    if (ret == 0 && object && g->objects < OBJECTS) memcpy(&g->object[g->objects++], object, sizeof g->object[0]);
    return ret == 0;
}

void begin_call(struct group* g) {
    g->seen->round[1].began = 1;
    g->seen->doing++;
}

void note_call(struct group* g, int64_t returned, int64_t stored) {
    struct group_round* const r = &g->seen->round[1];

    r->fact[0][RETURNED] = returned;
    r->fact[0][STORED] = stored;
    r->posted = 1;
    g->seen->doing++;
}

void note_close(struct group* g, int64_t returned) {
    note_call(g, returned, 0);
    if (returned == 0) g->objects = 0;
}

int open_alone(struct group* g, struct member* x, uint64_t directions) {
    struct fi_cq_attr cq = {.format = FI_CQ_FORMAT_MSG, .wait_obj = FI_WAIT_NONE, .size = 256};
    struct fi_eq_attr eq = {.wait_obj = FI_WAIT_NONE};
    struct fi_av_attr av = {.count = MEMBERS};
    const int connects = g->info->ep_attr->type == FI_EP_MSG;

    if (!opened(g, fi_cq_open(g->domain, &cq, &x->cq, NULL), &x->cq)) return 0;
    if (connects && !opened(g, fi_eq_open(g->fabric, &eq, &x->eq, NULL), &x->eq)) return 0;
    if (!connects && !opened(g, fi_av_open(g->domain, &av, &x->av, NULL), &x->av)) return 0;
    if (!opened(g, fi_endpoint(g->domain, g->info, &x->ep, NULL), &x->ep)) return 0;
    return fi_ep_bind(x->ep, connects ? &x->eq->fid : &x->av->fid, 0) == 0 &&
           (directions == 0 || fi_ep_bind(x->ep, &x->cq->fid, directions) == 0);
}

int open_named(struct group* g, struct member* x) {
    x->name_length = sizeof x->name;
    return open_alone(g, x, FI_TRANSMIT | FI_RECV) && fi_enable(x->ep) == 0 &&
           fi_getname(&x->ep->fid, x->name, &x->name_length) == 0;
}

void run_calls(struct group* g) {
    int m;

    wait_calls(g);
    close_calls(g);
    vector_calls(g);
    region_calls(g);
    endpoint_calls(g);
    connection_calls(g);
    for (m = 0; m < MEMBERS; m++) { /* close_group has them among the objects */
        struct member* const x = &g->member[m];

        x->ep = NULL;
        x->av = NULL;
        x->cq = NULL;
        x->eq = NULL;
    }
}
