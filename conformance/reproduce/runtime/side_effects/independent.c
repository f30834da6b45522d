/* Whether one answer outlives another unchanged. */
static int independent(void) {
    struct fi_info *first = NULL, *second = NULL;
    char* before;
    int fine;

    if (query(&first) != 0 || query(&second) != 0) return 1;
    before = strdup(fi_tostr(second, FI_TYPE_INFO));
    fi_freeinfo(first);
    fine = !before || strcmp(before, fi_tostr(second, FI_TYPE_INFO)) == 0;
    if (!fine) puts("broken: promised: answers share no memory; seen: freeing one changed the other");
    free(before);
    fi_freeinfo(second);
    return fine;
}
