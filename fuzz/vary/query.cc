// Changes to calls, and to what is done with a call.  See vary.h.
#include <rdma/fabric.h>

#include <array>

#include "conformance/generate/pointed.h"
#include "fuzz/vary/vary.h"

namespace selvage::fuzz {
namespace {

using namespace model;
using conformance::Case;
using conformance::Choice;

// Some choice of the call's own arguments.
void take_call_choice(Query& query, const std::vector<Choice>& all, Rng& rng) {
    const auto from = rng.below(all.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
        const Choice& c = all[(from + i) % all.size()];
        if (is_number(c.field) || is_text(c.field)) continue;
        return apply(c, query);
    }
}

void vary_arguments(Query& query, const std::vector<Choice>& all, Rng& rng) {
    switch (rng.below(8)) {
        case 0:
            query.node.reset();
            return;
        case 1:
            query.service.reset();
            return;
        case 2:
            query.flags = 0;
            return;
        case 3:
            query.flags ^= std::uint64_t{1} << rng.below(64);
            return;
        case 4:
            if (!query.node) return take_call_choice(query, all, rng);
            return vary_text(*query.node, rng);
        default:
            return take_call_choice(query, all, rng);
    }
}

// Anew, as the suites of `selvage check` ask.
Query generated(const std::string& provider, Workbench& bench, Rng& rng) {
    const Version v = conformance::random_version(bench.context(provider).version(), rng);
    const Profile& profile = bench.profile(provider, v);
    const auto& all = bench.choices(provider);
    if (rng.chance(25)) {
        Query q = conformance::base_call(profile);
        apply(all[rng.below(all.size())], q);
        return q;
    }
    return conformance::random_query(profile, all, rng);
}

constexpr std::array kMetamorphicRelations = {MetamorphicRelation::Relaxed,   MetamorphicRelation::Reworded,
                                              MetamorphicRelation::Reworded,  MetamorphicRelation::FedBack,
                                              MetamorphicRelation::Repeated,  MetamorphicRelation::MoreMrModes,
                                              MetamorphicRelation::MoreModes, MetamorphicRelation::Relaxed,
                                              MetamorphicRelation::Reworded,  MetamorphicRelation::NullVersusEmpty};

void become_pair(Input& input, Rng& rng) {
    input.drawn.kind = Case::Kind::Pair;
    input.drawn.metamorphic = kMetamorphicRelations[rng.below(kMetamorphicRelations.size())];
    input.turn = rng.below(1 << 14);
    if (input.drawn.metamorphic == MetamorphicRelation::NullVersusEmpty) input.drawn.first.hints.reset();
}

void become_call(Input& input) {
    Case call;
    call.provider = input.drawn.provider;
    call.first = input.drawn.first;
    input = {.drawn = std::move(call)};
}

}  // namespace

void vary_query(Query& query, const std::string& provider, Workbench& bench, Rng& rng) {
    const auto dice = rng.below(100);
    if (dice < 6) {
        query = generated(provider, bench, rng);
    } else if (dice < 10) {
        query.version = conformance::random_version(bench.context(provider).version(), rng);
    } else if (dice < 16) {
        vary_arguments(query, bench.choices(provider), rng);
    } else if (dice < 17) {
        query.hints.reset();
    } else {
        if (!query.hints) query.hints.emplace();
        vary_info(*query.hints, provider, bench, rng);
    }
}

void vary_call(Input& input, Workbench& bench, Rng& rng) {
    Case& c = input.drawn;
    const auto dice = rng.below(1000);
    if (dice < 10) {
        c.provider = bench.providers()[rng.below(bench.providers().size())];
    } else if ((c.kind == Case::Kind::Call && dice < 60) || (c.kind == Case::Kind::Pair && dice < 400)) {
        become_pair(input, rng);
    } else if (c.kind == Case::Kind::Pair && dice < 450) {
        become_call(input);
    } else {
        vary_query(c.first, bench.provider_of(c), bench, rng);
    }
}

}  // namespace selvage::fuzz
