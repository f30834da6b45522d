/* For plain C programs of the tests that are a list of checks. The program says how one gives up; the macros call it
 * with what did not hold, and with the result of a call that failed. */
#pragma once

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "loaded.h"

/* Ends the process that the check runs in. */
static void give_up(const char* what, long result);

#define DO(call)                                    \
    do {                                            \
        const long returned = (long)(call);         \
        if (returned < 0) give_up(#call, returned); \
    } while (0)
#define EXPECT(condition)                         \
    do {                                          \
        if (!(condition)) give_up(#condition, 0); \
    } while (0)

struct check {
    const char* what;
    void (*run)(void);
};

/* In a process of its own, which may hang or crash; `prepare` runs before the check. 1 if it was not kept. */
static inline int run_apart(const struct check* check, void (*prepare)(void)) {
    int status;
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        alarm(30);
        prepare();
        check->run();
        exit(0);
    }
    waitpid(child, &status, 0);
    const int kept = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    printf("%-8s %s", kept ? "kept" : "NOT KEPT", check->what);
    if (WIFSIGNALED(status)) printf(" (%s)", strsignal(WTERMSIG(status)));
    printf("\n");
    return !kept;
}
