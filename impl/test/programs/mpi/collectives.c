/* Collective calls, of small and of large data, on the world and on parts of it. */
#include <stdlib.h>

#include "check.h"

static int term(int rank, int i) { return rank * 31 + i % 1000; }

static int sum_of_terms(int i) {
    int sum = 0;
    for (int rank = 0; rank < world_size; ++rank) sum += term(rank, i);
    return sum;
}

static void broadcast(size_t size) {
    char* bytes = need(size);
    for (int root = 0; root < world_size; ++root) {
        fill(bytes, size, (uint64_t)(world_rank == root ? 1000 + root : 1));
        DO(MPI_Bcast(bytes, (int)size, MPI_BYTE, root, MPI_COMM_WORLD));
        CHECK(holds(bytes, size, (uint64_t)(1000 + root)));
    }
    free(bytes);
}

static void reductions(int count) {
    int* in = need((size_t)count * sizeof *in);
    int* out = need((size_t)count * sizeof *out);
    for (int i = 0; i < count; ++i) in[i] = term(world_rank, i);
    DO(MPI_Allreduce(in, out, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    for (int i = 0; i < count; ++i) CHECK(out[i] == sum_of_terms(i));
    DO(MPI_Reduce(in, out, count, MPI_INT, MPI_MAX, world_size - 1, MPI_COMM_WORLD));
    if (world_rank == world_size - 1) {
        for (int i = 0; i < count; ++i) CHECK(out[i] == term(world_size - 1, i));
    }
    DO(MPI_Scan(in, out, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    for (int i = 0; i < count; ++i) {
        int sum = 0;
        for (int rank = 0; rank <= world_rank; ++rank) sum += term(rank, i);
        CHECK(out[i] == sum);
    }
    MPI_Request request;
    DO(MPI_Iallreduce(in, out, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request));
    DO(MPI_Wait(&request, MPI_STATUS_IGNORE));
    for (int i = 0; i < count; ++i) CHECK(out[i] == sum_of_terms(i));
    free(in);
    free(out);
}

static void exchanges(size_t size) {
    const size_t all = (size_t)world_size;
    char* out = need(all * size);
    char* in = need(all * size);
    for (int to = 0; to < world_size; ++to) fill(out + (size_t)to * size, size, seed_of(world_rank, to, 0, size));
    DO(MPI_Alltoall(out, (int)size, MPI_BYTE, in, (int)size, MPI_BYTE, MPI_COMM_WORLD));
    for (int from = 0; from < world_size; ++from) {
        CHECK(holds(in + (size_t)from * size, size, seed_of(from, world_rank, 0, size)));
    }
    fill(out, size, (uint64_t)world_rank);
    DO(MPI_Allgather(out, (int)size, MPI_BYTE, in, (int)size, MPI_BYTE, MPI_COMM_WORLD));
    for (int from = 0; from < world_size; ++from) CHECK(holds(in + (size_t)from * size, size, (uint64_t)from));
    fill(in, all * size, 5);
    DO(MPI_Gather(out, (int)size, MPI_BYTE, in, (int)size, MPI_BYTE, 0, MPI_COMM_WORLD));
    for (int from = 0; from < world_size && !world_rank; ++from) {
        CHECK(holds(in + (size_t)from * size, size, (uint64_t)from));
    }
    DO(MPI_Scatter(in, (int)size, MPI_BYTE, out, (int)size, MPI_BYTE, 0, MPI_COMM_WORLD));
    CHECK(holds(out, size, (uint64_t)world_rank));
    free(out);
    free(in);
}

/* Everybody sends everybody another number of bytes; some of them none. */
static void uneven_exchange(int unit) {
    const size_t all = (size_t)world_size;
    int* layout = need(4 * all * sizeof *layout);
    int *out_counts = layout, *out_at = layout + all, *in_counts = layout + 2 * all, *in_at = layout + 3 * all;
    int out_total = 0, in_total = 0;
    for (int peer = 0; peer < world_size; ++peer) {
        out_counts[peer] = (world_rank + 2 * peer) % 5 * unit;
        in_counts[peer] = (peer + 2 * world_rank) % 5 * unit;
        out_at[peer] = out_total;
        in_at[peer] = in_total;
        out_total += out_counts[peer];
        in_total += in_counts[peer];
    }
    char* out = need((size_t)out_total);
    char* in = need((size_t)in_total);
    for (int to = 0; to < world_size; ++to) {
        fill(out + out_at[to], (size_t)out_counts[to], seed_of(world_rank, to, 3, (size_t)out_counts[to]));
    }
    DO(MPI_Alltoallv(out, out_counts, out_at, MPI_BYTE, in, in_counts, in_at, MPI_BYTE, MPI_COMM_WORLD));
    for (int from = 0; from < world_size; ++from) {
        CHECK(holds(in + in_at[from], (size_t)in_counts[from], seed_of(from, world_rank, 3, (size_t)in_counts[from])));
    }
    free(out);
    free(in);
    free(layout);
}

/* Halves of the world do the same at the same time, and do not hear each other. */
static void parts(void) {
    MPI_Comm half;
    int rank, size, sum;
    DO(MPI_Comm_split(MPI_COMM_WORLD, world_rank % 2, -world_rank, &half));
    DO(MPI_Comm_rank(half, &rank));
    DO(MPI_Comm_size(half, &size));
    for (int i = 0; i < 10; ++i) {
        DO(MPI_Allreduce(&world_rank, &sum, 1, MPI_INT, MPI_SUM, half));
        int expected = 0;
        for (int other = world_rank % 2; other < world_size; other += 2) expected += other;
        CHECK(sum == expected);
    }
    CHECK(rank == size - 1 - world_rank / 2);
    DO(MPI_Comm_free(&half));
}

void collectives(void) {
    for (int i = 0; i < 20; ++i) DO(MPI_Barrier(MPI_COMM_WORLD));
    broadcast(1);
    broadcast(3000);
    broadcast(700000);
    reductions(1);
    reductions(1000);
    reductions(100000);
    exchanges(4);
    exchanges(3000);
    exchanges(150000);
    uneven_exchange(1);
    uneven_exchange(33333);
    parts();
}
