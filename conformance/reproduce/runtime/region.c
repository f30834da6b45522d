/* The target of the side's peer, which may access it so. */
static struct region region(struct side* s, uint64_t access) {
    must(s, REGISTER, access);
    return *region_of(s, access);
}
