#include "conformance/runtime/runtime.h"

/* Each object begins with its fid. */
static void* closed(void* object) {
    if (object) fi_close(object);
    return NULL;
}

void close_side(struct side* s) {
    size_t i;

    if (!(s->in->info->domain_attr->mr_mode & FI_MR_ENDPOINT)) s->ep = closed(s->ep);
    for (i = 0; i < 4; i++) s->mr[i] = closed(s->mr[i]);
    s->local = closed(s->local);
    s->ep = closed(s->ep);
}

void close_queues(struct side* s) {
    size_t i;

    s->pep = closed(s->pep);
    for (i = 0; i < 2; i++) s->queue[i] = closed(s->queue[i]);
    for (i = 0; i < COUNTERS; i++) s->counter[i] = closed(s->counter[i]);
    s->trigger = closed(s->trigger);
    s->av = closed(s->av);
    s->eq = closed(s->eq);
    s->listening = closed(s->listening);
}
