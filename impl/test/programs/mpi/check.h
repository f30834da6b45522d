/* What the parts of the MPI program share: a check that names the place and ends the run, bytes that tell who made
 * them, and the world. */
#pragma once

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

extern int world_rank;
extern int world_size;
extern const char* program_name; /* to start it once more */

#define CHECK(condition)                                                                         \
    do {                                                                                         \
        if (!(condition)) {                                                                      \
            fprintf(stderr, "rank %d: %s:%d: %s\n", world_rank, __FILE__, __LINE__, #condition); \
            MPI_Abort(MPI_COMM_WORLD, 1);                                                        \
        }                                                                                        \
    } while (0)
#define DO(call) CHECK((call) == MPI_SUCCESS)

/* Memory that is there, or the run ends. */
void* need(size_t size);
/* Bytes that only this seed gives, whatever the size. */
void fill(void* bytes, size_t size, uint64_t seed);
int holds(const void* bytes, size_t size, uint64_t seed);
uint64_t seed_of(int from, int to, int tag, size_t size);

void point_to_point(void);
void collectives(void);
void one_sided(void);
void dynamic(void);
void spawning(void);
/* With MPI_THREAD_MULTIPLE, which it has when it alone is named. */
void threads(void);
/* What a process does that spawning() has started. */
void spawned(void);
