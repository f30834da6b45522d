/* Processes that meet after MPI_Init: spawned ones, two groups that connect over a port, and intercommunicators. Each
 * peer is new to the library at that moment, and leaves before the others do. */
#include <stdlib.h>
#include <string.h>

#include "check.h"

enum { kChildren = 2, kRounds = 3, kSmall = 64, kLarge = 200000 };

/* Every process of one group sends to every process of the other, of two sizes; contents tell both ends. */
static void exchange(MPI_Comm between, int tag) {
    int here, there, me;
    DO(MPI_Comm_size(between, &here));
    DO(MPI_Comm_remote_size(between, &there));
    DO(MPI_Comm_rank(between, &me));
    for (int turn = 0; turn < 2; ++turn) {
        const size_t size = turn ? kLarge : kSmall;
        MPI_Request* requests = need((size_t)there * 2 * sizeof *requests);
        char* in = need((size_t)there * size);
        char* out = need((size_t)there * size);
        for (int peer = 0; peer < there; ++peer) {
            char* mine = out + (size_t)peer * size;
            fill(mine, size, seed_of(me, peer, tag, size));
            DO(MPI_Irecv(in + (size_t)peer * size, (int)size, MPI_BYTE, peer, tag, between, &requests[2 * peer]));
            DO(MPI_Isend(mine, (int)size, MPI_BYTE, peer, tag, between, &requests[2 * peer + 1]));
        }
        DO(MPI_Waitall(2 * there, requests, MPI_STATUSES_IGNORE));
        for (int peer = 0; peer < there; ++peer) {
            CHECK(holds(in + (size_t)peer * size, size, seed_of(peer, me, tag, size)));
        }
        free(requests);
        free(in);
        free(out);
    }
}

/* Collective calls of the two groups, and of both as one. first: this group's ranks come first in the union. */
static void together(MPI_Comm between, int first) {
    int me, there, all, value, sum = 0, rank;
    MPI_Comm both;
    DO(MPI_Comm_rank(between, &me));
    DO(MPI_Comm_remote_size(between, &there));
    value = me + 1;
    DO(MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, between));
    CHECK(sum == there * (there + 1) / 2);
    DO(MPI_Intercomm_merge(between, !first, &both));
    DO(MPI_Comm_rank(both, &rank));
    DO(MPI_Comm_size(both, &all));
    value = 1 << rank;
    DO(MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_BOR, both));
    CHECK(sum == (1 << all) - 1);
    DO(MPI_Comm_free(&both));
}

static void spawn(const char* program, int round) {
    char* arguments[] = {"child", NULL};
    int errors[kChildren];
    MPI_Comm children;
    DO(MPI_Comm_spawn(program, arguments, kChildren, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children, errors));
    for (int i = 0; i < kChildren; ++i) CHECK(errors[i] == MPI_SUCCESS);
    DO(MPI_Bcast(&round, 1, MPI_INT, world_rank ? MPI_PROC_NULL : MPI_ROOT, children));
    exchange(children, round);
    together(children, 1);
    DO(MPI_Comm_disconnect(&children));
}

void spawned(void) {
    int round;
    MPI_Comm parents;
    DO(MPI_Comm_get_parent(&parents));
    DO(MPI_Bcast(&round, 1, MPI_INT, 0, parents));
    exchange(parents, round);
    together(parents, 0);
    DO(MPI_Comm_disconnect(&parents));
}

/* The first half of the world accepts what the other half connects. */
static void meet(MPI_Comm half, int accepts, int round) {
    char port[MPI_MAX_PORT_NAME];
    MPI_Comm between;
    memset(port, 0, sizeof port);
    if (!world_rank) DO(MPI_Open_port(MPI_INFO_NULL, port));
    DO(MPI_Bcast(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, MPI_COMM_WORLD));
    if (accepts) {
        DO(MPI_Comm_accept(port, MPI_INFO_NULL, 0, half, &between));
    } else {
        DO(MPI_Comm_connect(port, MPI_INFO_NULL, 0, half, &between));
    }
    exchange(between, 100 + round);
    together(between, accepts);
    DO(MPI_Comm_disconnect(&between));
    if (!world_rank) DO(MPI_Close_port(port));
}

void spawning(void) {
    for (int round = 0; round < kRounds; ++round) spawn(program_name, round);
}

void dynamic(void) {
    MPI_Comm half, between;
    const int middle = (world_size + 1) / 2;
    const int first = world_rank < middle;
    if (world_size < 2) return;
    DO(MPI_Comm_split(MPI_COMM_WORLD, first, world_rank, &half));
    DO(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, first ? middle : 0, 7, &between));
    exchange(between, 50);
    together(between, first);
    DO(MPI_Comm_free(&between));
    for (int round = 0; round < kRounds; ++round) meet(half, first, round);
    DO(MPI_Comm_free(&half));
}
