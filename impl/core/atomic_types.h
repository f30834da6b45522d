// Which atomic operations exist for which datatypes (fi_atomic(3)), and how large the types are.
#ifndef SELVAGE_IMPL_CORE_ATOMIC_TYPES_H
#define SELVAGE_IMPL_CORE_ATOMIC_TYPES_H

#include "impl/core/rdma.h"

namespace selvage::impl {

enum class AtomicForm : uint8_t { kBase, kFetch, kCompare };

// Bytes of one element, 0 when the type is none.
size_t atomic_type_size(fi_datatype type);
bool atomic_supported(AtomicForm form, fi_datatype type, fi_op operation);
// 0 with the largest number of elements of one call, or -FI_EOPNOTSUPP.
int atomic_valid(AtomicForm form, fi_datatype type, fi_op operation, size_t* count);

extern const fi_ops_atomic kAtomicOps;  // transfers missing, questions answered

}  // namespace selvage::impl

#endif
