// The properties that ask fi_getinfo queries.
#pragma once

#include <memory>

#include "conformance/properties/property.h"

namespace selvage::conformance {

std::unique_ptr<Property> make_classes();
std::unique_ptr<Property> make_random();
std::unique_ptr<Property> make_pairs();
std::unique_ptr<Property> make_corpus();

}  // namespace selvage::conformance
