/* A real MPI program: every way to move a message that MPI has, with contents that are verified. Knows nothing of the
 * library below.
 *   mpi_program [point_to_point] [collectives] [one_sided] [dynamic]      all when none is named */
#include <stdlib.h>
#include <string.h>

#include "check.h"

int world_rank;
int world_size;
const char* program_name;

void* need(size_t size) {
    void* bytes = malloc(size ? size : 1);
    CHECK(bytes);
    return bytes;
}

static uint64_t next_word(uint64_t* state) {
    *state += 0x9e3779b97f4a7c15u;
    uint64_t word = *state;
    word = (word ^ (word >> 30)) * 0xbf58476d1ce4e5b9u;
    return word ^ (word >> 27);
}

void fill(void* bytes, size_t size, uint64_t seed) {
    unsigned char* at = bytes;
    while (size) {
        const uint64_t word = next_word(&seed);
        const size_t part = size < sizeof word ? size : sizeof word;
        memcpy(at, &word, part);
        at += part;
        size -= part;
    }
}

int holds(const void* bytes, size_t size, uint64_t seed) {
    const unsigned char* at = bytes;
    while (size) {
        const uint64_t word = next_word(&seed);
        const size_t part = size < sizeof word ? size : sizeof word;
        if (memcmp(at, &word, part) != 0) return 0;
        at += part;
        size -= part;
    }
    return 1;
}

uint64_t seed_of(int from, int to, int tag, size_t size) {
    return (uint64_t)from << 48 ^ (uint64_t)to << 40 ^ (uint64_t)tag << 28 ^ size;
}

static const struct {
    const char* name;
    void (*run)(void);
    int if_named; /* and not with all others */
} parts[] = {{"point_to_point", point_to_point, 0},
             {"collectives", collectives, 0},
             {"one_sided", one_sided, 0},
             {"dynamic", dynamic, 0},
             {"spawning", spawning, 1},
             {"threads", threads, 1}};

static int wanted(size_t part, int count, char** names) {
    for (int i = 1; i < count; ++i) {
        if (strcmp(names[i], parts[part].name) == 0) return 1;
    }
    return count < 2 && !parts[part].if_named;
}

int main(int count, char** arguments) {
    int level;
    const int threaded = count == 2 && strcmp(arguments[1], "threads") == 0;
    MPI_Init_thread(&count, &arguments, threaded ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world_size);
    program_name = arguments[0];
    MPI_Comm parents;
    MPI_Comm_get_parent(&parents);
    if (parents != MPI_COMM_NULL) {
        spawned();
        MPI_Finalize();
        return 0;
    }
    for (size_t i = 0; i < sizeof parts / sizeof *parts; ++i) {
        if (!wanted(i, count, arguments)) continue;
        MPI_Barrier(MPI_COMM_WORLD);
        const double start = MPI_Wtime();
        parts[i].run();
        MPI_Barrier(MPI_COMM_WORLD);
        if (!world_rank) printf("%s on %d: fine, %.2f s\n", parts[i].name, world_size, MPI_Wtime() - start);
    }
    MPI_Finalize();
    return 0;
}
