/* Whether fi_tostr says the same of both. */
static int same_text(const struct fi_info* a, const struct fi_info* b) {
    char* text = strdup(fi_tostr(a, FI_TYPE_INFO));
    const int equal = text && strcmp(text, fi_tostr(b, FI_TYPE_INFO)) == 0;

    free(text);
    return equal;
}
