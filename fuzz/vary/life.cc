// Changes to sequences of actions, and crossing of any two inputs.  See vary.h.
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>

#include <algorithm>
#include <array>

#include "conformance/case/names.h"
#include "conformance/drive/infer.h"
#include "conformance/generate/lifecycles.h"
#include "fuzz/vary/vary.h"
#include "model/value/field.h"

namespace selvage::fuzz {
namespace {

using namespace model;
using conformance::Action;
using conformance::Case;
using conformance::Stage;
using Verb = Action::Verb;

constexpr std::array<const char*, 6> kNames = {"",    "no-such-name",           "tcp",
                                               "shm", FI_SET_OPS_HMEM_OVERRIDE, "domain-ops"};
constexpr std::array<std::uint64_t, 6> kBindings = {
    0, FI_TRANSMIT | FI_RECV, FI_TRANSMIT | FI_SELECTIVE_COMPLETION, FI_RECV, FI_SEND | FI_RECV, FI_READ | FI_WRITE};
constexpr unsigned kVerbs = static_cast<unsigned>(Verb::Receive) + 1;

int opened(const std::vector<Action>& actions) {
    return static_cast<int>(std::count_if(actions.begin(), actions.end(), conformance::opens));
}

// Which entries of the answer a script can stand on; the answer is asked for once per provider.
const std::vector<Stage>& stages(const std::string& provider, Workbench& bench) {
    static std::map<std::string, std::vector<Stage>> known;
    auto& out = known[provider];
    if (!out.empty()) return out;
    auto& context = bench.context(provider);
    const auto query = conformance::widest_query(provider, std::min(context.version(), kNewest));
    const auto& answer = bench.issue(provider, query).answer;
    for (std::size_t i = 0; i < answer.offers.size() && out.size() < 32; ++i)
        if (offer_is_of(answer.offers[i], provider))
            out.push_back({.offer = static_cast<int>(i), .ep_type = answer.offers[i].ep.type});
    return out;
}

Action any_action(int objects, Rng& rng) {
    const auto number = [&] {
        return objects == 0 ? 0 : 1 + static_cast<int>(rng.below(static_cast<unsigned>(objects)));
    };
    Action a;
    a.verb = static_cast<Verb>(rng.below(kVerbs));
    if (rng.chance(25)) a.verb = Verb::Close;
    a.object = number();
    if (a.verb == Verb::BindEq || a.verb == Verb::BindEp) a.argument = number();
    if (a.verb == Verb::OpenFabric) a.argument = static_cast<int>(rng.below(6));
    if (rng.chance(20)) a.flags = std::uint64_t{1} << rng.below(64);
    if (rng.chance(20)) a.flags = rng.below(4);
    if (a.verb == Verb::BindEp && rng.chance(80)) a.flags = kBindings[rng.below(kBindings.size())];
    if (rng.chance(10) || a.verb == Verb::OpenOps || a.verb == Verb::SetOps) a.name = kNames[rng.below(kNames.size())];
    return a;
}

void vary_action(Action& a, int objects, Rng& rng) {
    switch (rng.below(5)) {
        case 0:
            a.object = static_cast<int>(rng.below(static_cast<unsigned>(objects) + 2));
            return;
        case 1:
            a.argument = static_cast<int>(rng.below(static_cast<unsigned>(objects) + 2));
            return;
        case 2:
            a.flags = rng.chance(50) ? rng.below(4) : rng.next() >> rng.below(64);
            return;
        case 3:
            return vary_text(a.name, rng);
        default:
            a.verb = static_cast<Verb>(rng.below(kVerbs));
            return;
    }
}

void anew(Input& input, const std::string& provider, Workbench& bench, Rng& rng) {
    const auto& all = stages(provider, bench);
    if (all.empty()) return;
    input.drawn.first = conformance::widest_query(provider, std::min(bench.context(provider).version(), kNewest));
    auto& actions = input.drawn.actions;
    if (rng.chance(50)) {
        actions = conformance::script(rng.below(conformance::script_count()), all[rng.below(all.size())]);
    } else {
        actions = conformance::random_script(all, rng.next(), rng.next());
    }
    if (actions.size() > conformance::kMostActions) actions.resize(conformance::kMostActions);
}

void cross_infos(Info& a, const Info& b, Rng& rng) {
    for (const auto& r : number_fields())
        if (rng.chance(30) && (r.part == Part::Info || b.has(r.part))) {
            if (r.part != Part::Info) a.add(r.part);
            set(a, r.field, get(b, r.field));
        }
    for (const auto& r : text_fields())
        if (rng.chance(30) && text(b, r.field)) {
            if (r.part != Part::Info) a.add(r.part);
            text(a, r.field) = text(b, r.field);
        }
    // Lengths belong to what they measure.
    for (const auto& r : text_fields())
        if (text(a, r.field) || r.part == Part::Info) fit_length(a, r.field);
}

}  // namespace

void vary_life(Input& input, Workbench& bench, Rng& rng) {
    Case& c = input.drawn;
    auto& actions = c.actions;
    const auto& provider = bench.provider_of(c);
    const auto dice = rng.below(100);
    if (actions.empty() || dice < 6) return anew(input, provider, bench, rng);
    const auto at = rng.below(actions.size());
    const auto place = actions.begin() + static_cast<std::ptrdiff_t>(at);
    if (dice < 8) {
        c.provider = bench.providers()[rng.below(bench.providers().size())];
        anew(input, c.provider, bench, rng);
    } else if (dice < 12) {
        vary_query(c.first, provider, bench, rng);
    } else if (dice < 50 && actions.size() < conformance::kMostActions) {
        actions.insert(place, any_action(opened(actions), rng));
    } else if (dice < 62) {
        actions.erase(place);
    } else if (dice < 74) {
        std::swap(actions[at], actions[rng.below(actions.size())]);
    } else if (dice < 82 && actions.size() < conformance::kMostActions) {
        actions.push_back(*place);
    } else {
        vary_action(*place, opened(actions), rng);
    }
}

void cross(Input& a, const Input& b, Rng& rng) {
    if (a.drawn.first.hints && b.drawn.first.hints) cross_infos(*a.drawn.first.hints, *b.drawn.first.hints, rng);
    if (a.drawn.string.info && b.drawn.string.info) cross_infos(*a.drawn.string.info, *b.drawn.string.info, rng);
    if (rng.chance(20)) a.drawn.first.node = b.drawn.first.node;
    if (rng.chance(20)) a.drawn.first.service = b.drawn.first.service;
    if (rng.chance(20)) a.drawn.first.version = b.drawn.first.version;
    if (!b.choices.empty() && a.turn == 0) {
        a.choices.resize(rng.below(a.choices.size() + 1));
        a.choices += b.choices.substr(rng.below(b.choices.size()));
        a.choices.resize(std::min(a.choices.size(), conformance::kMostChoices));
    }
    auto& actions = a.drawn.actions;
    const auto& others = b.drawn.actions;
    if (actions.empty() || others.empty()) return;
    actions.resize(rng.below(actions.size() + 1));
    actions.insert(actions.end(), others.begin() + static_cast<std::ptrdiff_t>(rng.below(others.size())), others.end());
    if (actions.size() > conformance::kMostActions) actions.resize(conformance::kMostActions);
}

}  // namespace selvage::fuzz
