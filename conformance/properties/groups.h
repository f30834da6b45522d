// The property on what a few endpoints do together.
#pragma once

#include <memory>

#include "conformance/properties/property.h"

namespace selvage::conformance {

std::unique_ptr<Property> make_groups();

}  // namespace selvage::conformance
