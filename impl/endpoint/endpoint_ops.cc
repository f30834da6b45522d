// See endpoint_ops.h.
#include "impl/endpoint/endpoint_ops.h"

#include "impl/endpoint/atomic_types.h"
#include "impl/endpoint/connect.h"

namespace selvage::impl {

constinit const fi_ops_msg kMissingMsg = answering_msg<-FI_ENOSYS>();
constinit const fi_ops_msg kDisabledMsg = answering_msg<-FI_EOPBADSTATE>();
constinit const fi_ops_tagged kDisabledTagged = answering_tagged<-FI_EOPBADSTATE>();
constinit const fi_ops_rma kDisabledRma = answering_rma<-FI_EOPBADSTATE>();
constinit const fi_ops_atomic kDisabledAtomic = answering_atomic<-FI_EOPBADSTATE>();
constinit const fi_ops_collective kMissingCollective = answering_collective<-FI_ENOSYS>();
constinit const fi_ops_collective kDisabledCollective = answering_collective<-FI_EOPBADSTATE>();

int put_option(const void* source, size_t size, void* value, size_t* length) {
    if (!length) return -FI_EINVAL;
    const size_t room = *length;
    *length = size;
    if (room < size || !value) return -FI_ETOOSMALL;
    memcpy(value, source, size);
    return 0;
}

int get_connection_option(const ConnectionOps* ops, int level, int option, void* value, size_t* length) {
    if (level != FI_OPT_ENDPOINT || option != FI_OPT_CM_DATA_SIZE || !ops) return -FI_ENOPROTOOPT;
    return put_option(&ops->data_max, sizeof ops->data_max, value, length);
}

int set_connection_option(fid*, int level, int option, const void*, size_t) {
    if (level == FI_OPT_ENDPOINT && option == FI_OPT_CM_DATA_SIZE) return -FI_EINVAL;
    return -FI_ENOPROTOOPT;
}

}  // namespace selvage::impl
