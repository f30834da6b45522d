#include "conformance/runtime/runtime.h"

void read_counters(const struct side* s, uint64_t out[2 * COUNTERS]) {
    int i;

    for (i = 0; i < COUNTERS; i++) {
        out[i] = s->counter[i] ? fi_cntr_read(s->counter[i]) : 0;
        out[i + COUNTERS] = s->counter[i] ? fi_cntr_readerr(s->counter[i]) : 0;
    }
}
