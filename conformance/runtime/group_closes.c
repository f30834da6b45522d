#include "conformance/runtime/group.h"

static void close_events(struct group* g) {
    struct member* const x = &g->member[0];
    struct fi_eq_attr attr = {.wait_obj = FI_WAIT_NONE};
    struct fid_eq* eq = NULL;

    if (!opened(g, fi_eq_open(g->fabric, &attr, &eq, NULL), &eq)) return;
    if (!opened(g, fi_endpoint(g->domain, g->info, &x->ep, NULL), &x->ep)) return;
    if (fi_ep_bind(x->ep, &eq->fid, 0) != 0) return;
    begin_call(g);
    note_close(g, fi_close(&eq->fid));
}

static void close_poll_set(struct group* g) {
    struct fi_cq_attr attr = {.format = FI_CQ_FORMAT_MSG, .wait_obj = FI_WAIT_NONE, .size = 16};
    struct fi_poll_attr poll_attr = {0};
    struct fid_cq* cq = NULL;
    struct fid_poll* set = NULL;

    if (!opened(g, fi_cq_open(g->domain, &attr, &cq, NULL), &cq)) return;
    if (fi_poll_open(g->domain, &poll_attr, &set) != 0 || fi_poll_add(set, &cq->fid, 0) != 0) return;
    begin_call(g);
    note_close(g, fi_close(&set->fid));
    if (g->objects == 0) return;
    fi_poll_del(set, &cq->fid, 0);
    fi_close(&set->fid);
}

static void close_wait_set(struct group* g) {
    struct fi_wait_attr set_attr = {.wait_obj = FI_WAIT_UNSPEC};
    struct fi_cq_attr attr = {.format = FI_CQ_FORMAT_MSG, .wait_obj = FI_WAIT_SET, .size = 16};
    struct fid_cq* cq = NULL;
    struct fid_wait* set = NULL;

    if (!opened(g, fi_wait_open(g->fabric, &set_attr, &set), &set)) return;
    attr.wait_set = set;
    if (!opened(g, fi_cq_open(g->domain, &attr, &cq, NULL), &cq)) return;
    begin_call(g);
    note_close(g, fi_close(&set->fid));
}

/* A counter, and a region that is bound to it. */
static int open_bound(struct group* g, uint64_t key, struct fid_cntr** cntr, struct fid_mr** mr) {
    static unsigned char buffer[4096];
    struct fi_cntr_attr attr = {.events = FI_CNTR_EVENTS_COMP};

    return opened(g, fi_cntr_open(g->domain, &attr, cntr, NULL), cntr) &&
           opened(g, fi_mr_reg(g->domain, buffer, sizeof buffer, FI_REMOTE_WRITE, 0, key, FI_RMA_EVENT, mr, NULL),
                  mr) &&
           fi_mr_bind(*mr, &(*cntr)->fid, FI_REMOTE_WRITE) == 0;
}

/* Of one pair the region is closed, of another the counter: one of both is refused. */
static void close_bound(struct group* g, int is_region) {
    struct fid_cntr* cntr[2] = {NULL, NULL};
    struct fid_mr* mr[2] = {NULL, NULL};
    int of_region, of_counter;

    if (!open_bound(g, 7, &cntr[0], &mr[0]) || !open_bound(g, 8, &cntr[1], &mr[1])) return;
    g->objects = 0; /* what is closed here is not closed again */
    begin_call(g);
    of_region = fi_close(&mr[0]->fid);
    of_counter = fi_close(&cntr[1]->fid);
    note_call(g, is_region ? of_region : of_counter, is_region ? of_counter : of_region);
}

void close_calls(struct group* g) {
    switch (g->script->call) {
        case CALL_CLOSE_EVENTS:
            close_events(g);
            break;
        case CALL_CLOSE_POLL_SET:
            close_poll_set(g);
            break;
        case CALL_CLOSE_WAIT_SET:
            close_wait_set(g);
            break;
        case CALL_CLOSE_REGION:
            close_bound(g, 1);
            break;
        case CALL_CLOSE_COUNTER:
            close_bound(g, 0);
            break;
        default:
            break;
    }
}
