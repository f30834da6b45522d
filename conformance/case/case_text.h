// The one textual form of a case (docs/formats.md, "Case files").
//
//   selvage-case 1
//   # getinfo.caps.granted: the capabilities of an entry contain those of the hints
//   clause = getinfo.caps.granted
//   kind = call
//   provider = "tcp;ofi_rxm"
//   call = version=1.17 hints={caps=FI_MSG}
//
// parse_case(print_case(c)) gives c back for every Case.  A text that does not start with the header line is read as a
// bare call, so that whatever takes a case takes a call too.  Pure functions; any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "conformance/case/case.h"
#include "model_gen/clause_ids.h"

namespace selvage::conformance {

/// What a case file holds.
struct CaseFile {
    Case shown;
    std::optional<model::Clause> clause;  ///< the promise that it shows broken
};

/// Why a case file could not be read: where, at which word, and what would be right.
struct CaseError {
    std::size_t line = 0;  ///< from 1
    std::string token;
    std::string message;
    /// "line 4: 'tpc': …"
    [[nodiscard]] std::string str() const;
};

/// Prints a case.  @param comment lines for the reader, put under the header.
std::string print_case(const Case& shown, std::optional<model::Clause> clause = {}, std::string_view comment = {});
/// Prints what the pair of endpoints of a transfer is opened with: the case without its operations.
std::string print_setup(const Case& transfer);
/// Reads a case file or a bare call.  @return false and `error`.
bool parse_case(std::string_view text, CaseFile& out, CaseError& error);

/// One action in the notation of case files; `before` are the actions that came earlier (they number the objects).
std::string print_action(const std::vector<Action>& before, const Action& action);
/// The name of object `number` of a sequence: "domain2"; "object9" if the sequence opens no such object.
std::string object_name(const std::vector<Action>& actions, int number);
/// What a person reads of a case in one or a few lines, without header and defaults.
std::string describe(const Case& shown);

}  // namespace selvage::conformance
