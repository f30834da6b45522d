// The words of the spec that a reader of the manual pages may not know.  Pure functions; any thread.
#pragma once

#include <string>
#include <string_view>

namespace selvage::conformance {

/// A line for each word of the glossary that a text uses, in the order of the glossary; empty if it uses none.
std::string glossary_of(std::string_view text);

}  // namespace selvage::conformance
