// See atomic_types.h.
#include "impl/endpoint/atomic_types.h"

#include <algorithm>

#include "impl/domain/domain.h"

namespace selvage::impl {
namespace {

struct TypeRow {
    fi_datatype type;
    size_t size;
    AtomicKind kind;
};

constexpr TypeRow kTypes[] = {
    {FI_INT8, 1, AtomicKind::Integer},
    {FI_UINT8, 1, AtomicKind::Integer},
    {FI_INT16, 2, AtomicKind::Integer},
    {FI_UINT16, 2, AtomicKind::Integer},
    {FI_INT32, 4, AtomicKind::Integer},
    {FI_UINT32, 4, AtomicKind::Integer},
    {FI_INT64, 8, AtomicKind::Integer},
    {FI_UINT64, 8, AtomicKind::Integer},
    {FI_FLOAT, sizeof(float), AtomicKind::Real},
    {FI_DOUBLE, sizeof(double), AtomicKind::Real},
    {FI_FLOAT_COMPLEX, 2 * sizeof(float), AtomicKind::Complex},
    {FI_DOUBLE_COMPLEX, 2 * sizeof(double), AtomicKind::Complex},
    {FI_LONG_DOUBLE, sizeof(long double), AtomicKind::Real},
    {FI_LONG_DOUBLE_COMPLEX, 2 * sizeof(long double), AtomicKind::Complex},
    {FI_INT128, 16, AtomicKind::Integer},
    {FI_UINT128, 16, AtomicKind::Integer},
};

// Most types number their rows.
const TypeRow* find(fi_datatype type) {
    const auto index = static_cast<size_t>(type);
    if (index < std::size(kTypes) && kTypes[index].type == type) [[likely]]
        return &kTypes[index];
    const auto* row =
        std::find_if(std::begin(kTypes), std::end(kTypes), [&](const TypeRow& r) { return r.type == type; });
    return row == std::end(kTypes) ? nullptr : row;
}

bool form_has(AtomicForm form, fi_op operation) {
    if (form == AtomicForm::Compare) return operation >= FI_CSWAP && operation <= FI_MSWAP;
    if (operation == FI_ATOMIC_READ) return form == AtomicForm::Fetch;
    return operation >= FI_MIN && operation <= FI_ATOMIC_WRITE;
}

}  // namespace

int base_atomic_valid(fid_ep*, fi_datatype type, fi_op operation, size_t* count) {
    return atomic_valid(AtomicForm::Base, type, operation, count);
}
int fetch_atomic_valid(fid_ep*, fi_datatype type, fi_op operation, size_t* count) {
    return atomic_valid(AtomicForm::Fetch, type, operation, count);
}
int compare_atomic_valid(fid_ep*, fi_datatype type, fi_op operation, size_t* count) {
    return atomic_valid(AtomicForm::Compare, type, operation, count);
}

size_t atomic_type_size(fi_datatype type) {
    const TypeRow* row = find(type);
    return row ? row->size : 0;
}

bool atomic_supported(AtomicForm form, fi_datatype type, fi_op operation) {
    const TypeRow* row = find(type);
    return row && form_has(form, operation) && kind_has(row->kind, operation);
}

int atomic_valid(AtomicForm form, fi_datatype type, fi_op operation, size_t* count) {
    if (!count) return -FI_EINVAL;
    *count = 0;
    const size_t size = atomic_type_size(type);
    if (!size || !atomic_supported(form, type, operation)) return -FI_EOPNOTSUPP;
    *count = kAtomicBytesMax / size;
    return 0;
}

int domain_query_atomic(fid_domain* domain, fi_datatype type, fi_op operation, fi_atomic_attr* attr, uint64_t flags) {
    if (!domain || !attr) return -FI_EINVAL;
    if (flags & ~(FI_FETCH_ATOMIC | FI_COMPARE_ATOMIC | FI_TAGGED)) return -FI_EBADFLAGS;
    if ((flags & FI_FETCH_ATOMIC) && (flags & FI_COMPARE_ATOMIC)) return -FI_EBADFLAGS;
    // Atomics to tagged receive buffers are not offered.
    if (flags & FI_TAGGED) return -FI_EOPNOTSUPP;
    const AtomicForm form = flags & FI_FETCH_ATOMIC     ? AtomicForm::Fetch
                            : flags & FI_COMPARE_ATOMIC ? AtomicForm::Compare
                                                        : AtomicForm::Base;
    attr->size = atomic_type_size(type);
    return atomic_valid(form, type, operation, &attr->count);
}

}  // namespace selvage::impl
