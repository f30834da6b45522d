// fi_ep_attr.
#include "impl/catalog/capabilities.h"
#include "impl/discovery/match.h"

namespace selvage::impl {
namespace {

bool match_context_count(Match& match, const char* field, size_t asked, size_t per_endpoint, size_t shared) {
    if (asked == FI_SHARED_CONTEXT) return shared > 0 || match.refuse(field, asked, per_endpoint);
    return match.at_most(field, asked, per_endpoint);
}

// Keys are an interface of release 1.5; older callers have none (their layout ends before the field).
bool match_key(Match& match, const char* field, size_t asked, const uint8_t* key) {
    if (asked == 0) return true;
    if (!key) return match.refuse(field, asked, 0);
    return match.at_most(field, asked, match.offer.auth_key_max);
}

}  // namespace

bool match_endpoint_type(Match& match) {
    const fi_ep_type asked = match.hints().ep.type;
    const fi_ep_type offered = match.offer.set.ep.type;
    return asked == FI_EP_UNSPEC || asked == offered || match.refuse("ep_attr.type", asked, offered, FI_TYPE_EP_TYPE);
}

bool match_endpoint(Match& match) {
    const fi_ep_attr& asked = match.hints().ep;
    const fi_ep_attr& offered = match.offer.set.ep;
    const fi_domain_attr& domain = match.offer.set.domain;
    if (asked.protocol != FI_PROTO_UNSPEC && !match.offer.has_protocol(asked.protocol)) {
        return match.refuse("ep_attr.protocol", asked.protocol, offered.protocol, FI_TYPE_PROTOCOL);
    }
    const bool granted =
        match.at_most("ep_attr.protocol_version", asked.protocol_version, offered.protocol_version) &&
        match.at_most("ep_attr.max_msg_size", asked.max_msg_size, offered.max_msg_size) &&
        match.at_most("ep_attr.msg_prefix_size", asked.msg_prefix_size, offered.msg_prefix_size) &&
        match.at_most("ep_attr.max_order_raw_size", asked.max_order_raw_size, offered.max_order_raw_size) &&
        match.at_most("ep_attr.max_order_war_size", asked.max_order_war_size, offered.max_order_war_size) &&
        match.at_most("ep_attr.max_order_waw_size", asked.max_order_waw_size, offered.max_order_waw_size) &&
        match_context_count(match, "ep_attr.tx_ctx_cnt", asked.tx_ctx_cnt, domain.max_ep_tx_ctx,
                            domain.max_ep_stx_ctx) &&
        match_context_count(match, "ep_attr.rx_ctx_cnt", asked.rx_ctx_cnt, domain.max_ep_rx_ctx,
                            domain.max_ep_srx_ctx) &&
        match_key(match, "ep_attr.auth_key_size", asked.auth_key_size, asked.auth_key);
    if (!granted) return false;
    fi_ep_attr& out = match.out.ep;
    if (asked.protocol != FI_PROTO_UNSPEC) out.protocol = asked.protocol;
    // Every bit of a tag is matched on its own, so any division into fields is as good as any other.
    if (asked.mem_tag_format) out.mem_tag_format = asked.mem_tag_format;
    if (asked.tx_ctx_cnt) out.tx_ctx_cnt = asked.tx_ctx_cnt;
    if (asked.rx_ctx_cnt) out.rx_ctx_cnt = asked.rx_ctx_cnt;
    out.auth_key_size = asked.auth_key_size;
    out.auth_key = asked.auth_key_size ? asked.auth_key : nullptr;
    return true;
}

}  // namespace selvage::impl
