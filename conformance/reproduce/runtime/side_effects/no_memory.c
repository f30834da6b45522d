static int without_memory(void) {
    int ret;

    countdown = FAILING;
    ret = ACT();
    countdown = 0;
    return ret;
}

/* Whether a call that runs short of memory comes back, with an error that it may have, and leaves nothing. */
static int survives_shortage(int any_error) {
    int i, ret;

    ACT();                   /* what is made once is made now */
    for (i = 1; i < 32; i++) /* handlers that loading has put there would hide a crash */
        if (i != SIGALRM) signal(i, SIG_DFL);
    watch("a call without memory");
    ret = without_memory();
    if (!any_error && ret != 0 && ret != -FI_ENOMEM && ret != -FI_ENODATA) {
        printf("broken: promised: 0, -FI_ENOMEM or -FI_ENODATA; seen: %d (%s)\n", ret, fi_strerror(-ret));
        came_back();
        return 0;
    }
    ret = remains(without_memory, 0, 100);
    came_back();
    return !ret;
}
