/* What `selvage bench --against openmpi` runs: rows of the benchmark by MPI's calls. It is carried in the tool as text
 * and compiled with the mpicc of the machine.
 *
 *   mpirun -n MEMBERS mpi_program MILLISECONDS REALTIME CORES MEMORY ROW...
 *
 * MEMORY is what one-sided calls access: "own" is MPI's (MPI_Win_allocate), "app" the program's (MPI_Win_create).
 * CORES are "0,1": rank r is pinned to the r-th, again from the first when there are more ranks; "-" pins nothing. A
 * row is OPERATION:KIND:SIZE:WINDOW. Rank 0 prints, for the i-th row, "begin I", then "samples I" and nanoseconds of a
 * turn: an operation, one there and back, or a window with its answer; or "cannot I WHY".
 */
#define _GNU_SOURCE
#include <mpi.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { kSamplesMost = 4096, kWindowMost = 64, kLifetime = 120 /* s */ };
enum { kCollectiveLeast = 16 }; /* in a block, as bench's own */
#define LARGEST ((size_t)4 << 20)
#define BLOCK 100e3 /* ns; as bench's own */

struct row {
    char operation[32], kind[32];
    int size, window;
};

static int self, members;
static char *from, *to;
static MPI_Win window;
static char* exposed;

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static void pin(const char* cores) {
    int all[64], count = 0;
    cpu_set_t set;
    for (char* end; count < 64 && *cores >= '0' && *cores <= '9'; cores = *end == ',' ? end + 1 : end)
        all[count++] = (int)strtol(cores, &end, 10);
    if (count == 0) return;
    CPU_ZERO(&set);
    CPU_SET(all[self % count], &set);
    sched_setaffinity(0, sizeof set, &set);
}

static void hurry(int on) {
    struct sched_param parameters = {.sched_priority = on ? 1 : 0};
    sched_setscheduler(0, on ? SCHED_FIFO : SCHED_OTHER, &parameters);
}

static int is(const char* text, const char* other) { return strcmp(text, other) == 0; }

static void ping_pong(const struct row* row) {
    if (self == 0) {
        MPI_Send(from, row->size, MPI_BYTE, 1, 7, MPI_COMM_WORLD);
        MPI_Recv(to, row->size, MPI_BYTE, 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        MPI_Recv(to, row->size, MPI_BYTE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(from, row->size, MPI_BYTE, 0, 7, MPI_COMM_WORLD);
    }
}

static void stream(const struct row* row) {
    MPI_Request requests[kWindowMost];
    if (self == 0) {
        for (int i = 0; i < row->window; ++i) MPI_Isend(from, row->size, MPI_BYTE, 1, 7, MPI_COMM_WORLD, &requests[i]);
        MPI_Waitall(row->window, requests, MPI_STATUSES_IGNORE);
        MPI_Recv(to, 4, MPI_BYTE, 1, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        for (int i = 0; i < row->window; ++i) MPI_Irecv(to, row->size, MPI_BYTE, 0, 7, MPI_COMM_WORLD, &requests[i]);
        MPI_Waitall(row->window, requests, MPI_STATUSES_IGNORE);
        MPI_Send(from, 4, MPI_BYTE, 0, 8, MPI_COMM_WORLD);
    }
}

static void access_once(const struct row* row) {
    static uint64_t one = 1, other = 2, result;
    const int times = is(row->kind, "bandwidth") ? row->window : 1;
    for (int i = 0; i < times; ++i) {
        if (is(row->operation, "read"))
            MPI_Get(to, row->size, MPI_BYTE, 1, 0, row->size, MPI_BYTE, window);
        else if (is(row->operation, "fetch-add"))
            MPI_Fetch_and_op(&one, &result, MPI_UINT64_T, 1, 0, MPI_SUM, window);
        else if (is(row->operation, "compare-swap"))
            MPI_Compare_and_swap(&one, &other, &result, MPI_UINT64_T, 1, 0, window);
        else
            MPI_Put(from, row->size, MPI_BYTE, 1, 0, row->size, MPI_BYTE, window);
    }
    if (is(row->operation, "write-inject-complete"))
        MPI_Win_flush_local(1, window);
    else
        MPI_Win_flush(1, window);
}

static void collective(const struct row* row) {
    const int size = row->size;
    if (is(row->operation, "barrier")) MPI_Barrier(MPI_COMM_WORLD);
    if (is(row->operation, "broadcast")) MPI_Bcast(from, size, MPI_BYTE, 0, MPI_COMM_WORLD);
    if (is(row->operation, "allreduce")) MPI_Allreduce(from, to, size / 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (is(row->operation, "allgather")) MPI_Allgather(from, size, MPI_BYTE, to, size, MPI_BYTE, MPI_COMM_WORLD);
    if (is(row->operation, "alltoall")) MPI_Alltoall(from, size, MPI_BYTE, to, size, MPI_BYTE, MPI_COMM_WORLD);
}

typedef void (*turn_function)(const struct row*);

static int is_one_sided(const struct row* row) { return !is(row->operation, "tagged") && !is(row->kind, "collective"); }

static turn_function turn_of(const struct row* row) {
    if (is(row->kind, "collective")) return collective;
    if (is_one_sided(row)) return access_once;
    return is(row->kind, "latency") ? ping_pong : stream;
}

/* Nanoseconds of a turn, of which all members do `turns`. The target of what is one-sided makes progress meanwhile. */
static double block(const struct row* row, int turns) {
    const turn_function turn = turn_of(row);
    const double began = now();
    if (!is_one_sided(row) || self == 0) {
        for (int i = 0; i < turns; ++i) turn(row);
    }
    const double took = (now() - began) / turns;
    if (is_one_sided(row)) MPI_Barrier(MPI_COMM_WORLD);
    return took;
}

/* Rank 0 decides how many turns each block has; 0 ends the row. */
static int announced(int turns) {
    MPI_Bcast(&turns, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return turns;
}

static void measure(const struct row* row, int number, double effort) {
    static double samples[kSamplesMost];
    int count = 0;
    if (self != 0) {
        for (int turns; (turns = announced(0)) != 0;) block(row, turns);
        return;
    }
    printf("begin %d\n", number);
    fflush(stdout);
    block(row, announced(4)); /* what happens only at first has happened */
    double fastest = 1e12;
    for (int i = 0; i < 3; ++i) {
        const double took = block(row, announced(row->size <= 4096 ? 64 : 2));
        if (took < fastest) fastest = took;
    }
    const int fewest = is(row->kind, "collective") ? kCollectiveLeast : 1;
    const int fitting = (int)(BLOCK / fastest);
    const int each = fitting > fewest ? fitting : fewest;
    const double begun = now(), least = begun + effort, most = begun + 5 * effort;
    while (count < kSamplesMost && (now() < least || (count < 3 && now() < most) || count == 0))
        samples[count++] = block(row, announced(each));
    announced(0);
    printf("samples %d", number);
    for (int i = 0; i < count; ++i) printf(" %.1f", samples[i]);
    printf("\n");
    fflush(stdout);
}

static int parse(const char* text, struct row* row) {
    return sscanf(text, "%31[^:]:%31[^:]:%d:%d", row->operation, row->kind, &row->size, &row->window) == 4 &&
           row->size >= 0 && (size_t)row->size <= LARGEST && row->window > 0 && row->window <= kWindowMost;
}

int main(int argc, char** argv) {
    enum { kFirstRow = 5 };
    alarm(kLifetime);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &self);
    MPI_Comm_size(MPI_COMM_WORLD, &members);
    if (argc < kFirstRow || members < 2) return 2;
    const double effort = atof(argv[1]) * 1e6;
    const int realtime = atoi(argv[2]);
    pin(argv[3]);
    from = malloc(LARGEST * (size_t)members);
    to = malloc(LARGEST * (size_t)members);
    memset(from, 1, LARGEST * (size_t)members);
    memset(to, 1, LARGEST * (size_t)members);
    if (is(argv[4], "own")) {
        MPI_Win_allocate((MPI_Aint)LARGEST, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &exposed, &window);
    } else {
        exposed = malloc(LARGEST);
        MPI_Win_create(exposed, (MPI_Aint)LARGEST, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    }
    memset(exposed, 1, LARGEST);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, window);
    MPI_Barrier(MPI_COMM_WORLD);
    /* All the time: a rank that is not first yet would wait for ever behind one that is and that waits for it. */
    if (realtime) hurry(1);
    for (int i = kFirstRow; i < argc; ++i) {
        struct row row;
        if (!parse(argv[i], &row)) {
            if (self == 0) printf("cannot %d it is no row\n", i - kFirstRow);
            continue;
        }
        measure(&row, i - kFirstRow, effort);
    }
    if (realtime) hurry(0);
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}
