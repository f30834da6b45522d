// Changes to what is watched around a call.  See vary.h.
#include <array>

#include "fuzz/vary/vary.h"

namespace selvage::fuzz {
namespace {

using Act = model::SideEffects::Act;
constexpr std::array kActs = {Act::GetInfo,   Act::GetInfoNoMemory, Act::GetInfoNoMemory, Act::GetInfoThreads,
                              Act::FreeInfo,  Act::DupInfo,         Act::DupInfo,         Act::DupInfoNoMemory,
                              Act::AllocInfo, Act::EnvProvider,     Act::ProvAttrOnly,    Act::OpenAnswer};
constexpr std::uint64_t kMostAllocations = 60;  // one of which fails

bool may_run_short(Act act) {
    return act == Act::GetInfoNoMemory || act == Act::DupInfoNoMemory || act == Act::AllocInfo;
}

}  // namespace

void vary_act(Input& input, Rng& rng) {
    auto& c = input.drawn;
    if (rng.chance(40)) c.act = kActs[rng.below(kActs.size())];
    if (c.act == Act::EnvProvider) {
        if (c.env_provider.empty()) c.env_provider = c.provider;
        if (rng.chance(60)) vary_text(c.env_provider, rng);
    }
    c.fail_allocation = 0;
    if (c.act != Act::AllocInfo ? may_run_short(c.act) : rng.chance(50))
        c.fail_allocation = 1 + rng.below(kMostAllocations);
}

}  // namespace selvage::fuzz
