// Which clauses have a row in call_clauses_test.cc.  Tests alone include it.
#pragma once

#include "model/group/group.h"
#include "model/judge/ruling.h"

namespace selvage::model {

/// True if some row of call_clauses_test.cc judges by that predicate.
bool has_call_row(Ruling (*judge)(const GroupCase&));

}  // namespace selvage::model
