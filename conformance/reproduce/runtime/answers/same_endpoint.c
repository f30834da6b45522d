static int same_endpoint(const struct fi_info* a, const struct fi_info* b) {
    return same(a->fabric_attr->prov_name, b->fabric_attr->prov_name) &&
           same(a->fabric_attr->name, b->fabric_attr->name) && same(a->domain_attr->name, b->domain_attr->name) &&
           a->ep_attr->type == b->ep_attr->type;
}
