// Text from outside made fit for files and pages, whatever its bytes are.  Pure functions; any thread.
#pragma once

#include <string>
#include <string_view>

namespace selvage::conformance {

/// Text made of valid UTF-8 without control characters other than line ends and tabs; bad bytes become \\xNN.
std::string clean(std::string_view text);
/// What & < > " ' stand for in XML and HTML, after clean().
std::string escape(std::string_view text);
/// "1 report", "2 reports".
std::string counted(std::size_t count, std::string_view noun);
/// `text` in lines of at most `width` columns, each after `lead`.
std::string wrap(std::string_view text, std::string_view lead, std::size_t width = 100);

}  // namespace selvage::conformance
