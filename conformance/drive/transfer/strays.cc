// See strays.h.
#include "conformance/drive/transfer/strays.h"

#include <algorithm>

#include "model/traffic/words.h"

namespace selvage::conformance {

bool any_strays(const model::Traffic& traffic) {
    return std::ranges::any_of(
        traffic.operations, [&](const model::Operation& o) { return model::accepted(o) && model::strays(traffic, o); });
}

}  // namespace selvage::conformance
