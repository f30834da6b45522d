// See window.h.
#include "impl/engine/window.h"

#include <algorithm>

#include "impl/config/param.h"

namespace selvage::impl {
namespace {

const Param<size_t> kSizeRow{nullptr, "unexpected_size", kWindowUsual* kUnitBytes,
                             "Bytes that a peer may send ahead of the receives for them, 4 to 16 MiB"};

}  // namespace

uint16_t window_most() {
    static const auto most =
        static_cast<uint16_t>(std::clamp<size_t>(kSizeRow.get() / kUnitBytes, kWindowUsual, kWindowLimit) & ~size_t{3});
    return most;
}

}  // namespace selvage::impl
