// The property that watches how the library behaves around calls: memory, failing allocations, threads, environment.
#pragma once

#include <memory>

#include "conformance/properties/property.h"

namespace selvage::conformance {

std::unique_ptr<Property> make_side_effects();

}  // namespace selvage::conformance
