/* checks.h for programs whose checks each open what they need of one provider, in one process:
 *
 *   PROGRAM PROVIDER FOLDER [automatic]
 *
 * The program says by wanted() what it asks for, and by move(), where it uses AWAIT, how all of it gets on. */
#pragma once

#include <rdma/fabric.h>
#include <rdma/fi_errno.h>
#include <time.h>

#include "checks.h"

static const char* provider;
static int automatic;

static struct fi_info* wanted(void);

/* Of the last entry that failed, a positive errno: move() notes it, as a wait for another entry may end for it. */
static int entry_error;

static void give_up(const char* what, long result) {
    printf("    %s: %ld (%s)\n", what, result, fi_strerror((int)-result));
    if (entry_error) printf("    an entry failed: %d (%s)\n", entry_error, fi_strerror(entry_error));
    exit(1);
}

/* In seconds. */
static inline double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}
/* Of this thread's own processor time, in seconds. Limits are given in it: where others run in its place, one move()
   may take seconds, and nothing is lost by that. */
static inline double busy(void) {
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}
#define AWAIT(condition)                                    \
    do {                                                    \
        const double end = busy() + 4;                      \
        while (!(condition) && busy() < end) move();        \
        if (!(condition)) give_up("never: " #condition, 0); \
    } while (0)

/* Takes the arguments. 0, or the status to exit with: 2 where they are wrong or another libfabric runs, 77 where nobody
 * offers what is wanted, which `lacks` says of the provider. */
static inline int begin_checks(int argc, char** argv, const char* lacks) {
    if (argc < 3 || !loaded_from(argv[2])) return 2;
    provider = argv[1];
    automatic = argc > 3 && strcmp(argv[3], "automatic") == 0;
    struct fi_info* found = wanted();
    if (!found) {
        printf("%s %s\n", provider, lacks);
        return 77;
    }
    fi_freeinfo(found);
    return 0;
}

/* 1 if one of them was not kept. */
static inline int run_checks(const struct check* checks, size_t count, void (*prepare)(void)) {
    int broken = 0;
    for (size_t i = 0; i < count; ++i) broken |= run_apart(&checks[i], prepare);
    return broken;
}
