// See engine_attrs.h.
#include "impl/catalog/engine_attrs.h"

#include "impl/catalog/capabilities.h"
#include "impl/net/context_id.h"

namespace selvage::impl {
namespace {

// Numbers that one row explains better than a comment at each use.
constexpr size_t kQueueDefault = 1024;  // posted operations per context
constexpr size_t kQueueMax = 65536;
constexpr size_t kInjectMax = 4096;  // bytes copied at the call
constexpr size_t kIovMax = 8;
constexpr size_t kObjectsMax = 65536;  // of each kind per domain; memory is the real limit
constexpr size_t kSharedContextMax = 65536;
constexpr size_t kAuthKeyMax = 64;
constexpr size_t kErrorDataMax = 128;                // the longest source address that an error completion carries
constexpr uint64_t kAnyTag = 0xaaaaaaaaaaaaaaaaULL;  // 64 fields of one bit
constexpr size_t kAnySize = SIZE_MAX;

constexpr uint64_t kConnectedCaps =
    kMessageCaps | kMemoryCaps | kModifiers | FI_MULTI_RECV | FI_RMA_EVENT | FI_RMA_PMEM | FI_FENCE | FI_TRIGGER;
constexpr uint64_t kAddressedCaps =
    kConnectedCaps | FI_DIRECTED_RECV | FI_SOURCE | FI_SOURCE_ERR | FI_SHARED_AV | FI_AV_USER_ID;

void fill_contexts(InfoSet& set) {
    set.tx.caps = context_caps(set.info.caps, kTransmitCaps);
    set.tx.op_flags = kTransmitOpFlags & ~(FI_COMMIT_COMPLETE | FI_MULTICAST);
    set.tx.msg_order = kMessageOrder;
    set.tx.comp_order = FI_ORDER_STRICT;
    set.tx.inject_size = kInjectMax;
    set.tx.size = kQueueDefault;
    set.tx.iov_limit = kIovMax;
    set.tx.rma_iov_limit = kIovMax;
    set.rx.caps = context_caps(set.info.caps, kReceiveCaps);
    set.rx.op_flags = kReceiveOpFlags;
    set.rx.msg_order = kMessageOrder;
    set.rx.comp_order = FI_ORDER_STRICT | FI_ORDER_DATA;
    set.rx.total_buffered_recv = kAnySize;
    set.rx.size = kQueueDefault;
    set.rx.iov_limit = kIovMax;
}

void fill_endpoint(fi_ep_attr& ep, fi_ep_type type) {
    ep.type = type;
    ep.protocol_version = 1;
    ep.max_msg_size = kAnySize;
    ep.max_order_raw_size = kAnySize;
    ep.max_order_war_size = kAnySize;
    ep.max_order_waw_size = kAnySize;
    ep.mem_tag_format = kAnyTag;
    ep.tx_ctx_cnt = 1;
    ep.rx_ctx_cnt = 1;
}

void fill_domain(DomainAttr& domain, uint64_t caps) {
    domain.threading = FI_THREAD_SAFE;
    domain.control_progress = FI_PROGRESS_MANUAL;
    domain.data_progress = FI_PROGRESS_MANUAL;
    domain.resource_mgmt = FI_RM_ENABLED;
    domain.av_type = FI_AV_UNSPEC;
    domain.mr_key_size = sizeof(uint64_t);
    domain.cq_data_size = sizeof(uint64_t);
    domain.cq_cnt = kObjectsMax;
    domain.ep_cnt = kObjectsMax;
    domain.tx_ctx_cnt = kObjectsMax;
    domain.rx_ctx_cnt = kObjectsMax;
    domain.max_ep_tx_ctx = 1;
    domain.max_ep_rx_ctx = 1;
    domain.max_ep_stx_ctx = kSharedContextMax;
    domain.max_ep_srx_ctx = kSharedContextMax;
    domain.cntr_cnt = kObjectsMax;
    domain.mr_iov_limit = kIovMax;
    domain.caps = caps & kDomainCaps;
    domain.max_err_data = kErrorDataMax;
    domain.mr_cnt = kObjectsMax;
    domain.max_cntr_value = UINT64_MAX;
    domain.max_err_cntr_value = UINT64_MAX;
}

}  // namespace

void fill_engine_attrs(Offer& offer, fi_ep_type type, uint64_t reach) {
    offer.set.info.caps = (type == FI_EP_MSG ? kConnectedCaps : kAddressedCaps) | reach;
    if (type == FI_EP_RDM) offer.set.info.caps |= FI_COLLECTIVE;
    fill_contexts(offer.set);
    fill_endpoint(offer.set.ep, type);
    // The domain is one for every endpoint type on it.
    fill_domain(offer.set.domain, reach | FI_SHARED_AV);
    if (type != FI_EP_DGRAM) offer.by_name = FI_VARIABLE_MSG;
    offer.hmem = type != FI_EP_DGRAM;  // datagrams go past the engine, which copies
    offer.tx_size_max = kQueueMax;
    offer.rx_size_max = kQueueMax;
    offer.auth_key_max = kAuthKeyMax;
}

void offer_contexts(Offer& offer) {
    offer.set.info.caps |= FI_NAMED_RX_CTX;
    offer.set.tx.caps |= FI_NAMED_RX_CTX;
    offer.set.domain.max_ep_tx_ctx = kContextsMax;
    offer.set.domain.max_ep_rx_ctx = kContextsMax;
}

void restrict_to_datagrams(InfoSet& set, uint64_t caps) {
    set.info.caps = caps;
    set.tx.caps = context_caps(caps, kTransmitCaps);
    set.rx.caps = context_caps(caps, kReceiveCaps);
    set.tx.op_flags &= ~FI_DELIVERY_COMPLETE;
    set.rx.op_flags &= ~FI_MULTI_RECV;
    set.tx.msg_order = set.rx.msg_order = FI_ORDER_NONE;
    set.tx.rma_iov_limit = 0;
    set.ep.max_order_raw_size = set.ep.max_order_war_size = set.ep.max_order_waw_size = 0;
    set.ep.mem_tag_format = 0;
    set.domain.max_ep_stx_ctx = set.domain.max_ep_srx_ctx = 0;
}

void place_on(Offer& offer, const Provider& self, const InterfaceAddress& interface) {
    offer.provider = &self;
    offer.kind = interface.address.kind;
    offer.source = interface.address;
    offer.prefix = interface.prefix;
    offer.interface = interface.index;
    offer.set.info.addr_format = offer.kind == AddressKind::Inet ? FI_SOCKADDR_IN : FI_SOCKADDR_IN6;
    write_subnet(interface.address, interface.prefix, offer.fabric_name, sizeof offer.fabric_name);
}

}  // namespace selvage::impl
