// Tables of endpoint operations in which every entry answers -FI_ENOSYS: the start of every real table, so that no
// function pointer is ever null. And the options that active and passive endpoints share.
#ifndef SELVAGE_IMPL_CORE_ENDPOINT_OPS_H
#define SELVAGE_IMPL_CORE_ENDPOINT_OPS_H

#include "impl/core/object.h"

namespace selvage::impl {

extern const fi_ops_msg kMissingMsg;
extern const fi_ops_tagged kMissingTagged;
extern const fi_ops_rma kMissingRma;
extern const fi_ops_collective kMissingCollective;

#define SELVAGE_MISSING(table, entry) .entry = kMissing<decltype(table::entry)>

inline constexpr fi_ops_cm kMissingCm = {
    .size = sizeof(fi_ops_cm),
    SELVAGE_MISSING(fi_ops_cm, setname),
    SELVAGE_MISSING(fi_ops_cm, getname),
    SELVAGE_MISSING(fi_ops_cm, getpeer),
    SELVAGE_MISSING(fi_ops_cm, connect),
    SELVAGE_MISSING(fi_ops_cm, listen),
    SELVAGE_MISSING(fi_ops_cm, accept),
    SELVAGE_MISSING(fi_ops_cm, reject),
    SELVAGE_MISSING(fi_ops_cm, shutdown),
    SELVAGE_MISSING(fi_ops_cm, join),
};

inline constexpr fi_ops_ep kMissingEp = {
    .size = sizeof(fi_ops_ep),
    SELVAGE_MISSING(fi_ops_ep, cancel),
    SELVAGE_MISSING(fi_ops_ep, getopt),
    SELVAGE_MISSING(fi_ops_ep, setopt),
    SELVAGE_MISSING(fi_ops_ep, tx_ctx),
    SELVAGE_MISSING(fi_ops_ep, rx_ctx),
    SELVAGE_MISSING(fi_ops_ep, rx_size_left),
    SELVAGE_MISSING(fi_ops_ep, tx_size_left),
};

// Bytes of application data that a connection request or answer carries.
inline constexpr size_t kConnectionDataMax = 256;
// FI_OPT_CM_DATA_SIZE, which can be read only.
int get_connection_option(fid* descriptor, int level, int option, void* value, size_t* length);
int set_connection_option(fid* descriptor, int level, int option, const void* value, size_t length);
// Copies an option out; -FI_ETOOSMALL with the size when there is no room.
int put_option(const void* source, size_t size, void* value, size_t* length);

}  // namespace selvage::impl

#endif
