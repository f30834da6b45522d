// See window.h.
#include "impl/engine/window.h"

#include <algorithm>

#include "impl/core/param.h"

namespace selvage::impl {
namespace {

const Param<size_t> size_row{nullptr, "unexpected_size", kWindow* kUnitBytes,
                             "Bytes that a peer may send ahead of the receives for them, 4 to 16 MiB"};

}  // namespace

uint16_t extra_window() {
    static const auto extra =
        static_cast<uint16_t>(std::clamp<size_t>(size_row.get() / kUnitBytes, kWindow, kWindowMost) - kWindow);
    return extra;
}

}  // namespace selvage::impl
