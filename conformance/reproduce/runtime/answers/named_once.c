/* Whether no provider is named twice. */
static int named_once(const struct fi_info* a) {
    const struct fi_info* b;

    for (; a; a = a->next) {
        for (b = of_provider(a) ? a->next : NULL; b; b = b->next) {
            if (strcmp(a->fabric_attr->prov_name, b->fabric_attr->prov_name) != 0) continue;
            printf("broken: promised: one entry for each provider; seen: %s twice\n", a->fabric_attr->prov_name);
            return 0;
        }
    }
    return 1;
}
