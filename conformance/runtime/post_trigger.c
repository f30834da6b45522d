#include "conformance/runtime/runtime.h"

int64_t post_trigger(struct side* s, const struct operation* o, struct arguments* a) {
    struct fid_cntr* const counter = trigger_of(s);
    int ret = -FI_ENOSYS;

    (void)a;
    if (counter && o->call == TRIGGER) ret = fi_cntr_add(counter, o->count);
    if (counter && o->call == TRIGGER_ERROR) ret = fi_cntr_adderr(counter, o->count);
    if (counter && o->call == TRIGGER_SET) ret = fi_cntr_set(counter, s->triggered + o->count);
    if (ret == 0) s->triggered += o->count;
    return ret;
}
