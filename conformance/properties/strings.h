// The property on fi_tostr and fi_tostr_r.
#pragma once

#include <memory>

#include "conformance/properties/property.h"

namespace selvage::conformance {

std::unique_ptr<Property> make_strings();

}  // namespace selvage::conformance
