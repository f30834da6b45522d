#include "conformance/runtime/runtime.h"

int64_t post_cancel(struct side* s, const struct operation* o, struct arguments* a) {
    (void)a;
    return fi_cancel(&s->ep->fid, o->context);
}
