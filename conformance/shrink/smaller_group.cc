// See smaller_group.h.
#include "conformance/shrink/smaller_group.h"

#include <rdma/fabric.h>
#include <rdma/fi_domain.h>

namespace selvage::conformance {

bool shrink_group(const std::function<const Case&()>& best, const std::function<bool(const Case&)>& attempt) {
    using model::GroupScript;
    if (best().group.act == model::GroupAct::Calls) return false;
    bool any = false;
    const auto tried = [&](auto&& edit) {
        Case c = best();
        edit(c.group);
        if (c == best()) return false;
        const bool taken = attempt(c);
        any = any || taken;
        return taken;
    };
    tried([](GroupScript& g) { g.late = model::kNobodyLate; });
    tried([](GroupScript& g) { g.root = 0; });
    tried([](GroupScript& g) { g.count = 1; });
    while (best().group.count > 1 && tried([](GroupScript& g) { g.count /= 2; })) {
    }
    tried([](GroupScript& g) { g.op = FI_SUM; });
    tried([](GroupScript& g) { g.datatype = FI_UINT64; });
    tried([](GroupScript& g) { g.set = model::AddressSet::Range; });
    tried([](GroupScript& g) {
        const std::uint64_t fewer = g.members - 1;
        if (fewer >= 2 && g.root < fewer && g.late < static_cast<std::int64_t>(fewer)) g.members = fewer;
    });
    return any;
}

}  // namespace selvage::conformance
