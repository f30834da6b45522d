// The tables of queues, counters, wait sets and poll sets.
#include "conformance/record/call.h"

namespace selvage::record {

SELVAGE_RECORD_TABLE(fi_ops_eq, SELVAGE_EQ_ROWS)
SELVAGE_RECORD_TABLE(fi_ops_cq, SELVAGE_CQ_ROWS)
SELVAGE_RECORD_TABLE(fi_ops_cntr, SELVAGE_CNTR_ROWS)
SELVAGE_RECORD_TABLE(fi_ops_wait, SELVAGE_WAIT_ROWS)
SELVAGE_RECORD_TABLE(fi_ops_poll, SELVAGE_POLL_ROWS)

}  // namespace selvage::record
