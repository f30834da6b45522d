/* Whom fi_cq_readfrom completions: 1 the peer, 0 nobody, 2 another. */
static uint64_t source_of(fi_addr_t told_address, fi_addr_t peer) {
    return told_address == peer ? 1 : told_address == FI_ADDR_NOTAVAIL ? 0 : 2;
}
