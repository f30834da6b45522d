/* Every part of the programs about calls in one, so that the build compiles them with all warnings but that for what no
   program of theirs uses. */
#include <malloc.h>
#include <rdma/fi_errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "conformance/runtime/runtime.h"

/* As a case has them. */
#define HINTS (&hints)
#define NAME domain_attr->name
#define ACT duplicate
#define FAILING 1
#define DIFFERS(o, copy) (shares(o, copy) || !same_text(o, copy))
#define COMPARED "hints"
#define DATA &hints, FI_TYPE_INFO
static struct fi_info hints = {.caps = FI_MSG};

static int query(struct fi_info** answer) {
    return fi_getinfo(FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION), NULL, NULL, 0, &hints, answer);
}

static int of_provider(const struct fi_info* o) { return o != NULL; }
static int counts(const struct fi_info* from) { return of_provider(from); }

/* Each needs those ahead of it. */
/* clang-format off */
#include "answers/count.c"
#include "answers/provider_there.c"
#include "answers/same.c"
#include "answers/same_endpoint.c"
#include "answers/lost.c"
#include "answers/same_text.c"
#include "answers/same_answers.c"
#include "answers/ends.c"
#include "answers/named_once.c"
#include "answers/all_named.c"
#include "side_effects/watch.c"
#include "side_effects/guarded.c"
#include "side_effects/issue_and_free.c"
#include "side_effects/answer.c"
#include "side_effects/duplicate.c"
#include "side_effects/allocate.c"
#include "side_effects/open_and_close.c"
#include "side_effects/open_nobody.c"
#include "side_effects/fill_and_free.c"
#include "side_effects/remains.c"
#include "side_effects/failing_malloc.c"
#include "side_effects/no_memory.c"
#include "side_effects/allocates.c"
#include "side_effects/duplicates.c"
#include "side_effects/own_nic.c"
#include "side_effects/independent.c"
#include "side_effects/handle_outlives.c"
#include "answers/names.c"
#include "answers/filtered.c"
#include "side_effects/look_ups.c"
#include "side_effects/stores.c"
#include "answers/entry.c"
#include "answers/printable.c"
#include "side_effects/threads.c"
#include "answers/conversions.c"
/* clang-format on */

static void look_at(const char* at) { inside(at, &hints, sizeof hints, COMPARED); }
