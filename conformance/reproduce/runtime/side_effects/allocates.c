static int zero(const void* at, size_t size) {
    const char* c = at;

    while (size && !*c) c++, size--;
    return size == 0;
}

/* Whether fi_allocinfo gives something complete, of its own, and zero but for the pointers to its substructures. */
static int allocates(void) {
    struct fi_info *info = fi_allocinfo(), *other = fi_allocinfo(), plain;
    const char* seen = NULL;

    if (!info || !other) {
        puts("broken: promised: an fi_info; seen: NULL");
        return 0;
    }
    plain = *info;
    plain.tx_attr = NULL;
    plain.rx_attr = NULL;
    plain.ep_attr = NULL;
    plain.domain_attr = NULL;
    plain.fabric_attr = NULL;
    if (!info->tx_attr || !info->rx_attr || !info->ep_attr || !info->domain_attr || !info->fabric_attr)
        seen = "all substructures are there; seen: one is NULL";
    else if (shares(info, other))
        seen = "memory of its own; seen: two calls share some";
    else if (!zero(&plain, sizeof plain) || !zero(info->tx_attr, sizeof *info->tx_attr) ||
             !zero(info->rx_attr, sizeof *info->rx_attr) || !zero(info->ep_attr, sizeof *info->ep_attr) ||
             !zero(info->domain_attr, sizeof *info->domain_attr) || !zero(info->fabric_attr, sizeof *info->fabric_attr))
        seen = "all members are zero; seen: one is not";
    if (seen) printf("broken: promised: %s\n", seen);
    fi_freeinfo(info);
    fi_freeinfo(other);
    return !seen;
}
