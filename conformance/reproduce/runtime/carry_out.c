static void carry_out(int n, struct side* s, post_call* post, struct operation o) {
    int tries;

    if (!o.context) o.context = &context[n];
    if (o.call != CANCEL && o.call != CANCEL_WORK) owner[(struct context*)o.context - context] = n + 1;
    shared->post[n] = post;
    shared->operation[n] = o;
    for (tries = 0; tries < 100000; tries++) {
        returned[n] = on(s, POST, (uint64_t)n);
        if (returned[n] != -FI_EAGAIN || o.call == CANCEL || o.call == CANCEL_WORK) break;
        poll_once();
    }
    printf("%d: returned %ld\n", n + 1, returned[n]);
    calls_made++;
}
