/* Opens fabric and domain of the first entry, and closes them. */
static int open_and_close(void) {
    struct fid_fabric* fabric;
    struct fid_domain* domain;
    int ret = fi_fabric(list->fabric_attr, &fabric, NULL);

    if (ret) return ret;
    ret = fi_domain(fabric, list, &domain, NULL);
    if (ret == 0) fi_close(&domain->fid);
    fi_close(&fabric->fid);
    return ret;
}
