// fi_getinfo(3): capabilities that require others.  The order is that of spec/clauses/.
#include "model/chapters/capabilities.h"

namespace selvage::model::clause {
namespace {

using namespace rules;

Demand refuse(std::uint64_t caps, std::uint64_t capability, const char* note) {
    return Demand::must_refuse({FI_EBADFLAGS, FI_ENODATA},
                               number(Field::caps, Relation::Within, ~capability, caps, note));
}

// query: `capability` is asked for, and with it at least one of `partners`.
Demand needs(const QueryCase& c, std::uint64_t capability, std::uint64_t partners, const char* note) {
    const auto caps = requested_caps(c.query);
    if ((caps & capability) == 0) return Demand::not_requested();
    return (caps & partners) != 0 ? Demand::nothing() : refuse(caps, capability, note);
}

constexpr const char* kRemoteNote = "needs FI_RMA or FI_ATOMIC";

}  // namespace

Ruling getinfo_caps_pairs_kept(const OfferCase& c) {
    if (names_only(c.query)) return Ruling::not_applicable();
    const auto all = with_implied(c.offer.caps);
    bool paired = false;
    for (const Word& w : words(Family::caps)) {
        // Up to version 1.6 multicast has another rule: getinfo.caps.multicast-needs-transfer.
        if (w.needs == 0 || (c.offer.caps & w.value) == 0) continue;
        if (w.value == FI_MULTICAST && c.query.version < Version(1, 7)) continue;
        paired = true;
        if ((all & w.needs) != 0) continue;
        std::string note = std::string(w.name) + " needs another capability that is not there";
        return Ruling::broken(
            at(number(Field::caps, Relation::Within, ~w.value, c.offer.caps, std::move(note)), c.index));
    }
    return paired ? Ruling::holds() : Ruling::not_applicable();
}

Demand getinfo_caps_read_needs_partner(const QueryCase& c) { return needs(c, FI_READ, kRemote, kRemoteNote); }

Demand getinfo_caps_write_needs_partner(const QueryCase& c) { return needs(c, FI_WRITE, kRemote, kRemoteNote); }

Demand getinfo_caps_remote_read_needs_partner(const QueryCase& c) {
    return needs(c, FI_REMOTE_READ, kRemote, kRemoteNote);
}

Demand getinfo_caps_remote_write_needs_partner(const QueryCase& c) {
    return needs(c, FI_REMOTE_WRITE, kRemote, kRemoteNote);
}

Demand getinfo_caps_rma_event_needs_target(const QueryCase& c) {
    const auto caps = requested_caps(c.query);
    if ((caps & FI_RMA_EVENT) == 0) return Demand::not_requested();
    if ((caps & kRemote) == 0) return refuse(caps, FI_RMA_EVENT, kRemoteNote);
    if ((with_implied(caps) & (FI_REMOTE_READ | FI_REMOTE_WRITE)) != 0) return Demand::nothing();
    return refuse(caps, FI_RMA_EVENT, "needs FI_REMOTE_READ or FI_REMOTE_WRITE");
}

Demand getinfo_caps_rma_pmem_needs_rma(const QueryCase& c) { return needs(c, FI_RMA_PMEM, FI_RMA, "needs FI_RMA"); }

Demand getinfo_caps_source_err_needs_source(const QueryCase& c) {
    return needs(c, FI_SOURCE_ERR, FI_SOURCE, "must be paired with FI_SOURCE");
}

Demand getinfo_caps_variable_msg_needs_messages(const QueryCase& c) {
    return needs(c, FI_VARIABLE_MSG, FI_MSG | FI_TAGGED, "needs FI_MSG or FI_TAGGED");
}

Demand getinfo_caps_xpu_needs_trigger(const QueryCase& c) { return needs(c, FI_XPU, FI_TRIGGER, "needs FI_TRIGGER"); }

Demand getinfo_caps_multicast_needs_msg(const QueryCase& c) {
    return needs(c, FI_MULTICAST, FI_MSG, "must be paired with FI_MSG");
}

Demand getinfo_caps_multicast_needs_transfer(const QueryCase& c) {
    return needs(c, FI_MULTICAST, FI_MSG | FI_TAGGED | FI_RMA | FI_ATOMIC | kMessageWays | kRemoteWays,
                 "must be paired with a data transfer capability");
}

}  // namespace selvage::model::clause
