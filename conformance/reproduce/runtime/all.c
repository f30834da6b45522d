/* Every part of the programs in one, so that the build compiles them with all warnings.  As a program has them: the
   files of conformance/runtime stand among them, and are not linked. */
#include <rdma/fabric.h>
#include <rdma/fi_errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "conformance/runtime/side.h"

/* As a case has them. */
#define OPERATIONS 2
#define PROCESSES 2
#define NEEDED 77
#define LOOK(operation) ((void)(operation), (void)early)
static const struct setup set_up = {.format = FI_CQ_FORMAT_TAGGED};

static int query(struct fi_info** list) {
    return fi_getinfo(FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION), NULL, NULL, 0, NULL, list);
}

/* Each needs those ahead of it. */
/* clang-format off */
#include "conformance/runtime/open.c"
#include "conformance/runtime/connect.c"
#include "conformance/runtime/regions.c"
#include "conformance/runtime/post.c"
#include "conformance/runtime/post_message.c"
#include "conformance/runtime/post_tagged.c"
#include "conformance/runtime/post_rma.c"
#include "conformance/runtime/post_atomic.c"
#include "conformance/runtime/post_cancel.c"
#include "conformance/runtime/post_trigger.c"
#include "conformance/runtime/post_work.c"
#include "conformance/runtime/read.c"
#include "conformance/runtime/counters.c"
#include "conformance/runtime/close.c"
#include "state.c"
#include "need.c"
#include "steps.c"
#ifdef TOGETHER
#include "together.c"
#else
#include "apart.c"
#endif
#include "pair.c"
#include "region.c"
#include "entries.c"
#include "carry_out.c"
#include "alone.c"
#include "close_all.c"
#include "counts.c"
#include "many.c"
#include "holds.c"
#include "fill.c"
#include "behind.c"
#include "contexts.c"
#include "same_values.c"
/* clang-format on */

int main(void) {
    int late;

    begin();
#ifndef TOGETHER
    part();
#endif
    open_pair();
    fill_contexts();
    note_counts();
    fill(A->arena, 8, 0);
    carry_out(0, A, post_rma, (struct operation){.call = WRITE, .target = region(B, FI_REMOTE_WRITE)});
    carry_out_alone(1, A, post_rma, (struct operation){.call = WRITE, .target = region(B, FI_REMOTE_WRITE)});
    progress();
    printf("%d\n", (int)errors_of(A, 1) + releases(0, &late) + (int)space_left(0, A->arena, 8) + holds(0, A->arena, 8) +
                       is_touched(A->arena, 0, 8) + (int)context_used(0) + same_values(A->arena, A->target, 8, 8, 8));
    close_all();
    return 0;
}
