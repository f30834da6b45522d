static int allocate(void) {
    struct fi_info* info = fi_allocinfo();

    if (!info) return -FI_ENOMEM;
    fi_freeinfo(info);
    return 0;
}
