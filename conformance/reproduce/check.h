// Evidence as C: what a program compares, and how it says what was promised and what was seen.
//
// Private to reproduce/.
#pragma once

#include <string>

#include "conformance/reproduce/program.h"

namespace selvage::conformance {

/// A condition over two numbers, as C, that holds if `relation` does not.
std::string broken_number(model::Relation relation, const std::string& seen, const std::string& expected);

/// True if evidence compares a field of an fi_info, so that offer_check can express it.
bool speaks_of_offers(const model::Evidence& e);

/// Emits `kept(o)` for the evidence, and `seen(o)` where a value is printed.
/// @return a printf statement of promise and sight of the fi_info `o`, number `n`, without its line end.
std::string offer_check(Program& p, const model::Evidence& e);

/// A loop over a list of entries, in which each of the provider must stand offer_check(), whose statement `report` is.
std::string each_offer(const std::string& entries, const std::string& report);

/// A condition over `value`, an int, that holds if the evidence's relation does.
std::string int_condition(const model::Evidence& e, const std::string& value, bool is_return);
/// What was promised of a call's result, as half a sentence for printf.
std::string promised(const model::Evidence& e);

}  // namespace selvage::conformance
