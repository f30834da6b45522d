/* Whether an entry with a nic of its own, which has a name and nothing else, is duplicated with its nic. */
static int own_nic_duplicated(void) {
    char name[] = "own0";
    struct fi_device_attr device = {.name = name};
    struct fid_nic nic = {.fid = {.fclass = FI_CLASS_NIC}, .device_attr = &device};
    struct fi_info info = {.nic = &nic};
    struct fi_info* copy = fi_dupinfo(&info);
    const int fine = copy && copy->nic && copy->nic != &nic;

    if (!fine) printf("broken: promised: a duplicate with its nic; seen: %s\n", copy ? "one without" : "NULL");
    if (fine) fi_freeinfo(copy);
    return fine;
}
