#include "conformance/runtime/group.h"

enum { SENT_UNKNOWN = 300, SENT_KNOWN = 400, USER_ID = 0x5e1a, SENDER_MILLIS = 2000 };

void receive_at(struct group* g, struct group_round* r, int m) {
    struct member* const x = &g->member[m];

    r->fact[m][RETURNED] = fi_recv(x->ep, &x->message[1], sizeof x->message[1], NULL, FI_ADDR_UNSPEC, x->context[3]);
    g->seen->doing++;
}

void send_to_member(struct group* g, struct group_round* r, int m, uint64_t value) {
    struct member* const from = &g->member[0];
    int tries = 0;

    from->message[0] = value;
    do {
        r->fact[m][SEND_RETURNED] =
            fi_send(from->ep, &from->message[0], sizeof from->message[0], NULL, from->address[m], from->context[1]);
        if (r->fact[m][SEND_RETURNED] == -FI_EAGAIN) poll_group(g, r, 0);
    } while (r->fact[m][SEND_RETURNED] == -FI_EAGAIN && ++tries < 100000);
    g->seen->doing++;
}

static int insert_one(struct group* g, int m, int of, uint64_t flags) {
    struct member* const x = &g->member[m];

    return went_well(g, fi_av_insert(x->av, g->member[of].name, 1, &x->address[of], flags, NULL) - 1, "fi_av_insert");
}

/* The first sends to the second, which does not have its address. */
void run_unknown_sender(struct group* g) {
    struct group_round* const r = &g->seen->round[1];

    if (!insert_one(g, 0, 1, 0)) return;
    r->began = 1;
    receive_at(g, r, 1);
    send_to_member(g, r, 1, SENT_UNKNOWN);
    r->posted = 1;
    wait_group(g, r, 0, SENDER_MILLIS, all_have_messages);
}

/* The second has given the first's address an identifier. */
void run_user_ids(struct group* g) {
    struct group_round* const r = &g->seen->round[1];

    g->member[1].address[0] = USER_ID;
    if (!insert_one(g, 0, 1, 0) || !insert_one(g, 1, 0, FI_AV_USER_ID)) return;
    r->began = 1;
    receive_at(g, r, 1);
    send_to_member(g, r, 1, SENT_KNOWN);
    r->posted = 1;
    wait_group(g, r, 0, SENDER_MILLIS, all_have_messages);
}
