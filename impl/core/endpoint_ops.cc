// See endpoint_ops.h.
#include "impl/core/endpoint_ops.h"

namespace selvage::impl {

const fi_ops_msg kMissingMsg = {
    .size = sizeof(fi_ops_msg),
    SELVAGE_MISSING(fi_ops_msg, recv),
    SELVAGE_MISSING(fi_ops_msg, recvv),
    SELVAGE_MISSING(fi_ops_msg, recvmsg),
    SELVAGE_MISSING(fi_ops_msg, send),
    SELVAGE_MISSING(fi_ops_msg, sendv),
    SELVAGE_MISSING(fi_ops_msg, sendmsg),
    SELVAGE_MISSING(fi_ops_msg, inject),
    SELVAGE_MISSING(fi_ops_msg, senddata),
    SELVAGE_MISSING(fi_ops_msg, injectdata),
};

const fi_ops_tagged kMissingTagged = {
    .size = sizeof(fi_ops_tagged),
    SELVAGE_MISSING(fi_ops_tagged, recv),
    SELVAGE_MISSING(fi_ops_tagged, recvv),
    SELVAGE_MISSING(fi_ops_tagged, recvmsg),
    SELVAGE_MISSING(fi_ops_tagged, send),
    SELVAGE_MISSING(fi_ops_tagged, sendv),
    SELVAGE_MISSING(fi_ops_tagged, sendmsg),
    SELVAGE_MISSING(fi_ops_tagged, inject),
    SELVAGE_MISSING(fi_ops_tagged, senddata),
    SELVAGE_MISSING(fi_ops_tagged, injectdata),
};

const fi_ops_rma kMissingRma = {
    .size = sizeof(fi_ops_rma),
    SELVAGE_MISSING(fi_ops_rma, read),
    SELVAGE_MISSING(fi_ops_rma, readv),
    SELVAGE_MISSING(fi_ops_rma, readmsg),
    SELVAGE_MISSING(fi_ops_rma, write),
    SELVAGE_MISSING(fi_ops_rma, writev),
    SELVAGE_MISSING(fi_ops_rma, writemsg),
    SELVAGE_MISSING(fi_ops_rma, inject),
    SELVAGE_MISSING(fi_ops_rma, writedata),
    SELVAGE_MISSING(fi_ops_rma, injectdata),
};

const fi_ops_collective kMissingCollective = {
    .size = sizeof(fi_ops_collective),
    SELVAGE_MISSING(fi_ops_collective, barrier),
    SELVAGE_MISSING(fi_ops_collective, broadcast),
    SELVAGE_MISSING(fi_ops_collective, alltoall),
    SELVAGE_MISSING(fi_ops_collective, allreduce),
    SELVAGE_MISSING(fi_ops_collective, allgather),
    SELVAGE_MISSING(fi_ops_collective, reduce_scatter),
    SELVAGE_MISSING(fi_ops_collective, reduce),
    SELVAGE_MISSING(fi_ops_collective, scatter),
    SELVAGE_MISSING(fi_ops_collective, gather),
    SELVAGE_MISSING(fi_ops_collective, msg),
    SELVAGE_MISSING(fi_ops_collective, barrier2),
};

int put_option(const void* source, size_t size, void* value, size_t* length) {
    if (!length) return -FI_EINVAL;
    const size_t room = *length;
    *length = size;
    if (room < size || !value) return -FI_ETOOSMALL;
    memcpy(value, source, size);
    return 0;
}

int get_connection_option(fid*, int level, int option, void* value, size_t* length) {
    if (level != FI_OPT_ENDPOINT || option != FI_OPT_CM_DATA_SIZE) return -FI_ENOPROTOOPT;
    return put_option(&kConnectionDataMax, sizeof kConnectionDataMax, value, length);
}

int set_connection_option(fid*, int level, int option, const void*, size_t) {
    if (level == FI_OPT_ENDPOINT && option == FI_OPT_CM_DATA_SIZE) return -FI_EINVAL;
    return -FI_ENOPROTOOPT;
}

}  // namespace selvage::impl
