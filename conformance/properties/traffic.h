// The property on transfers.
#pragma once

#include <memory>

#include "conformance/properties/property.h"

namespace selvage::conformance {

std::unique_ptr<Property> make_traffic();

}  // namespace selvage::conformance
