// The classes of objects that the interface opens.
#pragma once

#include <cstdint>

namespace selvage::model {

/// A class of objects.
enum class ObjectClass : std::uint8_t { None, Fabric, Domain, Eq, Cq, Cntr, Av, Pep, Ep, Mr, Srx };

}  // namespace selvage::model
