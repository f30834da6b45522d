/* Duplicates the hints, where there are some, and the first entry of the answer. */
static int duplicate(void) {
    const struct fi_info* const originals[] = {HINTS, list};
    struct fi_info* copy;
    size_t i;

    for (i = 0; i < 2; i++) {
        if (!originals[i]) continue;
        copy = fi_dupinfo(originals[i]);
        if (!copy) return -FI_ENOMEM;
        fi_freeinfo(copy);
    }
    return 0;
}
