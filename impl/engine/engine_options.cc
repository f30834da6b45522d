#include "impl/engine/engine_options.h"

#include "impl/catalog/duties.h"
#include "impl/endpoint/datapath.h"
#include "impl/endpoint/ep.h"

namespace selvage::impl {

EngineOptions engine_options(const Endpoint& endpoint) {
    constexpr uint64_t kWritesAfterReads = FI_ORDER_WAR | FI_ORDER_RMA_WAR | FI_ORDER_ATOMIC_WAR;
    constexpr uint64_t kAfterWrites = FI_ORDER_RAW | FI_ORDER_WAW | FI_ORDER_SAW | FI_ORDER_RMA_RAW | FI_ORDER_RMA_WAW |
                                      FI_ORDER_ATOMIC_RAW | FI_ORDER_ATOMIC_WAW;
    // A write of the device may overtake a message that is still to be placed, and its target's processor is not
    // notified.
    constexpr uint64_t kAfterSends = FI_ORDER_RAS | FI_ORDER_WAS;
    constexpr uint64_t kAccesses = FI_ORDER_RAR | FI_ORDER_RAW | FI_ORDER_WAR | FI_ORDER_WAW | FI_ORDER_RMA_RAR |
                                   FI_ORDER_RMA_RAW | FI_ORDER_RMA_WAR | FI_ORDER_RMA_WAW | FI_ORDER_ATOMIC_RAR |
                                   FI_ORDER_ATOMIC_RAW | FI_ORDER_ATOMIC_WAR | FI_ORDER_ATOMIC_WAW;
    const fi_domain_attr& domain = endpoint.domain->attr;
    const uint64_t order = endpoint.tx.msg_order;
    return {.connected = endpoint.connected_type(),
            .may_receive = (endpoint.rx.caps & (FI_MSG | FI_TAGGED)) != 0,
            .strict = (endpoint.tx.comp_order & FI_ORDER_STRICT) != 0,
            .ordered_writes = (order & kWritesAfterReads) != 0,
            .ordered_after_writes = (order & kAfterWrites) != 0,
            .ordered_accesses = (order & kAccesses) != 0,
            .direct = !(order & kAfterSends),
            .rma_events = (endpoint.caps & FI_RMA_EVENT) != 0,
            .commits = (endpoint.tx.caps & FI_RMA_PMEM) != 0,
            .data_takes_receive = (duties().mode & FI_RX_CQ_DATA) && (endpoint.rx.caps & FI_MSG) && endpoint.rx_cq,
            .names_regions = (domain.mr_mode & FI_MR_LOCAL) != 0,
            .bounded = domain.resource_mgmt == FI_RM_ENABLED && endpoint.tx_cq,
            .domain_locked =
                domain.threading != FI_THREAD_DOMAIN || !endpoint.domain->serialised() || is_driven_by_events(endpoint),
            .inject_max = endpoint.tx.inject_size,
            .message_max = endpoint.max_msg_size,
            .iov_max = endpoint.tx.iov_limit,
            .receive_iov_max = endpoint.rx.iov_limit,
            .rma_iov_max = endpoint.tx.rma_iov_limit,
            .access_caps = endpoint.rx.caps & (FI_REMOTE_READ | FI_REMOTE_WRITE)};
}

}  // namespace selvage::impl
