/* Threads that each have a communicator of their own: with scalable endpoints (mtl_ofi_enable_sep), a context, too. */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

#include "check.h"

enum { kThreads = 7, kRounds = 60, kSizes = 5 };
static const size_t sizes[kSizes] = {1, 64, 5000, 100000, 1u << 20};

static MPI_Comm communicators[kThreads];

/* Around a ring, so that any number of processes takes part. */
static void* exchange(void* argument) {
    const int thread = (int)(intptr_t)argument;
    const int next = (world_rank + 1) % world_size, last = (world_rank + world_size - 1) % world_size;
    const MPI_Comm communicator = communicators[thread];
    unsigned char* out = need(sizes[kSizes - 1]);
    unsigned char* in = need(sizes[kSizes - 1]);
    for (int round = 0; round < kRounds; ++round) {
        const size_t size = sizes[(round + thread) % kSizes];
        fill(out, size, seed_of(world_rank, next, round + thread, size));
        DO(MPI_Sendrecv(out, (int)size, MPI_BYTE, next, round, in, (int)size, MPI_BYTE, last, round, communicator,
                        MPI_STATUS_IGNORE));
        CHECK(holds(in, size, seed_of(last, world_rank, round + thread, size)));
    }
    DO(MPI_Barrier(communicator));
    free(out);
    free(in);
    return NULL;
}

void threads(void) {
    pthread_t running[kThreads];
    int level;
    DO(MPI_Query_thread(&level));
    CHECK(level == MPI_THREAD_MULTIPLE);
    for (int i = 0; i < kThreads; ++i) DO(MPI_Comm_dup(MPI_COMM_WORLD, &communicators[i]));
    for (int i = 0; i < kThreads; ++i) CHECK(!pthread_create(&running[i], NULL, exchange, (void*)(intptr_t)i));
    for (int i = 0; i < kThreads; ++i) CHECK(!pthread_join(running[i], NULL));
    for (int i = 0; i < kThreads; ++i) DO(MPI_Comm_free(&communicators[i]));
}
