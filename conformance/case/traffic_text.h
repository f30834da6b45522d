// The operations of a traffic case, one a line, in the notation of case files (docs/formats.md).
//
// Private to case/, but for print_operation, which reports and reproducers use too.  Pure; any thread.
#pragma once

#include <string>
#include <string_view>

#include "conformance/case/case_text.h"

namespace selvage::conformance {

/// True if the line is an operation: "progress", or a side and a call.
bool is_operation(std::string_view line);
/// Reads one.  @return false and what is wrong in `error` (its line is left alone).
bool parse_operation(std::string_view line, model::Operation& out, CaseError& error);
/// "A tsend length=100 tag=0x5"
std::string print_operation(const model::Operation& operation);
/// The call of an operation without fi_: "tsendmsg".  Every pair of what and form that exists has one; else "".
std::string_view call_name(model::Transfer what, model::CallForm form);

/// The lines of the set-up, and of operations.
void print_setup(std::string& out, const TransferSequence& sequence);
void print_operations(std::string& out, const std::vector<model::Operation>& operations);
/// Reads one key of the set-up.  @return false and `error`; `known` says whether the key is one of these.
bool parse_exchange_key(std::string_view key, std::string_view value, TransferSequence& out, CaseError& error,
                        bool& known);

}  // namespace selvage::conformance
