// The text of spec/conformance.toml, which the build compiles in.  Private to report/.
#pragma once

#include <string_view>

namespace selvage::conformance {

std::string_view level_source();

}  // namespace selvage::conformance
