/* As carry_out, and the peer makes no call meanwhile: for two seconds at the most. */
static void carry_out_alone(int n, struct side* s, post_call* post, struct operation o) {
    int tries;

    idle = s == A ? B : A;
    carry_out(n, s, post, o);
    for (tries = 0; tries < 20000 && returned[n] == -FI_EAGAIN; tries++) {
        usleep(100);
        poll_once();
        returned[n] = on(s, POST, (uint64_t)n);
    }
    idle = NULL;
    printf("%d: returned %ld in the end\n", n + 1, returned[n]);
}
