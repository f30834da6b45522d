#include "model/traffic/words.h"

namespace selvage::model {

bool is_barred(const Operation& o) {
    if (!is_rma(o) && !is_atomic(o)) return false;
    std::uint64_t needs = 0;
    if (updates(o)) needs |= FI_REMOTE_WRITE;
    if (fetches(o)) needs |= FI_REMOTE_READ;
    return o.bad_key || (o.region_access & needs) != needs;
}

bool strays(const Traffic& t, const Operation& o) {
    if (!is_rma(o) && !is_atomic(o)) return false;
    const bool outside = t.region_length != 0 && (o.offset > t.region_length || o.length > t.region_length - o.offset);
    return outside || is_barred(o);
}

bool exceeds(const Traffic& t, const Operation& o) {
    if (t.info == nullptr) return false;
    const Info& i = *t.info;
    if (transmits(o)) {
        if (o.length > i.ep.max_msg_size) return true;
        if (o.pieces > 1 && o.pieces > i.tx.iov_limit) return true;
        if (reaches_memory(o) && o.target_pieces > 1 && o.target_pieces > i.tx.rma_iov_limit) return true;
        return injects(t, o) && o.length > i.tx.inject_size;
    }
    return receives(o) && o.pieces > 1 && o.pieces > i.rx.iov_limit;
}

}  // namespace selvage::model
