#include "conformance/runtime/group.h"

static void note_join(struct member* x, int64_t* fact, int early) {
    struct fi_eq_entry entry = {0};
    struct fi_eq_err_entry error = {0};
    uint32_t event = 0;
    const ssize_t n = fi_eq_read(x->eq, &event, &entry, sizeof entry, 0);

    if (n == -FI_EAVAIL && fi_eq_readerr(x->eq, &error, 0) > 0) fact[JOIN_ERROR] = error.err ? error.err : FI_EOTHER;
    if (n < 0 || event != FI_JOIN_COMPLETE) return;
    fact[JOINED]++;
    fact[JOINED_EARLY] += early;
    fact[JOIN_FID] = x->mc && entry.fid == &x->mc->fid;
    fact[JOIN_CONTEXT] = entry.context == x->context[0];
}

static void note_message(struct member* x, int64_t* fact, fi_addr_t source) {
    fact[SOURCE] = (int64_t)source;
    fact[MESSAGES]++;
    fact[MESSAGE] = (int64_t)x->message[1];
}

static void note_error(struct group* g, struct member* x, int64_t* fact, int early) {
    union {
        struct fi_cq_err_entry entry;
        unsigned char newer[512];
    } e = {.newer = {0}};

    if (fi_cq_readerr(x->cq, &e.entry, 0) < 0) return;
    fact[ERROR] = e.entry.err;
    if (e.entry.op_context == x->context[3]) {
        const struct member* const sender = &g->member[0];

        fact[SOURCE_KNOWN] = e.entry.err_data && e.entry.err_data_size >= sender->name_length &&
                             memcmp(e.entry.err_data, sender->name, sender->name_length) == 0;
        note_message(x, fact, FI_ADDR_NOTAVAIL);
        return;
    }
    fact[ERRORS]++;
    fact[EARLY] += early;
}

static void note_entries(struct group* g, struct member* x, int64_t* fact, int early) {
    struct fi_cq_msg_entry entry = {0};
    fi_addr_t source = FI_ADDR_NOTAVAIL;
    const ssize_t n = fi_cq_readfrom(x->cq, &entry, 1, &source);

    if (n == -FI_EAVAIL) note_error(g, x, fact, early);
    if (n != 1) return;
    if (entry.op_context == x->context[3]) note_message(x, fact, source);
    if (entry.op_context != x->context[1]) return;
    fact[ENTRIES]++;
    fact[EARLY] += early;
}

void poll_group(struct group* g, struct group_round* r, int early) {
    int m;

    for (m = 0; m < MEMBERS; m++) {
        struct member* const x = &g->member[m];

        if (x->eq) note_join(x, r->fact[m], early);
        if (x->cq) note_entries(g, x, r->fact[m], early);
    }
    if (g->sender.cq) fi_cq_read(g->sender.cq, NULL, 0);
    if (g->script->looked) g->script->looked();
}

int64_t millis_now(void) {
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

int64_t millis_of(const struct group* g) {
    return g->script->available_millis ? g->script->available_millis() : millis_now();
}

/* A process that is seldom run has looked as often as any other before something is missing.  What has not come at once
   is waited for without a processor. */
enum { LOOKS_A_MILLI = 5, LOOKS_IN_A_ROW = 2000, NAP_NANOS = 100000, SHARE_OF_HASTE = 8 };

void wait_group(struct group* g, struct group_round* r, int early, int millis,
                int (*done)(const struct group*, const struct group_round*)) {
    static const struct timespec nap = {0, NAP_NANOS};
    const int patience = g->script->hasty ? millis / SHARE_OF_HASTE : millis;
    const int64_t until = millis_of(g) + patience;
    int looks = 0;

    do {
        poll_group(g, r, early);
        if (++looks > LOOKS_IN_A_ROW) nanosleep(&nap, NULL);
    } while (!(done && done(g, r)) && (looks < LOOKS_A_MILLI * patience || millis_of(g) < until));
    if (done) poll_group(g, r, early); /* an entry too many stands behind the others */
}

int all_have_messages(const struct group* g, const struct group_round* r) {
    int m;

    for (m = g->script->act == NAMED_CONTEXTS ? 0 : 1; m < g->script->members; m++)
        if (r->fact[m][MESSAGES] == 0) return 0;
    return 1;
}
