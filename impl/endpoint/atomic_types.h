// Which atomic operations exist for which datatypes (fi_atomic(3)), and how large the types are.
#pragma once

#include "impl/endpoint/endpoint_ops.h"

namespace selvage::impl {

// Operands of one call.
inline constexpr size_t kAtomicBytesMax = 4096;

enum class AtomicForm : uint8_t { Base, Fetch, Compare };
enum class AtomicKind : uint8_t { Integer, Real, Complex };

// Complex numbers have no order, and only integers have bits.
constexpr bool kind_has(AtomicKind kind, fi_op operation) {
    switch (operation) {
        case FI_MIN:
        case FI_MAX:
        case FI_CSWAP_LE:
        case FI_CSWAP_LT:
        case FI_CSWAP_GE:
        case FI_CSWAP_GT:
            return kind != AtomicKind::Complex;
        case FI_BOR:
        case FI_BAND:
        case FI_BXOR:
        case FI_MSWAP:
            return kind == AtomicKind::Integer;
        default:
            return true;
    }
}

// Bytes of one element, 0 when the type is none.
size_t atomic_type_size(fi_datatype type);
bool atomic_supported(AtomicForm form, fi_datatype type, fi_op operation);
// 0 with the largest number of elements of one call, or -FI_EOPNOTSUPP.
int atomic_valid(AtomicForm form, fi_datatype type, fi_op operation, size_t* count);

// The questions of a table of atomics; they need no data path.
int base_atomic_valid(fid_ep*, fi_datatype type, fi_op operation, size_t* count);
int fetch_atomic_valid(fid_ep*, fi_datatype type, fi_op operation, size_t* count);
int compare_atomic_valid(fid_ep*, fi_datatype type, fi_op operation, size_t* count);

// A table whose transfers answer Error and whose questions are answered.
template <int Error>
constexpr fi_ops_atomic answering_atomic() {
    return {
        .size = sizeof(fi_ops_atomic),
        .write = kAnswering<Error, decltype(fi_ops_atomic::write)>,
        .writev = kAnswering<Error, decltype(fi_ops_atomic::writev)>,
        .writemsg = kAnswering<Error, decltype(fi_ops_atomic::writemsg)>,
        .inject = kAnswering<Error, decltype(fi_ops_atomic::inject)>,
        .readwrite = kAnswering<Error, decltype(fi_ops_atomic::readwrite)>,
        .readwritev = kAnswering<Error, decltype(fi_ops_atomic::readwritev)>,
        .readwritemsg = kAnswering<Error, decltype(fi_ops_atomic::readwritemsg)>,
        .compwrite = kAnswering<Error, decltype(fi_ops_atomic::compwrite)>,
        .compwritev = kAnswering<Error, decltype(fi_ops_atomic::compwritev)>,
        .compwritemsg = kAnswering<Error, decltype(fi_ops_atomic::compwritemsg)>,
        .writevalid = base_atomic_valid,
        .readwritevalid = fetch_atomic_valid,
        .compwritevalid = compare_atomic_valid,
    };
}

}  // namespace selvage::impl
