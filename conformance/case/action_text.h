// Actions of a life case as lines: "domain2 = open domain fabric1", "bind domain2 eq3 flags=0x10", "close domain2".
// Private to case_text.cc, but for print_action and object_name (case_text.h).  Pure functions; any thread.
#pragma once

#include <charconv>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "conformance/case/case_text.h"

namespace selvage::conformance {

/// True if a line of a case file is an action rather than a key.
bool is_action(std::string_view line);
/// Reads an action that follows `before`.  @return false and token and message of `error`.
bool parse_action(std::string_view line, const std::vector<Action>& before, Action& out, CaseError& error);

/// Says what is wrong with which token.  @return false
inline bool fail(CaseError& error, std::string_view token, std::string message) {
    error.token = token;
    error.message = std::move(message);
    return false;
}

/// Reads a whole decimal or 0x number.
template <typename T>
bool read_number(std::string_view text, T& out) {
    const bool hex = text.starts_with("0x");
    if (hex) text.remove_prefix(2);
    const auto r = std::from_chars(text.data(), text.data() + text.size(), out, hex ? 16 : 10);
    return r.ec == std::errc{} && r.ptr == text.data() + text.size();
}

}  // namespace selvage::conformance
