/* Whether the library offers the provider at all. */
static int provider_there(void) {
    struct fi_info* all = NULL;
    int there = 0;

    if (fi_getinfo(FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION), NULL, NULL, 0, NULL, &all) == 0) {
        there = count(all) > 0;
        fi_freeinfo(all);
    }
    return there;
}
