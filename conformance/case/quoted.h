// Strings in double quotes with C escapes: one notation for case files and for C source.
//
// unquote(quote(s)) == s for every string of bytes.  Bytes outside printable ASCII are three octal digits, which unlike
// hexadecimal escapes cannot run into what follows.  Pure functions; any thread.
#pragma once

#include <string>
#include <string_view>

namespace selvage::conformance {

/// `text` with quotes around it, valid as a C string literal.
std::string quote(std::string_view text);
/// Reads what quote prints; also \\xNN escapes.  @return false if `text` is not one whole quoted string.
bool unquote(std::string_view text, std::string& out);

}  // namespace selvage::conformance
