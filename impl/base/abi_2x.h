// What releases 1.20 to 2.6 of the interface added to structures and flags, which the headers at hand (1.17) lack.
//
// Programs that were built against those releases are bound to the symbols FABRIC_1.7 to 1.9; layout.h says who owns
// which fields. Facts alone: no state, any thread.
#pragma once

#include "impl/base/rdma.h"

namespace selvage::impl {

// fi_domain_attr as of 2.5.
struct DomainAttr : fi_domain_attr {
    size_t max_ep_auth_key;   // since 1.20
    uint32_t max_group_id;    // since 2.0
    uint64_t max_cntr_value;  // since 2.5, as the next
    uint64_t max_err_cntr_value;
};
inline constexpr size_t kDomainAttrBytes1_7 = 200;
inline constexpr size_t kDomainAttrBytes1_8 = 208;
static_assert(sizeof(fi_domain_attr) == 192 && sizeof(DomainAttr) == 224);

// fi_cq_err_entry as of 1.20.
struct CqErrorEntry : fi_cq_err_entry {
    fi_addr_t src_addr;
};
static_assert(sizeof(fi_cq_err_entry) == 80 && sizeof(CqErrorEntry) == 88);

// fi_ops_av as of 2.0. Callers look at `size` before they call what is new.
struct AvOperations : fi_ops_av {
    int (*insert_auth_key)(fid_av*, const void*, size_t, fi_addr_t*, uint64_t);
    int (*lookup_auth_key)(fid_av*, fi_addr_t, void*, size_t*);
    int (*set_user_id)(fid_av*, fi_addr_t, fi_addr_t, uint64_t);
};
static_assert(sizeof(fi_ops_av) == 64 && sizeof(AvOperations) == 88);

// What fi_tostr shows since 1.20, after the types of 1.17.
inline constexpr unsigned kTypeAvAttr = FI_TYPE_LOG_SUBSYS + 1;
inline constexpr unsigned kTypeCqAttr = FI_TYPE_LOG_SUBSYS + 2;
inline constexpr unsigned kTypeMrAttr = FI_TYPE_LOG_SUBSYS + 3;
inline constexpr unsigned kTypeCntrAttr = FI_TYPE_LOG_SUBSYS + 4;
inline constexpr unsigned kTypeCqErrorEntry = FI_TYPE_LOG_SUBSYS + 5;
inline constexpr unsigned kTypeCqWaitCond = FI_TYPE_LOG_SUBSYS + 6;
inline constexpr unsigned kTypeWaitObj = FI_TYPE_LOG_SUBSYS + 7;

inline constexpr uint32_t kVersionOfGrownStructures = FI_VERSION(1, 20);

inline constexpr uint64_t kFlagRescan = uint64_t{1} << 35;                    // FI_RESCAN, of fi_getinfo
inline constexpr auto kCounterEventsBytes = static_cast<fi_cntr_events>(1);   // FI_CNTR_EVENTS_BYTES
inline constexpr auto kProgressControlUnified = static_cast<fi_progress>(3);  // FI_PROGRESS_CONTROL_UNIFIED

// Options of endpoints that can only be set, bool.
inline constexpr int kOptCudaApiPermitted = 10;
inline constexpr int kOptSharedMemoryPermitted = 11;
// Options of endpoints, all size_t.
inline constexpr int kOptMaxMsgSize = 12;
inline constexpr int kOptMaxTaggedSize = 13;
inline constexpr int kOptMaxRmaSize = 14;
inline constexpr int kOptMaxAtomicSize = 15;
inline constexpr int kOptInjectMsgSize = 16;
inline constexpr int kOptInjectTaggedSize = 17;
inline constexpr int kOptInjectRmaSize = 18;
inline constexpr int kOptInjectAtomicSize = 19;

}  // namespace selvage::impl
