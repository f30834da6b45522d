// See operations.h.
#include "conformance/case/operations.h"

#include "conformance/case/atomic_values.h"

namespace selvage::conformance {

std::uint64_t bytes_of(const model::Operation& o) {
    return is_atomic(o) ? o.count * datatype_size(o.datatype) : o.length;
}

}  // namespace selvage::conformance
