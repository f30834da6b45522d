// What learning about a provider stands on: asking without being killed, and knowing an entry again.
//
// Queries that the library is known not to survive count as refused.  Runs in a child, beside the Caller.
#pragma once

#include <rdma/fi_errno.h>

#include <algorithm>
#include <span>

#include "conformance/harness/caller.h"
#include "model/value/query.h"

namespace selvage::conformance {

/// Asks, but not what is known to kill.
struct Prober {
    Caller& caller;
    std::span<const model::Query> deadly;
    [[nodiscard]] model::Answer issue(const model::Query& q) const {
        if (std::find(deadly.begin(), deadly.end(), q) == deadly.end()) return caller.issue(q).answer;
        model::Answer refused;
        refused.ret = -FI_ENODATA;
        return refused;
    }
};

inline bool same_place(const model::Info& a, const model::Info& b) {
    return a.ep.type == b.ep.type && a.domain.name == b.domain.name && a.fabric.name == b.fabric.name;
}

/// Do two offers belong to one entry of a profile?
inline bool same_thing(const model::Info& a, const model::Info& b) {
    return same_place(a, b) && a.addr_format == b.addr_format && a.ep.protocol == b.ep.protocol;
}

/// The same thing but for its address format or its protocol, which may be chosen.
inline bool same_but_choice(const model::Info& a, const model::Info& b) {
    return same_place(a, b) && (a.addr_format == b.addr_format || a.ep.protocol == b.ep.protocol);
}

}  // namespace selvage::conformance
