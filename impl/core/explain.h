// Says in the log (level info) why a question was refused: per provider and endpoint type the first field that did not
// match, what was asked and what is offered. Costs one check per question when nobody listens.
#ifndef SELVAGE_IMPL_CORE_EXPLAIN_H
#define SELVAGE_IMPL_CORE_EXPLAIN_H

#include "impl/core/match.h"

namespace selvage::impl {

bool explaining();
void explain_mismatch(const Offer& offer, const Mismatch& why);
void explain_unknown_provider(const char* name);
void explain_unresolved(const char* node, const char* service);

}  // namespace selvage::impl

#endif
