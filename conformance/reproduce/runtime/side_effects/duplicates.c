/* Whether fi_dupinfo gives a duplicate that does not differ. */
static int duplicates(const struct fi_info* o) {
    struct fi_info* copy = fi_dupinfo(o);
    const int fine = copy && !DIFFERS(o, copy);

    if (!fine) printf("broken: promised: a duplicate; seen: %s\n", copy ? "it differs (" COMPARED ")" : "NULL");
    if (fine) fi_freeinfo(copy);
    return fine;
}

/* Of the hints, where there are some, and of every entry of the answer. */
static int duplicates_all(void) {
    struct fi_info *answer = NULL, *o;
    const struct fi_info* const hints_alone = HINTS;
    const int ret = query(&answer);
    int fine = !hints_alone || duplicates(hints_alone);

    for (o = ret == 0 ? answer : NULL; o && fine; o = o->next) fine = duplicates(o);
    if (ret == 0) fi_freeinfo(answer);
    return fine;
}
