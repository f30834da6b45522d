// What one provider is known to offer: declared in a file, or inferred from its answers to wide queries.
//
// Invariants: all entries hold for one API version.  An inferred profile knows only what was seen, so a value beyond
// what an entry shows may still be granted; a declared one is exact.  Names that are left open (they vary by machine)
// stand in declared profiles alone, and are filled in before anything is judged.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/value/field.h"
#include "model/value/version.h"

namespace selvage::model {

/// One thing that the provider offers: an endpoint type in a domain with an address format.
struct Entry {
    Info offer;  ///< as the widest query is answered: caps are all it supports, mode all it would like
    Info most;   ///< largest values that may be asked for (Size fields); zero where not known beyond `offer`
    /// Capabilities seen granted when asked for, though the widest answer did not show them.
    std::uint64_t also_caps = 0;
    /// Mode bits without which it was never granted.
    std::uint64_t needed_mode = 0;
    /// mr_mode bits without which it was never granted (of callers since 1.5).
    std::uint64_t needed_mr_mode = 0;
    /// The entry stands for each domain (fabric) of its kind that a machine has, whatever its name.
    bool any_domain = false, any_fabric = false;
};

/// How a profile came about.
enum class Origin : std::uint8_t { Declared, Inferred };

/// A provider's offers for callers of one API version.
struct Profile {
    std::string provider;  ///< as fabric_attr.prov_name reports it: "tcp", "tcp;ofi_rxm"
    Version version;
    std::optional<Version> only = {};  ///< holds for callers of this version alone; absent: for all
    Origin origin = Origin::Inferred;
    std::vector<Entry> entries;
};

}  // namespace selvage::model
