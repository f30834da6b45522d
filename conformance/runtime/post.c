#include "conformance/runtime/runtime.h"

static size_t clamped(size_t pieces) { return pieces == 0 ? 1 : pieces < PIECES ? pieces : PIECES; }

size_t value_size(const struct operation* o) { return o->count && o->length >= o->count ? o->length / o->count : 1; }

void name_pieces(const struct side* s, const struct operation* o, struct arguments* a) {
    void* const desc = s->local ? fi_mr_desc(s->local) : NULL;
    const size_t n = clamped(o->pieces), each = o->length / value_size(o) / n * value_size(o);
    const size_t stride = o->stride ? o->stride : each;
    size_t i;

    for (i = 0; i < n; i++) {
        a->desc[i] = desc;
        a->iov[i] = (struct iovec){(char*)o->buffer + i * stride, i + 1 < n ? each : o->length - each * i};
    }
    a->count = n;
}

void name_target(const struct operation* o, struct arguments* a) {
    /* A key that nothing has: far from the small ones that are asked for, and not one that the library gave. */
    const uint64_t key = o->bad_key ? (o->target.key ^ 0x5a5a) + 0x10000 : o->target.key;
    const size_t all = o->count ? o->count : o->length, n = clamped(o->target_pieces), each = all / n;
    size_t i;

    for (i = 0; i < n; i++) {
        const uint64_t address = o->target.address + o->offset + i * each * value_size(o);
        const size_t length = i + 1 < n ? each : all - each * i;

        a->rma_iov[i] = (struct fi_rma_iov){address, length, key};
        a->rma_ioc[i] = (struct fi_rma_ioc){address, length, key};
    }
    a->target_count = n;
}
