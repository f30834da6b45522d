#include "conformance/runtime/runtime.h"

static size_t entry_size(enum fi_cq_format format) {
    switch (format) {
        case FI_CQ_FORMAT_MSG:
            return sizeof(struct fi_cq_msg_entry);
        case FI_CQ_FORMAT_DATA:
            return sizeof(struct fi_cq_data_entry);
        case FI_CQ_FORMAT_TAGGED:
            return sizeof(struct fi_cq_tagged_entry);
        default:
            return sizeof(struct fi_cq_entry);
    }
}

ssize_t read_queue_error(struct fid_cq* cq, struct fi_cq_err_entry* out) {
    union {
        struct fi_cq_err_entry entry;
        unsigned char newer[512];
    } e = {.newer = {0}};
    const ssize_t n = fi_cq_readerr(cq, &e.entry, 0);

    *out = e.entry;
    return n;
}

static int read_error(struct side* s, struct fid_cq* cq, struct entry* out) {
    struct fi_cq_err_entry e;
    const ssize_t n = read_queue_error(cq, &e);

    if (n == -FI_EAGAIN) return 0;
    if (n < 0) return works(s, n, "fi_cq_readerr") - 1;
    *out = (struct entry){.context = (uintptr_t)e.op_context,
                          .buffer = (uintptr_t)e.buf,
                          .flags = e.flags,
                          .len = e.len,
                          .data = e.data,
                          .tag = e.tag,
                          .failed = 1,
                          .err = (uint64_t)e.err,
                          .olen = e.olen,
                          .err_data_size = e.err_data ? e.err_data_size : 0};
    return 1;
}

int read_queue(struct side* s, int transmits, struct entry* out) {
    const fi_addr_t unwritten = 0x5e1a6e00; /* stays where a library returns no source */
    struct fid_cq* const cq = s->queue[transmits];
    const size_t size = entry_size(s->setup->format);
    const int sources = !transmits && s->av;
    struct fi_cq_tagged_entry raw[BATCH] = {{0}};
    fi_addr_t from[BATCH];
    ssize_t n;
    int i;

    for (i = 0; i < BATCH; i++) from[i] = unwritten;
    n = sources ? fi_cq_readfrom(cq, raw, BATCH, from) : fi_cq_read(cq, raw, BATCH);
    if (n == -FI_EAGAIN) return 0;
    if (n == -FI_EAVAIL) return read_error(s, cq, out);
    if (n < 0) return works(s, n, "fi_cq_read") - 1;
    for (i = 0; i < n && i < BATCH; i++) {
        /* The entries of lesser formats are beginnings of this one. */
        struct fi_cq_tagged_entry e = {0};

        memcpy(&e, (char*)raw + (size_t)i * size, size);
        out[i] = (struct entry){.context = (uintptr_t)e.op_context,
                                .buffer = (uintptr_t)e.buf,
                                .flags = e.flags,
                                .len = e.len,
                                .data = e.data,
                                .tag = e.tag};
        if (sources && from[i] != FI_ADDR_NOTAVAIL) out[i].source = from[i] == s->peer ? THE_PEER : ANOTHER;
    }
    return i;
}
