// See match.h.
#include "impl/discovery/match.h"

namespace selvage::impl {

bool Match::refuse(const char* field, uint64_t requested, uint64_t offered, int type) {
    why.field = field;
    why.type = type;
    why.requested = requested;
    why.offered = offered;
    return false;
}

bool Match::refuse_text(const char* field, const char* requested, const char* offered) {
    why.field = field;
    why.type = Mismatch::kText;
    why.requested_text = requested;
    why.offered_text = offered;
    return false;
}

bool match_offer(Match& match) {
    if (!match_endpoint_type(match)) return false;
    match.out.copy_from(match.offer.set);
    match.out.fabric.api_version = match.query.version;
    if (!match.query.nic_known) match.out.info.nic = nullptr;
    // No mode is required unless duties are insisted on, so none is left set whatever the application supports.
    match.out.info.mode = 0;
    return match_endpoint(match) && match_capabilities(match) && (!match.offer.mode || match_mode(match)) &&
           match_transmit(match) && match_receive(match) && match_domain(match) && match_registration(match) &&
           match_fabric(match) && match_addresses(match) && match_instances(match);
}

}  // namespace selvage::impl
