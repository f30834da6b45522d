// See pointed.h.
#include "conformance/ask/pointed.h"

#include <rdma/fabric.h>
#include <rdma/fi_domain.h>

#include "conformance/ask/questions.h"
#include "conformance/ask/values.h"

namespace selvage::conformance {
namespace {

using namespace model;

// A host by its name and by its number, where only numbers are to be looked up.
void add_numeric_hosts(const Profile& profile, std::vector<Query>& out) {
    for (const char* node : {"localhost", "127.0.0.1", "::1"}) {
        Query q = base_call(profile);
        q.node = node;
        q.flags = FI_NUMERICHOST;
        out.push_back(q);
        q.flags |= FI_SOURCE;
        out.push_back(std::move(q));
    }
}

// Each primary capability alone, and with each of its modifiers alone.
void add_one_way_capabilities(const Profile& profile, std::vector<Query>& out) {
    const auto ask = [&](std::uint64_t caps) {
        Query q = base_call(profile);
        q.hints->caps = caps;
        out.push_back(std::move(q));
    };
    for (const auto& primary : words(Family::caps)) {
        if (primary.word_class != WordClass::Primary || primary.alias || primary.since > profile.version) continue;
        ask(primary.value);
        for (const auto& w : words(Family::caps)) {
            if (w.word_class == WordClass::Modifier && !w.alias && (w.modifies & primary.value) != 0)
                ask(primary.value | w.value);
        }
    }
}

}  // namespace

std::vector<Query> pointed_questions(const Profile& profile) {
    std::vector<Query> out = pointed_questions_of_each_version(profile);
    Query names = base_call(profile);
    names.hints.reset();
    names.flags = FI_PROV_ATTR_ONLY;
    out.push_back(std::move(names));
    add_numeric_hosts(profile, out);
    add_one_way_capabilities(profile, out);
    return out;
}

// The two old registration modes, with the duty that counts beside them and without; a capability whose needs
// changed; names alone.
std::vector<Query> pointed_questions_of_each_version(const Profile& profile) {
    std::vector<Query> out;
    for (const std::uint64_t mr_mode : {std::uint64_t{FI_MR_BASIC}, std::uint64_t{FI_MR_SCALABLE}}) {
        Query q = base_call(profile);
        ask_for(*q.hints, Field::domain_mr_mode, mr_mode);
        out.push_back(q);
        q.hints->mode &= ~std::uint64_t{FI_LOCAL_MR};
        out.push_back(std::move(q));
    }
    out.push_back(base_call(profile));
    out.back().hints->caps = FI_MULTICAST;
    out.push_back(base_call(profile));
    out.back().flags = FI_PROV_ATTR_ONLY;
    return out;
}

}  // namespace selvage::conformance
