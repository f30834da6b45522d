#include "conformance/runtime/group.h"

enum { SENT_TO_GROUP = 200, TIMES = 20, JOIN_MILLIS = 1000, GROUP_MILLIS = 100 };

/* One that no other run uses. */
static struct sockaddr_in group_address(void) {
    const uint32_t own = (uint32_t)getpid();
    struct sockaddr_in out = {.sin_family = AF_INET};

    out.sin_port = htons((uint16_t)(20000 + own % 10000));
    out.sin_addr.s_addr = htonl(0xefff0000 | (own & 0xffff));
    return out;
}

/* Where a provider takes a group to be an address alone, its datagrams arrive at the port of the endpoint. */
int open_at_port_of_group(struct group* g, int m) {
    struct sockaddr_in* const source = g->info->src_addr;
    const in_port_t port = source ? source->sin_port : 0;
    int opened;

    if (source && m == 1) source->sin_port = group_address().sin_port;
    opened = open_member(g, &g->member[m], 0);
    if (source) source->sin_port = port;
    return opened;
}

static int all_are_in(const struct group* g, const struct group_round* r) {
    int m;

    for (m = 0; m < g->script->members; m++)
        if (r->fact[m][JOINED] == 0) return 0;
    return 1;
}

static int join(struct group* g, struct group_round* r, int m) {
    const struct sockaddr_in address = group_address();
    struct member* const x = &g->member[m];

    r->fact[m][RETURNED] = fi_recv(x->ep, &x->message[1], sizeof x->message[1], NULL, FI_ADDR_UNSPEC, x->context[3]);
    r->fact[m][JOIN_RETURNED] = fi_join(x->ep, &address, 0, &x->mc, x->context[0]);
    g->seen->doing++;
    if (r->fact[m][JOIN_RETURNED]) x->mc = NULL;
    return x->mc != NULL;
}

/* The first sends to all; datagrams may be lost. */
static void send_to_group(struct group* g, struct group_round* r) {
    struct member* const x = &g->member[0];
    const struct iovec piece = {&x->message[0], sizeof x->message[0]};
    const struct fi_msg msg = {&piece, NULL, 1, fi_mc_addr(x->mc), x->context[1], 0};
    int times;

    x->message[0] = SENT_TO_GROUP;
    for (times = 0; times < TIMES && !all_have_messages(g, r); times++) {
        r->fact[0][SEND_RETURNED] = fi_sendmsg(x->ep, &msg, FI_MULTICAST);
        g->seen->doing++;
        r->posted = 1;
        if (r->fact[0][SEND_RETURNED] && r->fact[0][SEND_RETURNED] != -FI_EAGAIN) return;
        wait_group(g, r, 0, GROUP_MILLIS, all_have_messages);
    }
}

void run_multicast(struct group* g) {
    struct group_round* const r = &g->seen->round[1];
    int m, joined = 1;

    r->began = 1;
    for (m = 0; m < g->script->members; m++) joined = join(g, r, m) && joined;
    if (!joined) return;
    wait_group(g, r, 0, JOIN_MILLIS, all_are_in);
    if (all_are_in(g, r)) send_to_group(g, r);
}
