#include "conformance/runtime/group.h"

void run_group(struct fid_fabric* fabric, struct fi_info* info, const struct group_script* script,
               struct group_seen* seen) {
    struct group* const g = calloc(1, sizeof *g);

    if (!g) return;
    g->script = script;
    g->info = info;
    g->fabric = fabric;
    g->seen = seen;
    if (open_group(g)) {
        switch (script->act) {
            case NAMED_CONTEXTS:
                run_contexts(g);
                break;
            case MULTICAST:
                run_multicast(g);
                break;
            case UNKNOWN_SENDER:
                run_unknown_sender(g);
                break;
            case USER_IDS:
                run_user_ids(g);
                break;
            case OTHER_KEYS:
                run_other_keys(g);
                break;
            case CALLS:
                run_calls(g);
                break;
            default:
                if (script->set == SET_RANGE || run_collective(g, 0, SET_RANGE, (1u << script->members) - 1))
                    run_collective(g, 1, script->set, script->joins);
        }
    }
    close_group(g);
    free(g);
}
