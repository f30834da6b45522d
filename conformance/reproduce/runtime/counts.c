/* What the counters of a side have counted since note_counts(). */
static uint64_t noted[2][2 * COUNTERS];

static void note_counts(void) {
    on(A, COUNT, 0);
    memcpy(noted[0], shared->counters, sizeof noted[0]);
    on(B, COUNT, 0);
    memcpy(noted[1], shared->counters, sizeof noted[1]);
}

uint64_t counted(struct side* s, int counter) {
    on(s, COUNT, 0);
    return shared->counters[counter] - noted[s == B][counter];
}

/* With or without those of its receives. */
uint64_t errors_of(struct side* s, int receives) {
    uint64_t sum = 0;
    int i;

    for (i = 0; i < 4; i++)
        if (i != 1 || receives) sum += counted(s, COUNTERS + i);
    return sum;
}
