// The properties on the life of objects: every answer can be opened, and random sequences of opens, binds and closes.
#pragma once

#include <memory>

#include "conformance/properties/property.h"

namespace selvage::conformance {

/// Each kind of offer opened, used and closed in the plain order.
std::unique_ptr<Property> make_openings();
/// Random sequences against the state model (RapidCheck).
std::unique_ptr<Property> make_lifecycles();

}  // namespace selvage::conformance
