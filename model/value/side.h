// The two endpoints of a pair.
#pragma once

#include <cstddef>
#include <cstdint>

namespace selvage::model {

enum class Side : std::uint8_t { A, B };

inline std::size_t number_of(Side s) { return static_cast<std::size_t>(s); }
inline const char* name_of(Side s) { return s == Side::A ? "A" : "B"; }

}  // namespace selvage::model
