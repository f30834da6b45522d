#include <pthread.h>

#include "conformance/runtime/group.h"

enum { CALL_MILLIS = 200, SIGNAL_MILLIS = 2000, SIGNAL_NANOS = 100000000 };

static void wait_for_entry(struct group* g, int timeout) {
    struct fi_cq_attr attr = {.format = FI_CQ_FORMAT_MSG, .wait_obj = FI_WAIT_UNSPEC, .size = 16};
    struct fi_cq_msg_entry entry;
    struct fid_cq* cq = NULL;
    int64_t began, returned;

    if (!opened(g, fi_cq_open(g->domain, &attr, &cq, NULL), &cq)) return;
    began = millis_now();
    begin_call(g);
    returned = fi_cq_sread(cq, &entry, 1, NULL, timeout);
    note_call(g, returned, millis_now() - began);
}

struct signaller {
    struct fid_cq* cq;
    int64_t began, took; /* until it signals */
};

static void* signal_later(void* of) {
    static const struct timespec nap = {0, SIGNAL_NANOS};
    struct signaller* const s = of;

    nanosleep(&nap, NULL);
    s->took = millis_now() - s->began;
    fi_cq_signal(s->cq);
    return NULL;
}

/* Two threads use one queue, as FI_THREAD_SAFE allows. */
static void wait_for_signal(struct group* g) {
    struct fi_cq_attr attr = {.format = FI_CQ_FORMAT_MSG, .wait_obj = FI_WAIT_UNSPEC, .size = 16};
    struct signaller s = {0};
    struct fi_cq_msg_entry entry;
    pthread_t thread;
    int64_t began, returned, took;

    if (g->info->domain_attr->threading != FI_THREAD_SAFE) return;
    if (!opened(g, fi_cq_open(g->domain, &attr, &s.cq, NULL), &s.cq)) return;
    s.began = millis_now();
    if (pthread_create(&thread, NULL, signal_later, &s) != 0) return;
    began = millis_now();
    begin_call(g);
    returned = fi_cq_sread(s.cq, &entry, 1, NULL, SIGNAL_MILLIS);
    took = millis_now() - began;
    pthread_join(thread, NULL);
    /* What a busy machine adds to a wait in vain is nobody's, nor is a signal that it lets come behind the wait. */
    if (s.took < SIGNAL_MILLIS / 2) note_call(g, returned, took < SIGNAL_MILLIS ? took : SIGNAL_MILLIS);
}

static void wait_for_count(struct group* g) {
    struct fi_cntr_attr attr = {.events = FI_CNTR_EVENTS_COMP, .wait_obj = FI_WAIT_UNSPEC};
    struct fid_cntr* cntr = NULL;
    int64_t began, returned;

    if (!opened(g, fi_cntr_open(g->domain, &attr, &cntr, NULL), &cntr)) return;
    began = millis_now();
    begin_call(g);
    returned = fi_cntr_wait(cntr, 9, CALL_MILLIS);
    note_call(g, returned, millis_now() - began);
}

static void try_to_wait(struct group* g) {
    struct fi_eq_attr attr = {.flags = FI_WRITE, .wait_obj = FI_WAIT_FD, .size = 16};
    struct fi_eq_entry event = {0};
    struct fid_eq* eq = NULL;
    struct fid* one;

    if (!opened(g, fi_eq_open(g->fabric, &attr, &eq, NULL), &eq)) return;
    if (fi_eq_write(eq, FI_NOTIFY, &event, sizeof event, 0) != (ssize_t)sizeof event) return;
    one = &eq->fid;
    begin_call(g);
    note_call(g, fi_trywait(g->fabric, &one, 1), 0);
}

void wait_calls(struct group* g) {
    switch (g->script->call) {
        case CALL_QUEUE_WAIT:
            wait_for_entry(g, CALL_MILLIS);
            break;
        case CALL_QUEUE_LOOK:
            wait_for_entry(g, 0);
            break;
        case CALL_QUEUE_SIGNAL:
            wait_for_signal(g);
            break;
        case CALL_COUNTER_WAIT:
            wait_for_count(g);
            break;
        case CALL_TRY_WAIT:
            try_to_wait(g);
            break;
        default:
            break;
    }
}
