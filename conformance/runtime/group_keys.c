#include "conformance/runtime/group.h"

enum { SENT_TO_KEYS = 500, KEY_MILLIS = 2000, LATE_MILLIS = 50 };

static void change_key(uint8_t* key, size_t size) {
    size_t i;

    for (i = 0; key && i < size; i++) key[i] ^= 0x5a;
}

/* The second is in a domain of its own, with a key of its own; the others are in the first domain. */
static int open_both_domains(struct group* g) {
    struct fi_domain_attr* const domain = g->info->domain_attr;
    struct fi_ep_attr* const ep = g->info->ep_attr;
    struct fid_domain* const first = g->domain;
    int opened;

    change_key(domain->auth_key, domain->auth_key_size);
    change_key(ep->auth_key, ep->auth_key_size);
    opened = went_well(g, fi_domain(g->fabric, g->info, &g->other, NULL), "fi_domain with another key");
    g->domain = g->other;
    opened = opened && open_member(g, &g->member[1], 0);
    g->domain = first;
    change_key(domain->auth_key, domain->auth_key_size);
    change_key(ep->auth_key, ep->auth_key_size);
    return opened && open_member(g, &g->member[0], 0) && open_member(g, &g->member[2], 0);
}

static int third_has_message(const struct group* g, const struct group_round* r) {
    (void)g;
    return r->fact[2][MESSAGES] != 0;
}

void run_other_keys(struct group* g) {
    struct group_round* const r = &g->seen->round[1];
    struct member* const from = &g->member[0];
    int m;

    if (!open_both_domains(g)) return;
    for (m = 1; m < 3; m++)
        if (!went_well(g, fi_av_insert(from->av, g->member[m].name, 1, &from->address[m], 0, NULL) - 1, "fi_av_insert"))
            return;
    r->began = 1;
    for (m = 1; m < 3; m++) receive_at(g, r, m);
    for (m = 1; m < 3; m++) send_to_member(g, r, m, SENT_TO_KEYS);
    r->posted = 1;
    wait_group(g, r, 0, KEY_MILLIS, third_has_message);
    wait_group(g, r, 0, LATE_MILLIS, NULL);
}
