static void wait_event(struct fid_eq* eq, uint32_t wanted, struct fi_eq_cm_entry* entry) {
    struct fi_eq_cm_entry unread;
    uint32_t event = 0;
    ssize_t n;
    int tries;

    for (tries = 0; tries < 50000; tries++) {
        n = fi_eq_read(eq, &event, entry, sizeof *entry, 0);
        if (n != -FI_EAGAIN) break;
        /* Some providers connect only when the queues of both sides are read. */
        if (A.eq != eq) fi_eq_read(A.eq, &event, &unread, sizeof unread, FI_PEEK);
        if (B.eq != eq) fi_eq_read(B.eq, &event, &unread, sizeof unread, FI_PEEK);
        if (A.ep) fi_cq_read(A.queue[0], NULL, 0);
        if (B.ep) fi_cq_read(B.queue[0], NULL, 0);
        usleep(100);
    }
    need(n > 0 && event == wanted ? 0 : -1, "the connection: fi_eq_read");
}

static fi_addr_t address(struct side* s, struct side* other) {
    char name[512];
    size_t size = sizeof name;
    fi_addr_t out = FI_ADDR_UNSPEC;

    need(fi_getname(&other->ep->fid, name, &size), "fi_getname");
    need(fi_av_insert(s->av, name, 1, &out, 0, NULL) == 1 ? 0 : -1, "fi_av_insert");
    return out;
}

static void connect_sides(void) {
    struct fi_eq_attr attr = {.wait_obj = FI_WAIT_NONE};
    struct fi_eq_cm_entry entry = {0};
    char name[512];
    size_t size = sizeof name;

    if (info->ep_attr->type != FI_EP_MSG) {
        open_side(&A, info);
        open_side(&B, info);
        A.peer = address(&A, &B);
        A.self = address(&A, &A);
        B.peer = address(&B, &A);
        B.self = address(&B, &B);
        return;
    }
    A.peer = B.peer = A.self = B.self = FI_ADDR_UNSPEC;
    need(fi_eq_open(fabric, &attr, &listening, NULL), "fi_eq_open");
    need(fi_eq_open(fabric, &attr, &A.eq, NULL), "fi_eq_open");
    need(fi_eq_open(fabric, &attr, &B.eq, NULL), "fi_eq_open");
    need(fi_passive_ep(fabric, info, &pep, NULL), "fi_passive_ep");
    need(fi_pep_bind(pep, &listening->fid, 0), "fi_pep_bind");
    need(fi_listen(pep), "fi_listen");
    need(fi_getname(&pep->fid, name, &size), "fi_getname");
    open_side(&A, info);
    need(fi_connect(A.ep, name, NULL, 0), "fi_connect");
    wait_event(listening, FI_CONNREQ, &entry);
    entry.info->tx_attr->op_flags |= TRANSMIT_FLAGS;
    entry.info->rx_attr->op_flags |= RECEIVE_FLAGS;
    open_side(&B, entry.info);
    need(fi_accept(B.ep, NULL, 0), "fi_accept");
    wait_event(B.eq, FI_CONNECTED, &entry);
    wait_event(A.eq, FI_CONNECTED, &entry);
}
