/* Errors that the counters of a side tell of, with or without that of its receives. */
static uint64_t errors_of(const struct side* s, int receives) {
    uint64_t sum = 0;
    int i;

    for (i = 0; i < 4; i++)
        if (s->counter[i] && (i != 1 || receives)) sum += fi_cntr_readerr(s->counter[i]);
    return sum;
}
