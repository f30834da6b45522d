/* Every part of the runtime in one program, so that the build compiles them with all warnings. */
#include <rdma/fabric.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* As a case has them. */
#define OPERATIONS 2
#define FORMAT FI_CQ_FORMAT_TAGGED
#define TRANSMIT_SELECTIVE 0
#define RECEIVE_SELECTIVE FI_SELECTIVE_COMPLETION
#define TRANSMIT_FLAGS 0
#define RECEIVE_FLAGS FI_COMPLETION
#define QUEUE_SIZE 256
#define COUNTERS 1
#define MULTI_RECV 64
#define SOURCES 1
#define NEEDED 77
#define LOOK(operation) ((void)(operation), (void)early)

/* Each needs those ahead of it. */
/* clang-format off */
#include "state.c"
#include "need.c"
#include "open.c"
#include "connect.c"
#include "regions.c"
#include "read.c"
#include "close.c"
#include "remote.c"
#include "counts.c"
#include "errors.c"
#include "many.c"
#include "holds.c"
#include "fill.c"
#include "behind.c"
#include "contexts.c"
#include "source.c"
#include "same_values.c"
/* clang-format on */

int main(void) {
    int late;

    connect_sides();
    fill(A.memory, 8, 0);
    note_counts(&A);
    region(&A, A.target, REGION, FI_REMOTE_WRITE);
    progress();
    printf("%d\n", (int)remote(&B, 0) + (int)errors_of(&A, 1) + releases(0, &late) + (int)space_left(0, A.memory, 8) +
                       holds(0, A.memory, 8) + is_touched(A.memory, 0, 8) + (int)context_used(0) +
                       (int)source_of(completions[0].from, A.peer) + same_values(A.memory, A.target, 8, 8, 8));
    fill_contexts();
    close_all();
    return 0;
}
