#include <dirent.h>

static int entries(const char* folder) {
    DIR* d = opendir(folder);
    int n = 0;

    while (d && readdir(d)) n++;
    if (d) closedir(d);
    return n;
}

/* Whether something remains of rounds of it, behind as many that warm up: memory (less than eight bytes a round are
   the allocator's own), descriptors, threads. */
static int remains(int (*act)(void), int warm_up, int rounds) {
    size_t before, after;
    int i, files, threads;

    for (i = 0; i < warm_up; i++) act();
    files = entries("/proc/self/fd");
    threads = entries("/proc/self/task");
    before = mallinfo2().uordblks;
    for (i = 0; i < rounds; i++) act();
    after = mallinfo2().uordblks;
    files = entries("/proc/self/fd") - files;
    threads = entries("/proc/self/task") - threads;
    if (after <= before + 8 * (size_t)rounds && files <= 0 && threads <= 0) return 0;
    printf("broken: promised: nothing remains; seen: %lld bytes, %d descriptors, %d threads more after %d rounds\n",
           (long long)after - (long long)before, files, threads, rounds);
    return 1;
}
