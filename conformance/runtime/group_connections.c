#include "conformance/runtime/group.h"

enum { MORE_DATA = 100, MOST_DATA = 65536, BACKLOG = 4 };

static struct fid_pep* open_passive(struct group* g) {
    struct fid_pep* pep = NULL;

    if (g->info->ep_attr->type != FI_EP_MSG) return NULL;
    return opened(g, fi_passive_ep(g->fabric, g->info, &pep, NULL), &pep) ? pep : NULL;
}

static void listen_alone(struct group* g) {
    struct fid_pep* const pep = open_passive(g);

    if (!pep) return;
    begin_call(g);
    note_call(g, fi_listen(pep), 0);
}

static void set_backlog(struct group* g) {
    struct fid_pep* const pep = open_passive(g);
    int backlog = BACKLOG;

    if (!pep) return;
    begin_call(g);
    note_call(g, fi_control(&pep->fid, FI_BACKLOG, &backlog), 0);
}

static void connect_with_much(struct group* g) {
    static unsigned char data[MOST_DATA + MORE_DATA];
    struct member* const x = &g->member[0];
    struct fi_eq_attr attr = {.wait_obj = FI_WAIT_NONE};
    struct fid_eq* eq = NULL;
    struct fid_pep* pep;
    char name[GROUP_NAME];
    size_t length = sizeof name, room = 0, size = sizeof room;

    if (!opened(g, fi_eq_open(g->fabric, &attr, &eq, NULL), &eq)) return;
    pep = open_passive(g);
    if (!pep || fi_pep_bind(pep, &eq->fid, 0) != 0 || fi_listen(pep) != 0 || fi_getname(&pep->fid, name, &length) != 0)
        return;
    if (!open_alone(g, x, FI_TRANSMIT | FI_RECV) || fi_enable(x->ep) != 0) return;
    if (fi_getopt(&x->ep->fid, FI_OPT_ENDPOINT, FI_OPT_CM_DATA_SIZE, &room, &size) != 0 || room > MOST_DATA) return;
    begin_call(g);
    note_call(g, fi_connect(x->ep, name, data, room + MORE_DATA), (int64_t)room);
}

void connection_calls(struct group* g) {
    switch (g->script->call) {
        case CALL_LISTEN_ALONE:
            listen_alone(g);
            break;
        case CALL_BACKLOG:
            set_backlog(g);
            break;
        case CALL_LONG_CONNECT_DATA:
            connect_with_much(g);
            break;
        default:
            break;
    }
}
