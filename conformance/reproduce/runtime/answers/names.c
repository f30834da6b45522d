/* Whether `name` is one of the layers of an entry's provider, or all of them. */
static int names(const struct fi_info* o, const char* name) {
    const char* at = o->fabric_attr->prov_name;
    const size_t length = strlen(name);

    for (; at && *at; at = strchr(at, ';') ? strchr(at, ';') + 1 : NULL)
        if (strncmp(at, name, length) == 0 && (at[length] == 0 || at[length] == ';')) return 1;
    return strcmp(o->fabric_attr->prov_name, name) == 0;
}
