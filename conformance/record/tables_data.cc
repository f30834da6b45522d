// The tables of data transfers.
#include "conformance/record/call.h"

namespace selvage::record {

SELVAGE_RECORD_TABLE(fi_ops_msg, SELVAGE_MSG_ROWS)
SELVAGE_RECORD_TABLE(fi_ops_tagged, SELVAGE_TAGGED_ROWS)
SELVAGE_RECORD_TABLE(fi_ops_rma, SELVAGE_RMA_ROWS)
SELVAGE_RECORD_TABLE(fi_ops_atomic, SELVAGE_ATOMIC_ROWS)
SELVAGE_RECORD_TABLE(fi_ops_collective, SELVAGE_COLLECTIVE_ROWS)

}  // namespace selvage::record
