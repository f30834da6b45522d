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

struct fid_cntr* trigger_of(struct side* s) {
    struct fi_cntr_attr attr = {.events = FI_CNTR_EVENTS_COMP, .wait_obj = FI_WAIT_NONE};

    if (!s->trigger && fi_cntr_open(s->in->domain, &attr, &s->trigger, NULL) != 0) s->trigger = NULL;
    return s->trigger;
}

void name_trigger(struct side* s, const struct operation* o) {
    struct fi_triggered_context2* const condition = o->context;

    if (!(o->flags & FI_TRIGGER)) return;
    condition->event_type = FI_TRIGGER_THRESHOLD;
    condition->trigger.threshold.cntr = trigger_of(s);
    condition->trigger.threshold.threshold = s->triggered + o->threshold;
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

/* Those in a buffer that is laid out as the first one is. */
static void name_values_of(const struct operation* o, const struct arguments* a, void* buffer, struct fi_ioc* out) {
    size_t i;

    for (i = 0; buffer && i < a->count; i++) {
        const ptrdiff_t at = (char*)a->iov[i].iov_base - (char*)o->buffer;

        out[i] = (struct fi_ioc){(char*)buffer + at, a->iov[i].iov_len / value_size(o)};
    }
}

void name_values(const struct operation* o, struct arguments* a) {
    name_values_of(o, a, o->buffer, a->ioc);
    name_values_of(o, a, o->result, a->results);
    name_values_of(o, a, o->compare, a->compares);
}
