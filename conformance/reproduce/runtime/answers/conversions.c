#include <pthread.h>

static char text_alone[65536];
static volatile int text_differs;

static void* convert(void* unused) {
    char text[65536];
    int i;

    for (i = 0; i < 20000 && !text_differs; i++) {
        fi_tostr_r(text, sizeof text, DATA);
        if (strcmp(text, text_alone) != 0) text_differs = 1;
    }
    return unused;
}

static void* disturb(void* unused) {
    static const uint64_t other = ~0ULL;
    char text[65536];
    int i;

    for (i = 0; i < 20000 && !text_differs; i++) fi_tostr_r(text, sizeof text, &other, FI_TYPE_CAPS);
    return unused;
}

/* Whether two threads that convert the data, beside two that convert other data, get what one alone gets. */
static int converts_in_threads(void) {
    pthread_t threads[4];
    int i;

    fi_tostr_r(text_alone, sizeof text_alone, DATA);
    for (i = 0; i < 4; i++)
        if (pthread_create(&threads[i], NULL, i % 2 ? disturb : convert, NULL)) return 1;
    for (i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    if (text_differs) puts("broken: promised: each thread gets the text that it gets alone; seen: another text");
    return !text_differs;
}
