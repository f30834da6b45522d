static void must(struct side* s, enum step step, uint64_t n) {
    const long ret = on(s, step, n);

    need(ret, s->outcome.call);
}

static void await_connection(void) {
    long a, b;
    int tries;

    for (tries = 0; tries < 50000; tries++) {
        b = on(B, AWAIT, 0);
        a = on(A, AWAIT, 0);
        if ((a == 0 && b == 0) || (a != 0 && a != -FI_EAGAIN) || (b != 0 && b != -FI_EAGAIN)) break;
        usleep(100);
    }
    need(b, B->outcome.call);
    need(a, A->outcome.call);
}

static void open_pair(void) {
    must(A, ENTRY, 0);
    must(A, OPEN, 0);
    if (PROCESSES == 2) must(B, ENTRY, 0);
    must(B, OPEN, 1);
    must(A, CONNECT, 0);
    must(B, CONNECT, 0);
    if (opened.info->ep_attr->type == FI_EP_MSG) await_connection();
    must(A, COVER, 1 << 19);
    must(B, COVER, 1 << 19);
}
