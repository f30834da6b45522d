#include "conformance/runtime/group.h"

/* The addresses from `first` to `last`, every `stride`th; without a stride none. */
static int begin_set(struct group* g, int m, int first, int last, uint64_t stride, struct fid_av_set** set) {
    struct member* const x = &g->member[m];
    struct fi_av_set_attr attr = {
        .count = (size_t)g->script->members, .start_addr = FI_ADDR_NOTAVAIL, .end_addr = FI_ADDR_NOTAVAIL};

    if (stride) {
        attr.start_addr = x->address[first];
        attr.end_addr = x->address[last];
        attr.stride = stride;
    }
    g->seen->doing++;
    return fi_av_set(x->av, &attr, set, NULL);
}

static int begin_universe(struct group* g, int m) {
    struct fi_av_set_attr attr = {.count = (size_t)g->script->members,
                                  .start_addr = FI_ADDR_NOTAVAIL,
                                  .end_addr = FI_ADDR_NOTAVAIL,
                                  .flags = FI_UNIVERSE};

    g->seen->doing++;
    return fi_av_set(g->member[m].av, &attr, &g->member[m].set, NULL);
}

static int insert_all(struct group* g, int m) {
    struct member* const x = &g->member[m];
    int ret = begin_set(g, m, 0, 0, 0, &x->set), n;

    for (n = g->script->members - 1; ret == 0 && n >= 0; n--) ret = fi_av_set_insert(x->set, x->address[n]);
    return ret;
}

/* All but the first, then the first; then what `combine` makes of this and of the addresses from `first` to `last`. */
static int combine(struct group* g, int m, int first, int last,
                   int (*combination)(struct fid_av_set*, const struct fid_av_set*)) {
    struct member* const x = &g->member[m];
    struct fid_av_set* other = NULL;
    int ret = begin_set(g, m, 1, g->script->members - 1, 1, &x->set);

    if (ret == 0 && combination != fi_av_set_union) ret = fi_av_set_insert(x->set, x->address[0]);
    if (ret == 0) ret = begin_set(g, m, first, last, 1, &other);
    if (ret == 0) ret = combination(x->set, other);
    if (other) fi_close(&other->fid);
    return ret;
}

int make_set(struct group* g, int m, enum set_recipe recipe) {
    struct member* const x = &g->member[m];
    const int last = g->script->members - 1;
    int ret;

    switch (recipe) {
        case SET_UNIVERSE:
            return begin_universe(g, m);
        case SET_STRIDE:
            return begin_set(g, m, 0, last, 2, &x->set);
        case SET_INSERT:
            return insert_all(g, m);
        case SET_REMOVE:
            ret = begin_set(g, m, 0, last, 1, &x->set);
            return ret ? ret : fi_av_set_remove(x->set, x->address[0]);
        case SET_UNION:
            return combine(g, m, 0, 1, fi_av_set_union);
        case SET_INTERSECT:
            return combine(g, m, 0, 1, fi_av_set_intersect);
        case SET_DIFF:
            return combine(g, m, 1, 1, fi_av_set_diff);
        default:
            return begin_set(g, m, 0, last, 1, &x->set);
    }
}
