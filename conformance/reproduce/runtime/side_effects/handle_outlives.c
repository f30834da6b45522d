/* Whether a passive endpoint lives on after an fi_info was freed that has it as handle. */
static int handle_outlives(void) {
    struct fid_fabric* fabric;
    struct fid_pep* pep;
    struct fi_info* copy;
    int ret;

    if (fi_fabric(list->fabric_attr, &fabric, NULL) || fi_passive_ep(fabric, list, &pep, NULL)) exit(77);
    copy = fi_dupinfo(list);
    if (!copy) exit(77);
    copy->handle = &pep->fid;
    fi_freeinfo(copy);
    ret = fi_close(&pep->fid);
    if (ret) printf("broken: promised: the handle outlives fi_freeinfo; seen: fi_close returns %d\n", ret);
    fi_close(&fabric->fid);
    return ret == 0;
}
