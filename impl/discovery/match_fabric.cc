// fi_fabric_attr, and the opened fabrics and domains that hints may name.
#include "impl/discovery/match.h"
#include "impl/fabric/opened.h"

namespace selvage::impl {

bool match_provider(const Query& query, const Offer& offer) {
    return !query.provider_name() || query.provider.admits(offer);
}

bool match_fabric(Match& match) {
    const fi_fabric_attr& requested = match.hints().fabric;
    const fi_fabric_attr& offered = match.offer.set.fabric;
    if (requested.name && strcmp(requested.name, offered.name) != 0) {
        return match.refuse_text("fabric_attr.name", requested.name, offered.name);
    }
    if (!match.at_most("fabric_attr.prov_version", requested.prov_version, offered.prov_version)) return false;
    // api_version is an output: the version of the call. What hints hold there asks for nothing.
    // An application that names a provider finds the name again as it wrote it; a layered one has one spelling.
    if (match.query.provider_name() && !match.offer.layered) match.out.fabric.prov_name = requested.prov_name;
    return true;
}

bool match_instances(Match& match) {
    fid_fabric* const fabric = match.hints().fabric.fabric;
    fid_domain* const domain = match.hints().domain.domain;
    if (find_opened(*match.offer.provider, match.out.fabric.name, match.out.domain.name, fabric, domain,
                    &match.out.fabric.fabric, &match.out.domain.domain)) {
        match.out.info.handle = is_open_passive(match.hints().info.handle) ? match.hints().info.handle : nullptr;
        return true;
    }
    return match.refuse_text(domain ? "domain_attr.domain" : "fabric_attr.fabric", "an instance of something else",
                             domain ? match.out.domain.name : match.out.fabric.name);
}

}  // namespace selvage::impl
