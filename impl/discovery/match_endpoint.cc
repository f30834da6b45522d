// fi_ep_attr.
#include "impl/catalog/capabilities.h"
#include "impl/discovery/match.h"

namespace selvage::impl {
namespace {

bool match_context_count(Match& match, const char* field, size_t requested, size_t per_endpoint, size_t shared) {
    if (requested == FI_SHARED_CONTEXT) return shared > 0 || match.refuse(field, requested, per_endpoint);
    return match.at_most(field, requested, per_endpoint);
}

// Keys are an interface of release 1.5; older callers have none (their layout ends before the field).
bool match_key(Match& match, const char* field, size_t requested, const uint8_t* key) {
    if (requested == 0) return true;
    if (!key) return match.refuse(field, requested, 0);
    return match.at_most(field, requested, match.offer.auth_key_max);
}

}  // namespace

bool match_endpoint_type(Match& match) {
    const fi_ep_type requested = match.hints().ep.type;
    const fi_ep_type offered = match.offer.set.ep.type;
    return requested == FI_EP_UNSPEC || requested == offered ||
           match.refuse("ep_attr.type", requested, offered, FI_TYPE_EP_TYPE);
}

bool match_endpoint(Match& match) {
    const fi_ep_attr& requested = match.hints().ep;
    const fi_ep_attr& offered = match.offer.set.ep;
    const fi_domain_attr& domain = match.offer.set.domain;
    if (requested.protocol != FI_PROTO_UNSPEC && !match.offer.has_protocol(requested.protocol)) {
        return match.refuse("ep_attr.protocol", requested.protocol, offered.protocol, FI_TYPE_PROTOCOL);
    }
    const bool granted =
        match.at_most("ep_attr.protocol_version", requested.protocol_version, offered.protocol_version) &&
        match.at_most("ep_attr.max_msg_size", requested.max_msg_size, offered.max_msg_size) &&
        match.at_most("ep_attr.msg_prefix_size", requested.msg_prefix_size, offered.msg_prefix_size) &&
        match.at_most("ep_attr.max_order_raw_size", requested.max_order_raw_size, offered.max_order_raw_size) &&
        match.at_most("ep_attr.max_order_war_size", requested.max_order_war_size, offered.max_order_war_size) &&
        match.at_most("ep_attr.max_order_waw_size", requested.max_order_waw_size, offered.max_order_waw_size) &&
        match_context_count(match, "ep_attr.tx_ctx_cnt", requested.tx_ctx_cnt, domain.max_ep_tx_ctx,
                            domain.max_ep_stx_ctx) &&
        match_context_count(match, "ep_attr.rx_ctx_cnt", requested.rx_ctx_cnt, domain.max_ep_rx_ctx,
                            domain.max_ep_srx_ctx) &&
        match_key(match, "ep_attr.auth_key_size", requested.auth_key_size, requested.auth_key);
    if (!granted) return false;
    fi_ep_attr& out = match.out.ep;
    if (requested.protocol != FI_PROTO_UNSPEC) out.protocol = requested.protocol;
    // Every bit of a tag is matched on its own, so any division into fields is as good as any other.
    if (requested.mem_tag_format) out.mem_tag_format = requested.mem_tag_format;
    if (requested.tx_ctx_cnt) out.tx_ctx_cnt = requested.tx_ctx_cnt;
    if (requested.rx_ctx_cnt) out.rx_ctx_cnt = requested.rx_ctx_cnt;
    out.auth_key_size = requested.auth_key_size;
    out.auth_key = requested.auth_key_size ? requested.auth_key : nullptr;
    return true;
}

}  // namespace selvage::impl
