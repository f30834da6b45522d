static void close_all(void) {
    on(A, CLOSE, 0);
    on(B, CLOSE, 0);
    on(B, CLOSE_QUEUES, 0);
    if (PROCESSES == 2) on(B, CLOSE_DOMAIN, 0);
    on(A, CLOSE_QUEUES, 0);
    on(A, CLOSE_DOMAIN, 0);
}
