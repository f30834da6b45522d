// Makes an exchange smaller: operations dropped, fields brought to their plainest.
//
// Part of shrink/.  Pure but for what `attempt` does.
#pragma once

#include <functional>

#include "conformance/case/case.h"

namespace selvage::conformance {

/// One round of attempts on the best case so far.  @return true if any was taken.
bool shrink_sequence(const std::function<const Case&()>& best, const std::function<bool(const Case&)>& attempt);

/// The same for what tells one finding from another (novelty.h): what the pair carries first, operations, and their
/// flags.
bool shrink_outline(const std::function<const Case&()>& best, const std::function<bool(const Case&)>& attempt);

/// Takes away much at a time of what the set-up and the operations have that is not plain: few trials where little of
/// it is needed.  It leaves more than shrink_sequence() does.
void shrink_at_once(const std::function<const Case&()>& best, const std::function<bool(const Case&)>& attempt);

/// An exchange without operation `index`; references to later ones move.  @return false if another needs it.
bool drop_operation(TransferSequence& sequence, std::size_t index);

/// An exchange without the operations of other areas.  @param area says whether one is of the area
TransferSequence of_one_area(TransferSequence sequence, bool (*area)(const model::Operation&));

/// An exchange in which every operation reports its completion, and none asks for that by FI_COMPLETION.
TransferSequence without_selection(TransferSequence sequence);

}  // namespace selvage::conformance
