/* Whether each provider of an answer is named by another. */
static int all_named(const struct fi_info* answer, const struct fi_info* names) {
    const struct fi_info* o;

    for (; answer; answer = answer->next) {
        for (o = names; o && strcmp(answer->fabric_attr->prov_name, o->fabric_attr->prov_name) != 0;) o = o->next;
        if (o) continue;
        printf("broken: promised: each provider has an entry under FI_PROV_ATTR_ONLY; seen: none of %s\n",
               answer->fabric_attr->prov_name);
        return 0;
    }
    return 1;
}
