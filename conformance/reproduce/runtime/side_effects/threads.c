#include <pthread.h>

static int alone_ret, alone_count;
static volatile int differs;

static void issue(int* ret, int* n) {
    struct fi_info* answer = NULL;

    *ret = query(&answer);
    *n = *ret == 0 ? count(answer) : 0;
    if (*ret == 0) fi_freeinfo(answer);
}

static void* query_again(void* unused) {
    int i, n, ret;

    for (i = 0; i < 500 && !differs; i++) {
        issue(&ret, &n);
        if (ret == alone_ret && n == alone_count) continue;
        differs = 1;
        printf("broken: promised: %d with %d entries, as alone; seen: %d with %d\n", alone_ret, alone_count, ret, n);
    }
    return unused;
}

/* Whether four threads that ask at once get what one alone gets. */
static int safe_for_threads(void) {
    pthread_t threads[4];
    int i;

    watch("fi_getinfo from four threads");
    issue(&alone_ret, &alone_count);
    for (i = 0; i < 4; i++)
        if (pthread_create(&threads[i], NULL, query_again, NULL)) _exit(77);
    for (i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    came_back();
    return !differs;
}
