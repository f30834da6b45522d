/* The caller fills what fi_allocinfo gave with names and addresses of malloc; fi_freeinfo must release them. */
static int fill_and_free(void) {
    struct fi_info* info = fi_allocinfo();

    if (!info) return -FI_ENOMEM;
    info->fabric_attr->prov_name = strdup("provider");
    info->fabric_attr->name = strdup("fabric");
    info->domain_attr->name = strdup("domain");
    info->src_addr = calloc(1, 16);
    info->dest_addr = calloc(1, 16);
    info->src_addrlen = info->dest_addrlen = 16;
    fi_freeinfo(info);
    return 0;
}
