/* The first entry that counts whose endpoint the other list lacks. */
static const struct fi_info* lost(const struct fi_info* from, const struct fi_info* into) {
    const struct fi_info* o;

    for (; from; from = from->next) {
        for (o = into; o && !same_endpoint(o, from);) o = o->next;
        if (!o && counts(from)) return from;
    }
    return NULL;
}
