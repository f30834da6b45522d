#include "conformance/runtime/group.h"

/* A case is over within ten seconds. */
enum { HURRIED_MILLIS = 3, PATIENT_MILLIS = 2000 };

uint64_t input_of(int m, size_t i) {
    if (i % 4 == 3) return ((uint64_t)m + i / 4) % 2;
    return ((uint64_t)m * 29 + i * 7 + 1) % 127;
}

size_t place_of(size_t k, size_t total) { return total <= VALUES ? k : k * total / VALUES; }

static size_t size_of(enum fi_datatype type) {
    switch (type) {
        case FI_UINT8:
            return 1;
        case FI_INT32:
        case FI_FLOAT:
            return 4;
        default:
            return 8;
    }
}

static void put_value(unsigned char* at, enum fi_datatype type, size_t i, uint64_t value) {
    const int32_t narrow = (int32_t)value;
    const float single = (float)value;
    const double wide = (double)value;

    at += i * size_of(type);
    switch (type) {
        case FI_UINT8:
            *at = (unsigned char)value;
            break;
        case FI_INT32:
            memcpy(at, &narrow, sizeof narrow);
            break;
        case FI_FLOAT:
            memcpy(at, &single, sizeof single);
            break;
        case FI_DOUBLE:
            memcpy(at, &wide, sizeof wide);
            break;
        default:
            memcpy(at, &value, sizeof value);
    }
}

/* Negative, broken or too large for the type: some number that is no result. */
static uint64_t whole(double value) { return value >= 0 && value < 1e15 ? (uint64_t)value : UINT64_MAX; }

static uint64_t value_at(const unsigned char* at, enum fi_datatype type, size_t i) {
    int32_t narrow;
    float single;
    double wide;
    uint64_t value;

    at += i * size_of(type);
    switch (type) {
        case FI_UINT8:
            return *at;
        case FI_INT32:
            memcpy(&narrow, at, sizeof narrow);
            return (uint64_t)narrow;
        case FI_FLOAT:
            memcpy(&single, at, sizeof single);
            return whole(single);
        case FI_DOUBLE:
            memcpy(&wide, at, sizeof wide);
            return whole(wide);
        default:
            memcpy(&value, at, sizeof value);
            return value;
    }
}

/* What a member gives: each element, for as many members as there are.  What it gets is something else before. */
static int fill(struct group* g, int m) {
    struct member* const x = &g->member[m];
    const enum fi_datatype type = g->script->datatype;
    const size_t most = g->script->count * MEMBERS + 1;
    size_t i;

    if (!x->from) x->from = malloc(most * 8);
    if (!x->to) x->to = malloc(most * 8);
    if (!x->from || !x->to) return 0;
    for (i = 0; i < most; i++) put_value(x->from, type, i, input_of(m, i));
    memset(x->to, 0x55, most * 8);
    return 1;
}

static int64_t post_collective(struct group* g, int m) {
    const struct group_script* const s = g->script;
    struct member* const x = &g->member[m];
    void* const context = x->context[1];
    const fi_addr_t root = x->address[s->root];

    g->seen->doing++;
    switch (s->operation) {
        case FI_BROADCAST:
            return fi_broadcast(x->ep, m == s->root ? x->from : x->to, s->count, NULL, x->group, root, s->datatype, 0,
                                context);
        case FI_ALLTOALL:
            return fi_alltoall(x->ep, x->from, s->count, NULL, x->to, NULL, x->group, s->datatype, 0, context);
        case FI_ALLREDUCE:
            return fi_allreduce(x->ep, x->from, s->count, NULL, x->to, NULL, x->group, s->datatype, s->op, 0, context);
        case FI_ALLGATHER:
            return fi_allgather(x->ep, x->from, s->count, NULL, x->to, NULL, x->group, s->datatype, 0, context);
        case FI_REDUCE_SCATTER:
            return fi_reduce_scatter(x->ep, x->from, s->count, NULL, x->to, NULL, x->group, s->datatype, s->op, 0,
                                     context);
        case FI_REDUCE:
            return fi_reduce(x->ep, x->from, s->count, NULL, x->to, NULL, x->group, root, s->datatype, s->op, 0,
                             context);
        case FI_SCATTER:
            return fi_scatter(x->ep, x->from, s->count, NULL, x->to, NULL, x->group, root, s->datatype, 0, context);
        case FI_GATHER:
            return fi_gather(x->ep, x->from, s->count, NULL, x->to, NULL, x->group, root, s->datatype, 0, context);
        default:
            return fi_barrier(x->ep, x->group, context);
    }
}

/* Elements of a member's result. */
static size_t result_total(const struct group* g) {
    const struct group_script* const s = g->script;
    const int many = s->operation == FI_ALLTOALL || s->operation == FI_ALLGATHER || s->operation == FI_GATHER;
    size_t joined = 0;
    int m;

    for (m = 0; m < s->members; m++) joined += g->member[m].mc != NULL;
    return many ? s->count * joined : s->count;
}

static int all_joined(const struct group* g, const struct group_round* r) {
    int m;

    for (m = 0; m < g->script->members; m++)
        if (g->member[m].mc && !r->fact[m][JOINED]) return 0;
    return 1;
}

static int all_complete(const struct group* g, const struct group_round* r) {
    int m;

    for (m = 0; m < g->script->members; m++)
        if (g->member[m].mc && r->fact[m][ENTRIES] + r->fact[m][ERRORS] == 0) return 0;
    return 1;
}

static void join_member(struct group* g, struct group_round* r, int m) {
    struct member* const x = &g->member[m];
    fi_addr_t address = FI_ADDR_NOTAVAIL;

    r->fact[m][ADDR_RETURNED] = fi_av_set_addr(x->set, &address);
    if (r->fact[m][ADDR_RETURNED]) return;
    g->seen->doing++;
    r->fact[m][JOIN_RETURNED] = fi_join_collective(x->ep, address, x->set, 0, &x->mc, x->context[0]);
    if (r->fact[m][JOIN_RETURNED]) x->mc = NULL;
}

static int may_go_on(const struct group_round* r, enum group_fact fact, int members) {
    int m;

    for (m = 0; m < members; m++)
        if (r->fact[m][fact]) return 0;
    return 1;
}

/* Each member in `joins` but the late one, which comes behind them. */
static int join_all(struct group* g, struct group_round* r, unsigned joins) {
    const struct group_script* const s = g->script;
    int m;

    for (m = 0; m < s->members; m++)
        if (joins >> m & 1 && m != s->late) join_member(g, r, m);
    if (s->late >= 0 && joins >> s->late & 1) {
        wait_group(g, r, 1, HURRIED_MILLIS, NULL);
        join_member(g, r, s->late);
    }
    if (!may_go_on(r, ADDR_RETURNED, s->members) || !may_go_on(r, JOIN_RETURNED, s->members)) return 0;
    wait_group(g, r, 0, PATIENT_MILLIS, all_joined);
    for (m = 0; m < s->members; m++) {
        if (!g->member[m].mc) continue;
        g->member[m].group = fi_mc_addr(g->member[m].mc);
        r->fact[m][GROUP_ADDRESS] = g->member[m].group != FI_ADDR_NOTAVAIL;
    }
    return all_joined(g, r);
}

static void post_member(struct group* g, struct group_round* r, int m) {
    int tries = 0;

    do {
        r->fact[m][RETURNED] = post_collective(g, m);
        if (r->fact[m][RETURNED] == -FI_EAGAIN) poll_group(g, r, 0);
    } while (r->fact[m][RETURNED] == -FI_EAGAIN && ++tries < 100000);
}

static void operate(struct group* g, struct group_round* r) {
    const struct group_script* const s = g->script;
    const size_t total = result_total(g);
    size_t k;
    int m;

    for (m = 0; m < s->members; m++)
        if (g->member[m].mc && m != s->late) post_member(g, r, m);
    if (s->late >= 0 && g->member[s->late].mc) {
        if (may_go_on(r, RETURNED, s->members)) wait_group(g, r, 1, HURRIED_MILLIS, NULL);
        post_member(g, r, s->late);
    }
    r->posted = 1;
    if (may_go_on(r, RETURNED, s->members)) wait_group(g, r, 0, PATIENT_MILLIS, all_complete);
    for (m = 0; m < s->members; m++)
        for (k = 0; k < VALUES && k < total; k++)
            r->value[m][k] = value_at(g->member[m].to, s->datatype, place_of(k, total));
}

int run_collective(struct group* g, int round, enum set_recipe recipe, unsigned joins) {
    const struct group_script* const s = g->script;
    struct group_round* const r = &g->seen->round[round];
    struct fi_collective_attr attr = {.op = s->op, .datatype = s->datatype};
    int m, complete = 0;

    r->began = 1;
    for (m = 0; m < s->members; m++) {
        r->fact[m][QUERY_RETURNED] = fi_query_collective(g->domain, s->operation, &attr, 0);
        if (!fill(g, m)) return 0;
        if (joins >> m & 1) r->fact[m][SET_RETURNED] = make_set(g, m, recipe);
    }
    if (may_go_on(r, SET_RETURNED, s->members) && join_all(g, r, joins)) {
        operate(g, r);
        complete = may_go_on(r, RETURNED, s->members) && may_go_on(r, ERRORS, s->members) && all_complete(g, r);
    }
    for (m = 0; m < s->members; m++) {
        struct member* const x = &g->member[m];

        if (x->mc) r->fact[m][CLOSED] = fi_close(&x->mc->fid);
        if (x->set) fi_close(&x->set->fid);
        x->mc = NULL;
        x->set = NULL;
    }
    return complete;
}
