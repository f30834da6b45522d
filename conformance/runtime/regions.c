#include "conformance/runtime/runtime.h"

static struct fid_mr* registered(struct side* s, void* at, size_t length, uint64_t access) {
    struct fid_mr* mr = NULL;

    if (!works(s, fi_mr_reg(s->in->domain, at, length, access, 0, s->in->next_key++, 0, &mr, NULL), "fi_mr_reg"))
        return NULL;
    if (!(s->in->info->domain_attr->mr_mode & FI_MR_ENDPOINT)) return mr;
    if (works(s, fi_mr_bind(mr, &s->ep->fid, 0), "fi_mr_bind") && works(s, fi_mr_enable(mr), "fi_mr_enable")) return mr;
    fi_close(&mr->fid);
    return NULL;
}

struct outcome cover(struct side* s, size_t used) {
    /* Locking pages takes time, and most need few. */
    const size_t length = used <= 1 << 19 ? 1 << 20 : used < ARENA / 2 ? 2 * used : ARENA;
    const int needed =
        (s->in->info->domain_attr->mr_mode & (FI_MR_LOCAL | FI_MR_BASIC)) || s->in->info->mode & FI_LOCAL_MR;

    works(s, 0, NULL);
    if (!needed || used <= s->local_length) return s->outcome;
    if (s->local) fi_close(&s->local->fid);
    s->local = registered(s, s->arena, length, FI_SEND | FI_RECV | FI_READ | FI_WRITE);
    s->local_length = s->local ? length : 0;
    return s->outcome;
}

const struct region* region_of(struct side* s, uint64_t access) {
    const uint64_t both = FI_REMOTE_READ | FI_REMOTE_WRITE;
    const size_t which = (access & both) / FI_REMOTE_READ;
    struct region* r = &s->regions[which];

    if (s->requested & 1u << which) return r;
    s->requested |= 1u << which;
    /* With no remote access at all a region is still one that somebody registered. */
    s->mr[which] = registered(s, s->target, REGION, access & both ? access & both : FI_SEND | FI_RECV);
    r->registered = s->mr[which] != NULL;
    if (r->registered) r->key = fi_mr_key(s->mr[which]);
    if (s->in->info->domain_attr->mr_mode & (FI_MR_VIRT_ADDR | FI_MR_BASIC)) r->address = (uintptr_t)s->target;
    return r;
}
