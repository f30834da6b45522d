#include "conformance/drive/infer.h"

#include <rdma/fabric.h>

#include <algorithm>

#include "conformance/case/own_process.h"
#include "conformance/drive/prober.h"
#include "conformance/generate/values.h"
#include "model/judge/judge.h"

namespace selvage::conformance {
namespace {

using namespace model;

Entry* find_entry(Profile& profile, const Info& offer) {
    for (auto& e : profile.entries) {
        if (same_thing(e.offer, offer)) return &e;
    }
    return nullptr;
}

// The entries that a narrower query still gets.
std::vector<bool> still_offered(Profile& profile, const Answer& answer) {
    std::vector<bool> out(profile.entries.size(), false);
    for (const auto& o : answer.offers) {
        if (!offer_is_of(o, profile.provider)) continue;
        for (std::size_t i = 0; i < profile.entries.size(); ++i) {
            if (same_thing(profile.entries[i].offer, o)) out[i] = true;
        }
    }
    return out;
}

void learn_entries(const Prober& prober, Profile& profile) {
    const Answer widest = prober.issue(widest_query(profile.provider, profile.version));
    for (const auto& o : widest.offers) {
        if (!offer_is_of(o, profile.provider) || find_entry(profile, o) != nullptr) continue;
        profile.entries.push_back({.offer = o, .most = {}});
        forget_process(profile.entries.back().offer);
    }
}

// Without mode bits, and without mr_mode bits: which entries need them?
void learn_needs(const Prober& prober, Profile& profile) {
    Query q = widest_query(profile.provider, profile.version);
    q.hints->mode = 0;
    auto kept = still_offered(profile, prober.issue(q));
    for (std::size_t i = 0; i < kept.size(); ++i) {
        if (!kept[i]) profile.entries[i].needed_mode = profile.entries[i].offer.mode;
    }
    if (profile.version < Version(1, 5)) return;
    q = widest_query(profile.provider, profile.version);
    q.hints->domain.mr_mode = 0;
    kept = still_offered(profile, prober.issue(q));
    for (std::size_t i = 0; i < kept.size(); ++i) {
        if (!kept[i]) profile.entries[i].needed_mr_mode = profile.entries[i].offer.domain.mr_mode;
    }
}

// Capabilities that the widest answer does not show, asked for one by one beside those it does.
void learn_caps(const Prober& prober, Profile& profile) {
    for (const auto& w : words(Family::caps)) {
        if (w.alias) continue;
        const bool all_have = std::all_of(profile.entries.begin(), profile.entries.end(),
                                          [&](const Entry& e) { return (e.offer.caps & w.value) != 0; });
        if (all_have) continue;
        Query q = widest_query(profile.provider, profile.version);
        q.hints->caps = w.value;
        for (const auto& o : prober.issue(q).offers) {
            if (!offer_is_of(o, profile.provider) || (o.caps & w.value) == 0) continue;
            if (Entry* e = find_entry(profile, o)) {
                if ((e->offer.caps & w.value) == 0) e->also_caps |= w.value;
            }
        }
    }
}

}  // namespace

Query widest_query(const std::string& provider, Version version) {
    Query q;
    q.version = version;
    q.hints.emplace();
    q.hints->present = kAllParts;
    q.hints->mode = all_bits(Family::mode);
    q.hints->fabric.prov_name = provider;
    if (version >= Version(1, 5)) {
        q.hints->domain.mr_mode = all_bits(Family::mr_mode) & ~std::uint64_t{FI_MR_BASIC | FI_MR_SCALABLE};
    }
    return q;
}

Profile infer_profile(Caller& caller, const std::string& provider, Version version, std::span<const Query> deadly) {
    Profile profile{.provider = provider, .version = version, .origin = Origin::Inferred, .entries = {}};
    const Prober prober{caller, deadly};
    learn_entries(prober, profile);
    if (profile.entries.empty()) return profile;
    learn_needs(prober, profile);
    learn_caps(prober, profile);
    return profile;
}

const Profile& Profiles::at(Version version) {
    const auto found = known_.find(version);
    if (found != known_.end()) return found->second;
    return known_.emplace(version, infer_profile(caller_, provider_, version, deadly_)).first->second;
}

std::vector<std::string> discover_providers(Caller& caller, Version version, std::span<const Query> deadly,
                                            std::span<const std::string> requested) {
    const Prober prober{caller, deadly};
    std::vector<std::string> out;
    const auto add = [&](const Info& offer) {
        if (!offer.fabric.prov_name) return;
        const auto& name = *offer.fabric.prov_name;
        if (std::find(out.begin(), out.end(), name) == out.end()) out.push_back(name);
    };
    Query q;
    q.version = version;
    const Answer all = prober.issue(q);
    for (const auto& o : all.offers) add(o);
    // Providers that offer something only to an application that supports their modes.
    q.flags = FI_PROV_ATTR_ONLY;
    const Answer named = prober.issue(q);
    for (const auto& o : named.offers) {
        if (!o.fabric.prov_name) continue;
        const Answer wide = prober.issue(widest_query(*o.fabric.prov_name, version));
        for (const auto& found : wide.offers) add(found);
    }
    for (const auto& name : requested) {
        if (std::find(out.begin(), out.end(), name) != out.end()) continue;
        const Answer wide = prober.issue(widest_query(name, version));
        const bool answers = std::any_of(wide.offers.begin(), wide.offers.end(),
                                         [&](const Info& offer) { return offer_is_of(offer, name); });
        if (answers) out.push_back(name);
    }
    return out;
}

}  // namespace selvage::conformance
