// An API version as the interface counts it: major and minor packed into 32 bits.
#pragma once

#include <compare>
#include <cstdint>
#include <string>

namespace selvage::model {

/// An interface version, 1.0 to 1.18 and whatever a caller may write instead.
struct Version {
    std::uint32_t packed = 0;

    constexpr Version() = default;
    constexpr explicit Version(std::uint32_t raw) : packed(raw) {}
    constexpr Version(unsigned major, unsigned minor) : packed((major << 16) | minor) {}

    [[nodiscard]] constexpr unsigned major_part() const { return packed >> 16; }
    [[nodiscard]] constexpr unsigned minor_part() const { return packed & 0xFFFFU; }
    [[nodiscard]] std::string str() const { return std::to_string(major_part()) + "." + std::to_string(minor_part()); }
    constexpr auto operator<=>(const Version&) const = default;
};

/// The last version that the spec describes.
inline constexpr Version kNewest{1, 18};

}  // namespace selvage::model
