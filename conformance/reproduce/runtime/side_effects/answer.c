/* The answer that others work on. */
static struct fi_info* list;

static void fetch_answer(void) {
    if (query(&list) == 0 && list) return;
    puts("cannot tell: the call that gives something to work on is refused");
    fflush(stdout);
    _exit(77);
}
