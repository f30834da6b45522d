// Runs cases of side effects: does the act, watches, and lets the model judge what was seen.
#include "conformance/drive/side_effects/watch.h"

namespace selvage::conformance {

using Act = model::SideEffects::Act;

void probe_side_effects(TestContext& context, const Case& c, model::Tally& tally, std::vector<model::Because>& broken) {
    Watch w(context, c, tally, broken);
    switch (c.act) {
        case Act::GetInfo:
            return watch_getinfo(w);
        case Act::GetInfoNoMemory:
            return watch_getinfo_short(w);
        case Act::GetInfoThreads:
            return watch_threads(w);
        case Act::FreeInfo:
            return watch_free(w);
        case Act::DupInfo:
            return watch_dup(w);
        case Act::DupOwnNic:
            return watch_dup_own_nic(w);
        case Act::DupInfoNoMemory:
            return watch_dup_short(w);
        case Act::AllocInfo:
            return c.fail_allocation == 0 ? watch_alloc(w) : watch_alloc_short(w);
        case Act::EnvProvider:
            return watch_environment(w);
        case Act::ProvAttrOnly:
            return watch_names(w);
        case Act::OpenAnswer:
            return watch_opening(w);
        case Act::Load: {
            // The library is loaded in this process already: it came back.
            w.rule(w.begin());
            return;
        }
        case Act::Other:
            return;
    }
}

}  // namespace selvage::conformance
