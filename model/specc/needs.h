// The needs of a clause: what spec/clauses/ writes as one line of text each.
//
//   FIELD above NUMBER | FIELD has BITS | FIELD lacks BITS | FIELD is WORD | FIELD insists on BITS
//   opens CLASS | kept ID | granted ID | until ID: TEXT | once ID: TEXT
//   nic | connectionless | connected | sockets | layered | names-itself | override | shortage
//
// FIELD is a path as in `tx_attr.size`; BITS are words joined by `|`, or `any`.
#pragma once

#include <string>

#include "model/specc/spec.h"

namespace selvage::specc {

/// What is wrong with a need; empty if nothing is.
std::string need_problem(const Spec& spec, const std::string& need);

/// The need as an initializer of model::Need.  REQUIRES: need_problem() has found nothing.
std::string need_row(const std::string& need);

}  // namespace selvage::specc
