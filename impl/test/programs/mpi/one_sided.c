/* Windows: memory that others write, read and change, in all three ways to synchronise. */
#include <stdlib.h>

#include "check.h"

enum { kSlot = 40000 }; /* numbers that each rank may write at each other */

static int value_of(int from, int to, int i) { return from * 7919 + to * 104729 + i; }

static void put_and_get(MPI_Win window, int* memory) {
    int* numbers = need(kSlot * sizeof *numbers);
    const int sizes[] = {1, 5, 1000, kSlot};
    for (int round = 0; round < 4; ++round) {
        const int count = sizes[round];
        for (int i = 0; i < kSlot * world_size; ++i) memory[i] = -1;
        DO(MPI_Win_fence(0, window));
        for (int to = 0; to < world_size; ++to) {
            for (int i = 0; i < count; ++i) numbers[i] = value_of(world_rank, to, i);
            DO(MPI_Put(numbers, count, MPI_INT, to, (MPI_Aint)world_rank * kSlot, count, MPI_INT, window));
            DO(MPI_Win_fence(0, window));
        }
        for (int from = 0; from < world_size; ++from) {
            const int* slot = memory + (size_t)from * kSlot;
            for (int i = 0; i < count; ++i) CHECK(slot[i] == value_of(from, world_rank, i));
            CHECK(count == kSlot || slot[count] == -1);
        }
        DO(MPI_Win_fence(0, window));
        const int peer = (world_rank + 1) % world_size;
        for (int i = 0; i < count; ++i) numbers[i] = 0;
        DO(MPI_Get(numbers, count, MPI_INT, peer, (MPI_Aint)world_rank * kSlot, count, MPI_INT, window));
        DO(MPI_Win_fence(0, window));
        for (int i = 0; i < count; ++i) CHECK(numbers[i] == value_of(world_rank, peer, i));
        DO(MPI_Win_fence(0, window));
    }
    free(numbers);
}

static void accumulate(MPI_Win window, int* memory) {
    enum { kCount = 500 };
    int terms[kCount];
    for (int i = 0; i < kCount; ++i) {
        memory[i] = 0;
        terms[i] = world_rank + i;
    }
    DO(MPI_Win_fence(0, window));
    for (int to = 0; to < world_size; ++to) {
        DO(MPI_Accumulate(terms, kCount, MPI_INT, to, 0, kCount, MPI_INT, MPI_SUM, window));
    }
    DO(MPI_Win_fence(0, window));
    for (int i = 0; i < kCount; ++i) CHECK(memory[i] == world_size * (world_size - 1) / 2 + world_size * i);
    DO(MPI_Win_fence(0, window));
}

/* Tickets from rank 0: each is given out once. Then a lock made of compare-and-swap. */
static void atomics(MPI_Win window, int* memory) {
    enum { kEach = 25 };
    const int one = 1, free_mark = 0, mine = world_rank + 1;
    int tickets[kEach];
    for (int i = 0; i < 3; ++i) memory[i] = 0;
    DO(MPI_Barrier(MPI_COMM_WORLD));
    DO(MPI_Win_lock_all(0, window));
    for (int i = 0; i < kEach; ++i) {
        DO(MPI_Fetch_and_op(&one, &tickets[i], MPI_INT, 0, 0, MPI_SUM, window));
        DO(MPI_Win_flush(0, window));
        CHECK(!i || tickets[i] > tickets[i - 1]);
    }
    for (int i = 0; i < 3; ++i) {
        int seen;
        do {
            DO(MPI_Compare_and_swap(&mine, &free_mark, &seen, MPI_INT, 0, 1, window));
            DO(MPI_Win_flush(0, window));
        } while (seen != 0);
        int value;
        DO(MPI_Get(&value, 1, MPI_INT, 0, 2, 1, MPI_INT, window));
        DO(MPI_Win_flush(0, window));
        ++value;
        DO(MPI_Put(&value, 1, MPI_INT, 0, 2, 1, MPI_INT, window));
        DO(MPI_Win_flush(0, window));
        DO(MPI_Compare_and_swap(&free_mark, &mine, &seen, MPI_INT, 0, 1, window));
        DO(MPI_Win_flush(0, window));
        CHECK(seen == mine);
    }
    DO(MPI_Win_unlock_all(window));
    int* all = need((size_t)(kEach * world_size) * sizeof *all);
    DO(MPI_Gather(tickets, kEach, MPI_INT, all, kEach, MPI_INT, 0, MPI_COMM_WORLD));
    if (!world_rank) {
        char* given = calloc((size_t)(kEach * world_size), 1);
        CHECK(given);
        for (int i = 0; i < kEach * world_size; ++i) {
            CHECK(all[i] >= 0 && all[i] < kEach * world_size && !given[all[i]]);
            given[all[i]] = 1;
        }
        free(given);
    }
    free(all);
    DO(MPI_Barrier(MPI_COMM_WORLD));
    DO(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window));
    int count;
    DO(MPI_Get(&count, 1, MPI_INT, 0, 2, 1, MPI_INT, window));
    DO(MPI_Win_unlock(0, window));
    CHECK(count == 3 * world_size);
    DO(MPI_Barrier(MPI_COMM_WORLD));
}

/* Start, complete, post, wait: each with its neighbours alone. */
static void neighbours(MPI_Win window, int* memory) {
    MPI_Group world, from, to;
    const int left = (world_rank + world_size - 1) % world_size;
    const int right = (world_rank + 1) % world_size;
    DO(MPI_Comm_group(MPI_COMM_WORLD, &world));
    DO(MPI_Group_incl(world, 1, &left, &from));
    DO(MPI_Group_incl(world, 1, &right, &to));
    for (int round = 0; round < 10; ++round) {
        const int value = world_rank * 100 + round;
        memory[0] = -1;
        DO(MPI_Win_post(from, 0, window));
        DO(MPI_Win_start(to, 0, window));
        DO(MPI_Put(&value, 1, MPI_INT, right, 0, 1, MPI_INT, window));
        DO(MPI_Win_complete(window));
        DO(MPI_Win_wait(window));
        CHECK(memory[0] == left * 100 + round);
    }
    DO(MPI_Group_free(&from));
    DO(MPI_Group_free(&to));
    DO(MPI_Group_free(&world));
    DO(MPI_Barrier(MPI_COMM_WORLD));
}

void one_sided(void) {
    int* memory;
    MPI_Win window;
    const MPI_Aint size = (MPI_Aint)sizeof(int) * kSlot * world_size;
    DO(MPI_Win_allocate(size, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window));
    put_and_get(window, memory);
    accumulate(window, memory);
    atomics(window, memory);
    neighbours(window, memory);
    DO(MPI_Win_free(&window));
}
