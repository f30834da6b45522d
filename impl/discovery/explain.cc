// See explain.h.
#include "impl/discovery/explain.h"

#include <cinttypes>
#include <cstdio>
#include <cstring>

#include "impl/catalog/duties.h"
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

const char* type_name(fi_ep_type type) {
    return type == FI_EP_MSG ? "FI_EP_MSG" : type == FI_EP_DGRAM ? "FI_EP_DGRAM" : "FI_EP_RDM";
}

// Both sides of a mismatch as text.
struct Sides {
    char requested[512], offered[512];
};

Sides sides_of(const Mismatch& why) {
    Sides out;
    if (why.type == Mismatch::kText) {
        snprintf(out.requested, sizeof out.requested, "%s", why.requested_text);
        snprintf(out.offered, sizeof out.offered, "%s", why.offered_text);
    } else {
        describe(why, why.requested, out.requested, sizeof out.requested);
        describe(why, why.offered, out.offered, sizeof out.offered);
    }
    return out;
}

// Of bits those that are missing are enough: "caps lacks FI_ATOMIC".
void summarise(const Offer& offer, const Mismatch& why, char* out, size_t size) {
    if (why.is_duty) {
        char missing[256];
        describe(why, why.requested, missing, sizeof missing);
        snprintf(out, size, "%s %s: the hints' %s lacks %s, which is insisted on", offer.provider->name,
                 type_name(offer.set.ep.type), why.field, missing);
        return;
    }
    if (is_wide(why.type) && (why.requested & ~why.offered)) {
        char missing[256];
        describe(why, why.requested & ~why.offered, missing, sizeof missing);
        snprintf(out, size, "%s %s: %s lacks %s", offer.provider->name, type_name(offer.set.ep.type), why.field,
                 missing);
        return;
    }
    const Sides sides = sides_of(why);
    snprintf(out, size, "%s %s: %s is requested as %s, offered as %s", offer.provider->name,
             type_name(offer.set.ep.type), why.field, sides.requested, sides.offered);
}

void explain_mismatch(const Offer& offer, const Mismatch& why) {
    if (why.is_duty) return;  // the summary has said it
    const Sides sides = sides_of(why);
    log_for(offer.provider->name, FI_LOG_INFO, FI_LOG_CORE, "%s on %s: %s does not match: asked %s, offered %s",
            type_name(offer.set.ep.type), offer.domain_name, why.field, sides.requested, sides.offered);
}

}  // namespace

// A program may try hints until some are granted: that is nothing to warn of unless somebody looks into the log.
bool Refusals::are_wanted() {
    static const bool looked_into = log_level_is_set() || duties().any();
    return log_enabled(FI_LOG_INFO, FI_LOG_CORE) || (looked_into && log_enabled(FI_LOG_WARN, FI_LOG_CORE));
}

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
    if (count_ == 0) return;
    char line[1024] = "";
    for (size_t i = 0, used = 0; i < count_ && used + 3 < sizeof line; used = strlen(line), ++i) {
        if (i) used += static_cast<size_t>(snprintf(line + used, sizeof line - used, "; "));
        summarise(*entries_[i].offer, entries_[i].why, line + used, sizeof line - used);
    }
    log(FI_LOG_WARN, FI_LOG_CORE, "fi_getinfo finds nothing: %s", line);
    for (size_t i = 0; i < count_; ++i) explain_mismatch(*entries_[i].offer, entries_[i].why);
}

void explain_unknown_provider(const char* name) {
    if (!Refusals::are_wanted()) return;
    log(FI_LOG_WARN, FI_LOG_CORE,
        "fi_getinfo finds nothing: fabric_attr.prov_name is requested as %s, and no such provider is registered", name);
}

void explain_unresolved(const char* node, const char* service) {
    if (!Refusals::are_wanted()) return;
    log(FI_LOG_WARN, FI_LOG_CORE, "fi_getinfo finds nothing: no provider can use the address (node %s, service %s)",
        node ? node : "(none)", service ? service : "(none)");
}

}  // namespace selvage::impl
