static void note_counts(struct side* s) {
    int i;

    for (i = 0; i < 6; i++)
        if (s->counter[i]) s->counted[i] = fi_cntr_read(s->counter[i]);
}
