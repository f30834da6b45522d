// Verdicts that something never came: they depend on how long it was waited for, unless an order proves them.
//
// Values only; any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "model/judge/ruling.h"

namespace selvage::conformance {

/// True if it would not stand had an entry, an error, a count or bytes come later.
bool never_came(const model::Because& broken);

/// Which absence a verdict speaks of: its clause, its field and the type of the endpoints, as one number.
std::uint64_t absence_of(const model::Because& broken, std::uint64_t endpoint_type);

/// Absences that stood after a long wait: another long wait for one of them says nothing new.
///
/// A process that shares its memory with another one uses it by turns.
class KnownAbsences {
public:
    [[nodiscard]] bool contains(std::uint64_t absence) const;
    /// Without effect once there are too many: what is not known is waited for again.
    void add(std::uint64_t absence);

private:
    std::array<std::uint64_t, 256> absences_{};
    std::size_t count_ = 0;
};

}  // namespace selvage::conformance
