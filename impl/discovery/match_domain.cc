// fi_domain_attr, and how memory is registered.
#include <algorithm>

#include "impl/base/abi_2x.h"
#include "impl/catalog/capabilities.h"
#include "impl/discovery/match.h"

namespace selvage::impl {

bool match_tclass(Match& match, const char* field, uint32_t requested);  // match_context.cc

namespace {

template <typename Enum>
bool grant_enum(Match& match, const char* field, Enum requested, Enum last, Enum* out, int type) {
    if (static_cast<unsigned>(requested) > static_cast<unsigned>(last)) {
        return match.refuse(field, static_cast<unsigned>(requested), static_cast<unsigned>(*out), type);
    }
    // Every model is supported; what the application can live with may save a lock or a thread, so it gets just that.
    if (requested != Enum{}) *out = requested;
    return true;
}

// Since 2.0 applications may say that they drive both kinds of progress by the same calls, as manual progress means it.
bool match_control_progress(Match& match, const fi_domain_attr& requested, fi_domain_attr& out) {
    const bool unified =
        match.query.version >= FI_VERSION(2, 0) && requested.control_progress == kProgressControlUnified;
    return grant_enum(match, "domain_attr.control_progress", requested.control_progress,
                      unified ? kProgressControlUnified : FI_PROGRESS_MANUAL, &out.control_progress, FI_TYPE_PROGRESS);
}

bool match_models(Match& match, const fi_domain_attr& requested, fi_domain_attr& out) {
    return grant_enum(match, "domain_attr.threading", requested.threading, FI_THREAD_ENDPOINT, &out.threading,
                      FI_TYPE_THREADING) &&
           match_control_progress(match, requested, out) &&
           grant_enum(match, "domain_attr.data_progress", requested.data_progress, FI_PROGRESS_MANUAL,
                      &out.data_progress, FI_TYPE_PROGRESS) &&
           grant_enum(match, "domain_attr.resource_mgmt", requested.resource_mgmt, FI_RM_ENABLED, &out.resource_mgmt,
                      Mismatch::kPlainNumber) &&
           grant_enum(match, "domain_attr.av_type", requested.av_type, FI_AV_TABLE, &out.av_type, FI_TYPE_AV_TYPE);
}

bool match_limits(Match& match, const fi_domain_attr& requested, const fi_domain_attr& offered) {
    return match.at_most("domain_attr.mr_key_size", requested.mr_key_size, offered.mr_key_size) &&
           match.at_most("domain_attr.cq_data_size", requested.cq_data_size, offered.cq_data_size) &&
           match.at_most("domain_attr.cq_cnt", requested.cq_cnt, offered.cq_cnt) &&
           match.at_most("domain_attr.ep_cnt", requested.ep_cnt, offered.ep_cnt) &&
           match.at_most("domain_attr.tx_ctx_cnt", requested.tx_ctx_cnt, offered.tx_ctx_cnt) &&
           match.at_most("domain_attr.rx_ctx_cnt", requested.rx_ctx_cnt, offered.rx_ctx_cnt) &&
           match.at_most("domain_attr.max_ep_tx_ctx", requested.max_ep_tx_ctx, offered.max_ep_tx_ctx) &&
           match.at_most("domain_attr.max_ep_rx_ctx", requested.max_ep_rx_ctx, offered.max_ep_rx_ctx) &&
           match.at_most("domain_attr.max_ep_stx_ctx", requested.max_ep_stx_ctx, offered.max_ep_stx_ctx) &&
           match.at_most("domain_attr.max_ep_srx_ctx", requested.max_ep_srx_ctx, offered.max_ep_srx_ctx) &&
           match.at_most("domain_attr.cntr_cnt", requested.cntr_cnt, offered.cntr_cnt) &&
           match.at_most("domain_attr.mr_iov_limit", requested.mr_iov_limit, offered.mr_iov_limit) &&
           match.at_most("domain_attr.max_err_data", requested.max_err_data, offered.max_err_data) &&
           match.at_most("domain_attr.mr_cnt", requested.mr_cnt, offered.mr_cnt);
}

bool match_key(Match& match, const fi_domain_attr& requested) {
    if (requested.auth_key_size == 0) return true;
    if (!requested.auth_key) return match.refuse("domain_attr.auth_key", requested.auth_key_size, 0);
    return match.at_most("domain_attr.auth_key_size", requested.auth_key_size, match.offer.auth_key_max);
}

bool match_name(Match& match, const char* requested, const char* offered) {
    return !requested || strcmp(requested, offered) == 0 || match.refuse_text("domain_attr.name", requested, offered);
}

}  // namespace

bool match_domain(Match& match) {
    const fi_domain_attr& requested = match.hints().domain;
    const fi_domain_attr& offered = match.offer.set.domain;
    fi_domain_attr& out = match.out.domain;
    const bool granted = match_name(match, requested.name, offered.name) && match_models(match, requested, out) &&
                         match_limits(match, requested, offered) &&
                         match.subset("domain_attr.caps", requested.caps, offered.caps, FI_TYPE_CAPS) &&
                         match_key(match, requested) && match_tclass(match, "domain_attr.tclass", requested.tclass);
    if (!granted) return false;
    out.auth_key_size = requested.auth_key_size;
    out.auth_key = requested.auth_key_size ? requested.auth_key : nullptr;
    out.tclass = requested.tclass;
    return true;
}

namespace {

// From 1.5 on mr_mode is a set of duties that the application can take on; none is needed, so all are cleared but those
// that the device gains by. The two older values stand alone and are kept. Before 1.5 it is a choice between those two,
// with zero for either.
bool match_way_of_registration(Match& match) {
    const int requested = match.hints().domain.mr_mode;
    int& out = match.out.domain.mr_mode;
    constexpr int kByDevice = FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
    const auto refuse = [&] {
        return match.refuse("domain_attr.mr_mode", static_cast<unsigned>(requested), FI_MR_BASIC | FI_MR_SCALABLE,
                            FI_TYPE_MR_MODE);
    };
    if (match.query.version < FI_VERSION(1, 5)) {
        if (requested != FI_MR_UNSPEC && requested != FI_MR_BASIC && requested != FI_MR_SCALABLE) return refuse();
        out = requested == FI_MR_UNSPEC ? FI_MR_SCALABLE : requested;
        return true;
    }
    const int alone = requested & (FI_MR_BASIC | FI_MR_SCALABLE);
    if (alone && alone != requested) return refuse();
    if (alone == (FI_MR_BASIC | FI_MR_SCALABLE)) return refuse();
    // All three at once, or the device cannot be given the access at all.
    const bool by_device = match.offer.mr_mode_kept && (requested & kByDevice) == kByDevice;
    out = by_device ? requested & match.offer.mr_mode_kept : alone;
    if (!match.hmem) return true;
    if (!(requested & FI_MR_HMEM)) {
        return match.refuse("domain_attr.mr_mode", static_cast<unsigned>(requested), FI_MR_HMEM, FI_TYPE_MR_MODE);
    }
    out |= FI_MR_HMEM;
    return true;
}

}  // namespace

bool match_registration(Match& match) {
    return match_way_of_registration(match) && (!match.offer.mr_mode || match_duties(match));
}

}  // namespace selvage::impl
