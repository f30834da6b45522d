static uint64_t next_key = 1;

static struct fid_mr* region(struct side* s, void* at, size_t length, uint64_t access) {
    struct fid_mr* mr = NULL;

    need(fi_mr_reg(domain, at, length, access, 0, next_key++, 0, &mr, NULL), "fi_mr_reg");
    if (info->domain_attr->mr_mode & FI_MR_ENDPOINT) {
        need(fi_mr_bind(mr, &s->ep->fid, 0), "fi_mr_bind");
        need(fi_mr_enable(mr), "fi_mr_enable");
    }
    if (s->region_count <= OPERATIONS) s->regions[s->region_count++] = mr;
    return mr;
}
