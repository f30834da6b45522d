/* Every part of the programs about endpoints that do something together in one, so that the build compiles them with
   all warnings. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "conformance/runtime/group.h"

/* Each needs those ahead of it. */
/* clang-format off */
#include "conformance/runtime/group_open.c"
#include "conformance/runtime/group_set.c"
#include "conformance/runtime/group_poll.c"
#include "conformance/runtime/group_collective.c"
#include "conformance/runtime/group_contexts.c"
#include "conformance/runtime/group_multicast.c"
#include "conformance/runtime/group_sender.c"
#include "conformance/runtime/group_keys.c"
#include "conformance/runtime/group_calls.c"
#include "conformance/runtime/group_waits.c"
#include "conformance/runtime/group_closes.c"
#include "conformance/runtime/group_vectors.c"
#include "conformance/runtime/group_regions.c"
#include "conformance/runtime/group_options.c"
#include "conformance/runtime/group_connections.c"
#include "conformance/runtime/group.c"
#include "side_effects/watch.c"
/* clang-format on */

int main(void) {
    static const struct group_script script = {.members = 2, .late = -1};
    static struct group_seen seen;

    watch("each call");
    run_group(NULL, NULL, &script, &seen);
    came_back();
    return (int)seen.ret;
}
