// Talks for the clause on opening a pair of endpoints.
#include "model/test/traffic_make.h"

namespace selvage::model::traffic_test {
namespace {

Talk opened(std::int64_t ret) {
    Talk k;
    k.t.open_ret = ret;
    k.t.detail = "fi_cq_open";
    k.info.domain.cntr_cnt = 8;
    return k;
}

}  // namespace

Rows open_rows() {
    return {
        HOLDS(endpoint_open_each_answer, "a pair that opens", opened(0)),
        BREAKS(endpoint_open_each_answer, "a queue that cannot be opened, and nothing odd was asked for",
               opened(-FI_EINVAL)),
        BREAKS(endpoint_open_each_answer, "a connection that never comes", opened(-FI_ETIMEDOUT)),
        BREAKS(endpoint_open_each_answer, "counters that the entry says it has",
               but(opened(-FI_ENOSYS), [](Talk& k) { k.counted(); })),
        SKIPS(endpoint_open_each_answer, "counters that the entry says it has not",
              but(opened(-FI_ENOSYS),
                  [](Talk& k) {
                      k.counted();
                      k.info.domain.cntr_cnt = 0;
                  })),
        SKIPS(endpoint_open_each_answer, "default flags that the entry does not name",
              but(opened(-FI_ENODATA), [](Talk& k) { k.t.transmit_flags = FI_DELIVERY_COMPLETE; })),
        BREAKS(endpoint_open_each_answer, "default flags that the entry names",
               but(opened(-FI_ENODATA),
                   [](Talk& k) {
                       k.t.transmit_flags = FI_DELIVERY_COMPLETE;
                       k.info.tx.op_flags = FI_DELIVERY_COMPLETE;
                   })),
        SKIPS(endpoint_open_each_answer, "the machine has no descriptor left", opened(-FI_EMFILE)),
        BREAKS(endpoint_open_each_answer, "a crash on the way",
               but(opened(0),
                   [](Talk& k) {
                       k.t.crashed_signal = 11;
                       k.t.crashed_opening = true;
                   })),
        SKIPS(endpoint_open_each_answer, "a crash by a transfer has clauses of its own",
              but(opened(0), [](Talk& k) { k.t.crashed_signal = 11; })),
    };
}

}  // namespace selvage::model::traffic_test
