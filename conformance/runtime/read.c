#include "conformance/runtime/runtime.h"

/* What fi_cq_read may fill, whatever the format. */
union any_entry {
    struct fi_cq_entry context;
    struct fi_cq_msg_entry message;
    struct fi_cq_data_entry data;
    struct fi_cq_tagged_entry tagged;
};

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

static void fill_entry(struct entry* out, const union any_entry* e, enum fi_cq_format format) {
    memset(out, 0, sizeof *out);
    out->context = e->context.op_context;
    if (format >= FI_CQ_FORMAT_MSG) {
        out->flags = e->message.flags;
        out->len = e->message.len;
    }
    if (format >= FI_CQ_FORMAT_DATA) {
        out->data = e->data.data;
        out->buffer = e->data.buf;
    }
    if (format >= FI_CQ_FORMAT_TAGGED) out->tag = e->tagged.tag;
}

static int read_error(struct side* s, struct fid_cq* cq, struct entry* out) {
    /* The entries of 1.20 and newer are longer than those of older headers. */
    union {
        struct fi_cq_err_entry entry;
        unsigned char newer[512];
    } e = {.newer = {0}};
    const ssize_t n = fi_cq_readerr(cq, &e.entry, 0);

    if (n == -FI_EAGAIN) return 0;
    if (n < 0) return works(s, n, "fi_cq_readerr") - 1;
    *out = (struct entry){.context = e.entry.op_context,
                          .buffer = e.entry.buf,
                          .flags = e.entry.flags,
                          .len = e.entry.len,
                          .data = e.entry.data,
                          .tag = e.entry.tag,
                          .failed = 1,
                          .err = e.entry.err,
                          .olen = e.entry.olen,
                          .err_data_size = e.entry.err_data ? e.entry.err_data_size : 0};
    return 1;
}

int read_queue(struct side* s, int transmits, struct entry* out) {
    const fi_addr_t unwritten = 0x5e1a6e00; /* stays where a library returns no source */
    struct fid_cq* const cq = s->queue[transmits];
    const enum fi_cq_format format = s->setup->format;
    const int sources = !transmits && s->av;
    union any_entry raw[BATCH];
    fi_addr_t from[BATCH];
    union any_entry e;
    ssize_t n;
    int i;

    memset(raw, 0, sizeof raw);
    for (i = 0; i < BATCH; i++) from[i] = unwritten;
    n = sources ? fi_cq_readfrom(cq, raw, BATCH, from) : fi_cq_read(cq, raw, BATCH);
    if (n == -FI_EAGAIN) return 0;
    if (n == -FI_EAVAIL) return read_error(s, cq, out);
    if (n < 0) return works(s, n, "fi_cq_read") - 1;
    for (i = 0; i < n && i < BATCH; i++) {
        memcpy(&e, (char*)raw + (size_t)i * entry_size(format), entry_size(format));
        fill_entry(&out[i], &e, format);
        if (sources && from[i] != FI_ADDR_NOTAVAIL) out[i].source = from[i] == s->peer ? THE_PEER : ANOTHER;
    }
    return i;
}
