/* Whether two calls returned the same, with as many entries, in the same order, that say the same. */
static int same_answers(int ret1, const struct fi_info* first, int ret2, const struct fi_info* second) {
    int n = 0;

    if (ret1 != ret2) {
        printf("broken: promised: the same call gets the same answer; seen: %d, then %d\n", ret1, ret2);
        return 0;
    }
    if (ret1 != 0) return 1;
    for (; first && second; first = first->next, second = second->next, n++) {
        if (same_text(first, second)) continue;
        printf("broken: promised: the same call gets the same answer; seen: entry %d differs\n", n);
        return 0;
    }
    if (!first && !second) return 1;
    printf("broken: promised: the same call gets the same answer; seen: one list ends after %d entries\n", n);
    return 0;
}
