// See never_came.h.
#include "conformance/drive/transfer/never_came.h"

#include <algorithm>

namespace selvage::conformance {

bool never_came(const model::Because& broken) {
    using model::Observable;
    using model::Relation;
    const model::Evidence& e = broken.evidence;
    if (broken.supporting) return false;
    const bool too_few = e.relation == Relation::AtLeast || (e.relation == Relation::Equals && e.actual < e.expected);
    switch (e.observed.what) {
        case Observable::Refusal:  // an entry of error would do
            return true;
        case Observable::Entries:
        case Observable::Successes:
        case Observable::Releases:
        case Observable::SpaceUnreleased:
        case Observable::Counter:
        case Observable::TransmitErrors:
            return too_few;
        case Observable::Buffer:
        case Observable::Result:
        case Observable::Target:
            return e.relation == Relation::Equals;
        default:
            return false;
    }
}

std::uint64_t absence_of(const model::Because& broken, std::uint64_t endpoint_type) {
    const auto clause = static_cast<std::uint64_t>(broken.clause);
    const auto field = static_cast<std::uint64_t>(broken.evidence.field);
    return clause << 40 | field << 16 | endpoint_type;
}

bool KnownAbsences::contains(std::uint64_t absence) const {
    const auto* const end = absences_.begin() + count_;
    return std::find(absences_.begin(), end, absence) != end;
}

void KnownAbsences::add(std::uint64_t absence) {
    if (count_ < absences_.size() && !contains(absence)) absences_[count_++] = absence;
}

}  // namespace selvage::conformance
