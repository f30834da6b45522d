#include "conformance/runtime/group.h"

enum { NAMED_MEMBERS = 4, SHORT_NAME = 4, NOT_WRITTEN = 0x5555, EVENT_MILLIS = 1000, SYMMETRIC = 4 };

/* Names of endpoints, one behind the other, of the length of the first. */
static int collect_names(struct group* g, char* names, int count) {
    int m;

    for (m = 0; m < count; m++) {
        struct member* const x = &g->member[m];

        if (!open_named(g, x) || x->name_length != g->member[0].name_length) return 0;
        memcpy(names + (size_t)m * x->name_length, x->name, x->name_length);
    }
    return 1;
}

static struct fid_av* open_vector(struct group* g, enum fi_av_type type, uint64_t flags, void* context) {
    struct fi_av_attr attr = {.type = type, .count = 16, .flags = flags};
    struct fid_av* av = NULL;

    return opened(g, fi_av_open(g->domain, &attr, &av, context), &av) ? av : NULL;
}

/* A plain vector takes the address: what another does with it is judged only then.  The name of an endpoint that is not
   connected need not be one that a vector takes. */
static int is_insertable(struct group* g, const struct member* x) {
    struct fid_av* const av = open_vector(g, FI_AV_UNSPEC, 0, NULL);
    fi_addr_t at = 0;

    return av && fi_av_insert(av, x->name, 1, &at, 0, NULL) == 1;
}

static void fill_gap(struct group* g) {
    char names[NAMED_MEMBERS * GROUP_NAME];
    fi_addr_t at[NAMED_MEMBERS] = {0}, last = FI_ADDR_NOTAVAIL;
    struct fid_av* av;
    int ret;

    if (!collect_names(g, names, NAMED_MEMBERS)) return;
    av = open_vector(g, FI_AV_TABLE, 0, NULL);
    if (!av || fi_av_insert(av, names, 3, at, 0, NULL) != 3 || fi_av_remove(av, &at[1], 1, 0) != 0) return;
    begin_call(g);
    ret = fi_av_insert(av, g->member[3].name, 1, &last, 0, NULL);
    note_call(g, ret, (int64_t)last);
}

static void look_up_short(struct group* g) {
    struct member* const x = &g->member[0];
    char name[GROUP_NAME];
    size_t length = SHORT_NAME;
    fi_addr_t at = 0;
    struct fid_av* av;
    int ret;

    if (!open_named(g, x) || x->name_length <= SHORT_NAME) return;
    av = open_vector(g, FI_AV_UNSPEC, 0, NULL);
    if (!av || fi_av_insert(av, x->name, 1, &at, 0, NULL) != 1) return;
    begin_call(g);
    ret = fi_av_lookup(av, at, name, &length);
    note_call(g, ret, (int64_t)length - (int64_t)x->name_length);
}

static void insert_with_status(struct group* g) {
    struct member* const x = &g->member[0];
    int status = NOT_WRITTEN;
    fi_addr_t at = 0;
    struct fid_av* av;
    int ret;

    if (!open_named(g, x) || !is_insertable(g, x)) return;
    av = open_vector(g, FI_AV_UNSPEC, 0, NULL);
    if (!av) return;
    begin_call(g);
    ret = fi_av_insert(av, x->name, 1, &at, FI_SYNC_ERR, &status);
    note_call(g, ret == 1 ? 0 : ret, status); /* 0: the one address was inserted */
}

static int is_at(struct fid_av* av, fi_addr_t at, uint32_t host, uint16_t port) {
    struct sockaddr_in name = {0};
    size_t length = sizeof name;

    return fi_av_lookup(av, at, &name, &length) == 0 && name.sin_addr.s_addr == htonl(host) &&
           name.sin_port == htons(port);
}

/* What is noted as stored: how many of the addresses are others than the page's order has. */
static void insert_symmetric(struct group* g) {
    fi_addr_t at[SYMMETRIC] = {0};
    struct fid_av* av;
    int ret, k, wrong = 0;

    if (g->info->addr_format != FI_SOCKADDR_IN) return;
    av = open_vector(g, FI_AV_TABLE, 0, NULL);
    if (!av) return;
    begin_call(g);
    ret = fi_av_insertsym(av, "127.0.0.1", 2, "5000", 2, at, 0, NULL);
    for (k = 0; k < SYMMETRIC && ret == SYMMETRIC; k++)
        wrong += !is_at(av, at[k], 0x7f000001u + (uint32_t)k / 2, (uint16_t)(5000 + k % 2));
    note_call(g, ret, wrong);
}

/* A vector in which a plain node and service could be inserted: what another does is judged only then.  Or NULL. */
static struct fid_av* open_for_services(struct group* g) {
    struct fid_av* av;
    fi_addr_t at = 0;

    if (g->info->addr_format != FI_SOCKADDR_IN) return NULL;
    av = open_vector(g, FI_AV_UNSPEC, 0, NULL);
    return av && fi_av_insertsvc(av, "127.0.0.1", "6000", &at, 0, NULL) == 1 ? av : NULL;
}

static void insert_string(struct group* g) {
    struct fid_av* const av = open_for_services(g);
    fi_addr_t at = 0;
    int ret;

    if (!av) return;
    begin_call(g);
    ret = fi_av_insertsvc(av, "fi_sockaddr_in://127.0.0.1:6001", NULL, &at, 0, NULL);
    note_call(g, ret == 1 ? 0 : ret, 0);
}

/* A label has at most 63 letters, so that no server is asked.  What is noted as returned: 0 if nothing was inserted. */
static void insert_unknown(struct group* g) {
    static const char name[] = "a234567890123456789012345678901234567890123456789012345678901234567890.invalid";
    struct fid_av* const av = open_for_services(g);
    fi_addr_t at = 0;
    int ret;

    if (!av) return;
    begin_call(g);
    ret = fi_av_insertsvc(av, name, "6001", &at, 0, NULL);
    note_call(g, ret < 0 ? 0 : ret, 0);
}

static void insert_without_events(struct group* g) {
    struct member* const x = &g->member[0];
    fi_addr_t at = 0;
    struct fid_av* av;

    if (!open_named(g, x)) return;
    av = open_vector(g, FI_AV_UNSPEC, FI_EVENT, NULL);
    if (!av) return;
    begin_call(g);
    note_call(g, fi_av_insert(av, x->name, 1, &at, 0, NULL), 0);
}

/* What is noted as stored: 1 if the event of the insertion came, with its context and the count. */
static void insert_with_event(struct group* g) {
    struct member* const x = &g->member[0];
    struct fi_eq_attr attr = {.wait_obj = FI_WAIT_NONE};
    struct fi_eq_entry entry = {0};
    struct fid_eq* eq = NULL;
    fi_addr_t at = 0;
    struct fid_av* av;
    uint32_t event = 0;
    int64_t until;
    ssize_t n;
    int ret;

    if (!open_named(g, x) || !is_insertable(g, x)) return;
    if (!opened(g, fi_eq_open(g->fabric, &attr, &eq, NULL), &eq)) return;
    av = open_vector(g, FI_AV_UNSPEC, FI_EVENT, NULL);
    if (!av || fi_av_bind(av, &eq->fid, 0) != 0) return;
    begin_call(g);
    ret = fi_av_insert(av, x->name, 1, &at, 0, x->context[0]);
    until = millis_of(g) + EVENT_MILLIS;
    do {
        n = fi_eq_read(eq, &event, &entry, sizeof entry, 0);
        if (g->script->looked) g->script->looked();
    } while (n == -FI_EAGAIN && millis_of(g) < until);
    note_call(
        g, ret,
        n > 0 && event == FI_AV_COMPLETE && entry.fid == &av->fid && entry.context == x->context[0] && entry.data == 1);
}

static void read_vector_context(struct group* g) {
    struct fid_av* const av = open_vector(g, FI_AV_UNSPEC, 0, g);

    if (!av) return;
    begin_call(g);
    note_call(g, 0, av->fid.context == g);
}

void vector_calls(struct group* g) {
    switch (g->script->call) {
        case CALL_LOWEST_INDEX:
            fill_gap(g);
            break;
        case CALL_SHORT_LOOKUP:
            look_up_short(g);
            break;
        case CALL_INSERT_STATUS:
            insert_with_status(g);
            break;
        case CALL_INSERT_SYMMETRIC:
            insert_symmetric(g);
            break;
        case CALL_INSERT_STRING:
            insert_string(g);
            break;
        case CALL_INSERT_UNKNOWN:
            insert_unknown(g);
            break;
        case CALL_INSERT_WITHOUT_EVENTS:
            insert_without_events(g);
            break;
        case CALL_INSERT_EVENT:
            insert_with_event(g);
            break;
        case CALL_VECTOR_CONTEXT:
            read_vector_context(g);
            break;
        default:
            break;
    }
}
