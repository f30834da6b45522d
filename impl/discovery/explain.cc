// See explain.h.
#include "impl/discovery/explain.h"

#include <cinttypes>
#include <cstdio>

#include "impl/config/log.h"

namespace selvage::impl {
namespace {

bool is_wide(int type) {
    return type == FI_TYPE_CAPS || type == FI_TYPE_OP_FLAGS || type == FI_TYPE_MSG_ORDER || type == FI_TYPE_MODE;
}

void describe(const Mismatch& why, uint64_t value, char* out, size_t size) {
    if (why.type < 0) {
        snprintf(out, size, "%" PRIu64, value);
        return;
    }
    const auto narrow = static_cast<uint32_t>(value);
    const void* data = is_wide(why.type) ? static_cast<const void*>(&value) : &narrow;
    out[0] = '\0';
    fi_tostr_r(out, size, data, static_cast<fi_type>(why.type));
}

const char* type_name(fi_ep_type type) { return type == FI_EP_MSG ? "FI_EP_MSG" : "FI_EP_RDM"; }

void explain_mismatch(const Offer& offer, const Mismatch& why) {
    char requested[512], offered[512];
    if (why.type == Mismatch::kText) {
        snprintf(requested, sizeof requested, "%s", why.requested_text);
        snprintf(offered, sizeof offered, "%s", why.offered_text);
    } else {
        describe(why, why.requested, requested, sizeof requested);
        describe(why, why.offered, offered, sizeof offered);
    }
    log_for(offer.provider->name, FI_LOG_INFO, FI_LOG_CORE, "%s on %s: %s does not match: asked %s, offered %s",
            type_name(offer.set.ep.type), offer.domain_name, why.field, requested, offered);
}

}  // namespace

bool Refusals::are_wanted() { return log_enabled(FI_LOG_INFO, FI_LOG_CORE); }

Refusals::Refusals() : wanted_(are_wanted()) {}

void Refusals::note(const Offer& offer, const Mismatch& why) {
    if (!wanted_ || !why.field || count_ == kMax) return;
    for (size_t i = 0; i < count_; ++i) {
        const Offer& known = *entries_[i].offer;
        if (known.provider == offer.provider && known.set.ep.type == offer.set.ep.type) return;
    }
    entries_[count_++] = {.offer = &offer, .why = why};
}

void Refusals::tell() const {
    for (size_t i = 0; i < count_; ++i) explain_mismatch(*entries_[i].offer, entries_[i].why);
}

void explain_unknown_provider(const char* name) {
    log(FI_LOG_INFO, FI_LOG_CORE, "fabric_attr.prov_name does not match: asked %s, which is not registered", name);
}

void explain_unresolved(const char* node, const char* service) {
    log(FI_LOG_INFO, FI_LOG_CORE, "the address asked for is not one that a provider can use (node %s, service %s)",
        node ? node : "(none)", service ? service : "(none)");
}

}  // namespace selvage::impl
