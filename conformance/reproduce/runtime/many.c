/* How often the buffer of an operation was given back, and whether anything came of it afterwards. */
static int releases(int operation, int* late) {
    int i, n = 0;

    for (*late = i = 0; i < part_count; i++) {
        if (parts[i].operation != operation) continue;
        *late |= n > 0;
        n += (parts[i].flags & FI_MULTI_RECV) != 0;
    }
    return n;
}

/* What is left of its `length` bytes behind the last message; -1: a message lies elsewhere, or on another. */
static long space_left(int operation, const unsigned char* start, long length) {
    long end = 0;
    int i, k;

    for (i = 0; i < part_count; i++) {
        const struct part* a = &parts[i];
        const long at = a->at - start;

        if (a->operation != operation || a->len == 0) continue;
        if (at < 0 || at + (long)a->len > length) return -1;
        for (k = 0; k < i; k++)
            if (parts[k].operation == operation && parts[k].len && a->at < parts[k].at + parts[k].len &&
                parts[k].at < a->at + a->len)
                return -1;
        if (at + (long)a->len > end) end = at + (long)a->len;
    }
    return length - end;
}
