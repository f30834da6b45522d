/* How many entries of a list are of the provider. */
static int count(const struct fi_info* list) {
    int n = 0;

    for (; list; list = list->next) n += of_provider(list);
    return n;
}
