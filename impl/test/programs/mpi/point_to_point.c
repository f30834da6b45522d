/* Messages between two: sizes, tags, modes, wildcards, probes, order, what nobody expected yet, what is cut short. */
#include <stdlib.h>

#include "check.h"

enum { kWindow = 32, kTag = 7 };

static int right(void) { return (world_rank + 1) % world_size; }
static int left(void) { return (world_rank + world_size - 1) % world_size; }

static const size_t sizes[] = {0,    1,    7,     8,     32,    63,     64,     200,    1000,   4095,
                               4096, 4097, 16384, 16385, 65536, 100000, 131072, 131073, 262145, 1u << 20};
enum { kSizes = sizeof sizes / sizeof *sizes };

/* Everybody passes messages of every size around. */
static void ring(void) {
    for (int i = 0; i < kSizes; ++i) {
        const size_t size = sizes[i];
        char* out = need(size);
        char* in = need(size);
        MPI_Status status;
        int count;
        fill(out, size, seed_of(world_rank, right(), i, size));
        DO(MPI_Sendrecv(out, (int)size, MPI_BYTE, right(), i, in, (int)size, MPI_BYTE, left(), i, MPI_COMM_WORLD,
                        &status));
        DO(MPI_Get_count(&status, MPI_BYTE, &count));
        CHECK(count == (int)size && status.MPI_SOURCE == left() && status.MPI_TAG == i);
        CHECK(holds(in, size, seed_of(left(), world_rank, i, size)));
        free(out);
        free(in);
    }
}

/* Many at once, received in another order than sent: tags decide. */
static void window(size_t size) {
    MPI_Request requests[2 * kWindow];
    char* out = need(kWindow * size);
    char* in = need(kWindow * size);
    for (int i = 0; i < kWindow; ++i) {
        DO(MPI_Irecv(in + (size_t)i * size, (int)size, MPI_BYTE, left(), kWindow - i, MPI_COMM_WORLD, &requests[i]));
    }
    for (int i = 0; i < kWindow; ++i) {
        fill(out + (size_t)i * size, size, seed_of(world_rank, right(), i + 1, size));
        DO(MPI_Isend(out + (size_t)i * size, (int)size, MPI_BYTE, right(), i + 1, MPI_COMM_WORLD,
                     &requests[kWindow + i]));
    }
    DO(MPI_Waitall(2 * kWindow, requests, MPI_STATUSES_IGNORE));
    for (int i = 0; i < kWindow; ++i) {
        CHECK(holds(in + (size_t)i * size, size, seed_of(left(), world_rank, kWindow - i, size)));
    }
    free(out);
    free(in);
}

/* Sent before anybody asked: kept, in order, until somebody does. */
static void unexpected(size_t size) {
    MPI_Request requests[kWindow];
    char* out = need(kWindow * size);
    char* in = need(size);
    for (int i = 0; i < kWindow; ++i) {
        fill(out + (size_t)i * size, size, seed_of(world_rank, right(), i, size));
        DO(MPI_Isend(out + (size_t)i * size, (int)size, MPI_BYTE, right(), kTag, MPI_COMM_WORLD, &requests[i]));
    }
    DO(MPI_Barrier(MPI_COMM_WORLD));
    for (int i = 0; i < kWindow; ++i) {
        DO(MPI_Recv(in, (int)size, MPI_BYTE, left(), kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK(holds(in, size, seed_of(left(), world_rank, i, size)));
    }
    DO(MPI_Waitall(kWindow, requests, MPI_STATUSES_IGNORE));
    free(out);
    free(in);
}

/* Everybody sends to rank 0, which takes what comes. */
static void wildcards(void) {
    enum { kEach = 20, kMost = 5000 };
    char* bytes = need(kMost);
    if (world_rank) {
        for (int i = 0; i < kEach; ++i) {
            const size_t size = (size_t)(i * 251 % kMost);
            fill(bytes, size, seed_of(world_rank, 0, i, size));
            DO(MPI_Send(bytes, (int)size, MPI_BYTE, 0, i, MPI_COMM_WORLD));
        }
    } else {
        int* next = calloc((size_t)world_size, sizeof *next);
        CHECK(next);
        for (int i = 0; i < kEach * (world_size - 1); ++i) {
            MPI_Status status;
            int count;
            DO(MPI_Recv(bytes, kMost, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status));
            DO(MPI_Get_count(&status, MPI_BYTE, &count));
            CHECK(status.MPI_SOURCE > 0 && status.MPI_SOURCE < world_size);
            CHECK(status.MPI_TAG == next[status.MPI_SOURCE]++); /* none overtakes another of the same sender */
            CHECK(count == status.MPI_TAG * 251 % kMost);
            CHECK(holds(bytes, (size_t)count, seed_of(status.MPI_SOURCE, 0, status.MPI_TAG, (size_t)count)));
        }
        free(next);
    }
    free(bytes);
    DO(MPI_Barrier(MPI_COMM_WORLD));
}

/* A message is looked at before it is taken, and may be set aside for one receiver. */
static void probes(size_t size) {
    char* out = need(size);
    char* in = need(size);
    MPI_Request request;
    MPI_Status status;
    MPI_Message message;
    int flag = 0, count;
    fill(out, size, seed_of(world_rank, right(), kTag, size));
    DO(MPI_Isend(out, (int)size, MPI_BYTE, right(), kTag, MPI_COMM_WORLD, &request));
    DO(MPI_Probe(left(), MPI_ANY_TAG, MPI_COMM_WORLD, &status));
    DO(MPI_Get_count(&status, MPI_BYTE, &count));
    CHECK(count == (int)size && status.MPI_TAG == kTag);
    DO(MPI_Recv(in, count, MPI_BYTE, left(), kTag, MPI_COMM_WORLD, &status));
    CHECK(holds(in, size, seed_of(left(), world_rank, kTag, size)));
    DO(MPI_Wait(&request, MPI_STATUS_IGNORE));
    DO(MPI_Iprobe(left(), kTag + 1, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
    CHECK(!flag);

    fill(out, size, seed_of(world_rank, right(), kTag + 2, size));
    DO(MPI_Isend(out, (int)size, MPI_BYTE, right(), kTag + 2, MPI_COMM_WORLD, &request));
    DO(MPI_Mprobe(MPI_ANY_SOURCE, kTag + 2, MPI_COMM_WORLD, &message, &status));
    DO(MPI_Get_count(&status, MPI_BYTE, &count));
    CHECK(count == (int)size && status.MPI_SOURCE == left());
    DO(MPI_Mrecv(in, count, MPI_BYTE, &message, &status));
    CHECK(holds(in, size, seed_of(left(), world_rank, kTag + 2, size)));
    DO(MPI_Wait(&request, MPI_STATUS_IGNORE));
    free(out);
    free(in);
}

/* Synchronous, ready, buffered and persistent sends. */
static void modes(size_t size) {
    char* out = need(size);
    char* in = need(size);
    MPI_Request requests[2];
    fill(out, size, seed_of(world_rank, right(), 1, size));
    DO(MPI_Irecv(in, (int)size, MPI_BYTE, left(), 1, MPI_COMM_WORLD, &requests[0]));
    DO(MPI_Issend(out, (int)size, MPI_BYTE, right(), 1, MPI_COMM_WORLD, &requests[1]));
    DO(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    CHECK(holds(in, size, seed_of(left(), world_rank, 1, size)));

    fill(out, size, seed_of(world_rank, right(), 2, size));
    DO(MPI_Irecv(in, (int)size, MPI_BYTE, left(), 2, MPI_COMM_WORLD, &requests[0]));
    DO(MPI_Barrier(MPI_COMM_WORLD));
    DO(MPI_Rsend(out, (int)size, MPI_BYTE, right(), 2, MPI_COMM_WORLD));
    DO(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
    CHECK(holds(in, size, seed_of(left(), world_rank, 2, size)));

    const size_t room = size + MPI_BSEND_OVERHEAD;
    void* buffer = need(room);
    int detached;
    DO(MPI_Buffer_attach(buffer, (int)room));
    fill(out, size, seed_of(world_rank, right(), 3, size));
    DO(MPI_Bsend(out, (int)size, MPI_BYTE, right(), 3, MPI_COMM_WORLD));
    fill(out, size, 0); /* it was copied */
    DO(MPI_Recv(in, (int)size, MPI_BYTE, left(), 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK(holds(in, size, seed_of(left(), world_rank, 3, size)));
    DO(MPI_Buffer_detach(&buffer, &detached));
    free(buffer);

    DO(MPI_Send_init(out, (int)size, MPI_BYTE, right(), 4, MPI_COMM_WORLD, &requests[0]));
    DO(MPI_Recv_init(in, (int)size, MPI_BYTE, left(), 4, MPI_COMM_WORLD, &requests[1]));
    for (int round = 0; round < 5; ++round) {
        fill(out, size, seed_of(world_rank, right(), round, size));
        DO(MPI_Startall(2, requests));
        DO(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
        CHECK(holds(in, size, seed_of(left(), world_rank, round, size)));
    }
    DO(MPI_Request_free(&requests[0]));
    DO(MPI_Request_free(&requests[1]));
    free(out);
    free(in);
}

/* A receive that is taken back; a message that is longer than its receive; one to oneself; pieces of a matrix. */
static void odds_and_ends(void) {
    char bytes[64], in[64];
    MPI_Request request;
    MPI_Status status;
    int cancelled;
    DO(MPI_Irecv(in, sizeof in, MPI_BYTE, left(), 99, MPI_COMM_WORLD, &request));
    DO(MPI_Cancel(&request));
    DO(MPI_Wait(&request, &status));
    DO(MPI_Test_cancelled(&status, &cancelled));
    CHECK(cancelled);

    MPI_Comm quiet;
    DO(MPI_Comm_dup(MPI_COMM_WORLD, &quiet));
    DO(MPI_Comm_set_errhandler(quiet, MPI_ERRORS_RETURN));
    fill(bytes, sizeof bytes, (uint64_t)world_rank);
    DO(MPI_Isend(bytes, sizeof bytes, MPI_BYTE, right(), 5, quiet, &request));
    const int error = MPI_Recv(in, 16, MPI_BYTE, left(), 5, quiet, &status);
    CHECK(error != MPI_SUCCESS);
    DO(MPI_Wait(&request, MPI_STATUS_IGNORE));
    DO(MPI_Comm_free(&quiet));

    fill(bytes, sizeof bytes, 4711);
    DO(MPI_Sendrecv(bytes, sizeof bytes, MPI_BYTE, world_rank, 6, in, sizeof in, MPI_BYTE, world_rank, 6,
                    MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK(holds(in, sizeof in, 4711));

    enum { kRows = 300 };
    int(*matrix)[kRows] = need(sizeof(int[kRows][kRows]));
    int column[kRows];
    MPI_Datatype type;
    for (int i = 0; i < kRows; ++i) {
        for (int j = 0; j < kRows; ++j) matrix[i][j] = world_rank * 1000000 + i * kRows + j;
    }
    DO(MPI_Type_vector(kRows, 1, kRows, MPI_INT, &type));
    DO(MPI_Type_commit(&type));
    DO(MPI_Sendrecv(&matrix[0][17], 1, type, right(), 8, column, kRows, MPI_INT, left(), 8, MPI_COMM_WORLD,
                    MPI_STATUS_IGNORE));
    for (int i = 0; i < kRows; ++i) CHECK(column[i] == left() * 1000000 + i * kRows + 17);
    DO(MPI_Type_free(&type));
    free(matrix);
}

void point_to_point(void) {
    ring();
    window(8);
    window(5000);
    window(200000);
    unexpected(16);
    unexpected(40000);
    unexpected(300000);
    wildcards();
    probes(100);
    probes(500000);
    modes(100);
    modes(500000);
    odds_and_ends();
}
