static void need(long ret, const char* call) {
    if (ret == 0) return;
    printf("%s: %s returned %ld\n", NEEDED == 1 ? "broken" : "cannot tell", call, ret);
    exit(NEEDED);
}
