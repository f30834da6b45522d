#include "conformance/runtime/group.h"

enum { REGION_BYTES = 4096, REGION_KEY = 7, RAW_KEY = 64 };

static unsigned char region_bytes[REGION_BYTES];

static void register_with_flag(struct group* g) {
    struct fid_mr* mr = NULL;
    int ret;

    begin_call(g);
    ret = fi_mr_reg(g->domain, region_bytes, REGION_BYTES, FI_REMOTE_READ, 0, REGION_KEY, CALL_NO_SUCH_FLAG, &mr, NULL);
    opened(g, ret, &mr);
    note_call(g, ret, 0);
}

/* The same with FI_HMEM_SYSTEM must work: what is judged is the iface. */
static void register_with_interface(struct group* g) {
    struct iovec iov = {.iov_base = region_bytes, .iov_len = REGION_BYTES};
    struct fi_mr_attr attr = {.mr_iov = &iov, .iov_count = 1, .access = FI_REMOTE_READ, .requested_key = REGION_KEY};
    struct fid_mr* mr = NULL;
    int ret;

    if ((g->info->caps & FI_HMEM) || fi_mr_regattr(g->domain, &attr, 0, &mr) != 0 || fi_close(&mr->fid) != 0) return;
    attr.iface = FI_HMEM_CUDA;
    mr = NULL;
    begin_call(g);
    ret = fi_mr_regattr(g->domain, &attr, 0, &mr);
    opened(g, ret, &mr);
    note_call(g, ret, 0);
}

static void read_raw_key(struct group* g) {
    struct fid_mr* mr = NULL;
    uint8_t key[RAW_KEY] = {0};
    uint64_t base = 0;
    size_t size = 1;
    int ret;

    if (g->info->domain_attr->mr_key_size <= size) return;
    if (!opened(g, fi_mr_reg(g->domain, region_bytes, REGION_BYTES, FI_REMOTE_READ, 0, REGION_KEY, 0, &mr, NULL), &mr))
        return;
    begin_call(g);
    ret = fi_mr_raw_attr(mr, &base, key, &size, 0);
    note_call(g, ret, (int64_t)size);
}

void region_calls(struct group* g) {
    switch (g->script->call) {
        case CALL_REGION_FLAGS:
            register_with_flag(g);
            break;
        case CALL_REGION_INTERFACE:
            register_with_interface(g);
            break;
        case CALL_REGION_RAW_KEY:
            read_raw_key(g);
            break;
        default:
            break;
    }
}
