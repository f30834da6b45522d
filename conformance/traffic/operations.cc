// See operations.h.
#include "conformance/traffic/operations.h"

#include "conformance/traffic/atomic.h"

namespace selvage::conformance {

std::uint64_t bytes_of(const model::Operation& o) {
    return is_atomic(o) ? o.count * datatype_size(o.datatype) : o.length;
}

}  // namespace selvage::conformance
