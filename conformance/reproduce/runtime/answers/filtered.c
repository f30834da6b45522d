/* Whether a provider is in the answer under FI_PROVIDER, as it must be or must not. */
static int filtered(const char* filter, const char* provider, int present) {
    struct fi_info *answer = NULL, *o;
    int ret, seen = 0;

    setenv("FI_PROVIDER", filter, 1); /* before the library first looks */
    ret = query(&answer);
    for (o = ret == 0 ? answer : NULL; o; o = o->next) seen += names(o, provider);
    if (ret == 0) fi_freeinfo(answer);
    if ((seen > 0) == present) return 1;
    printf("broken: promised: with FI_PROVIDER=%s provider %s is %sthere; seen: %d entries of it\n", filter, provider,
           present ? "" : "not ", seen);
    return 0;
}
