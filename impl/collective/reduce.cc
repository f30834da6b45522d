// See reduce.h. The loops are over memory of this process alone, so nothing in them is atomic, and the compiler makes
// vectors of them.
#include "impl/collective/reduce.h"

#include "impl/endpoint/atomic_values.h"

namespace selvage::impl {
namespace {

template <fi_op Op, typename Value>
void reduce(std::byte* to, const std::byte* first, const std::byte* second, size_t count) {
    for (size_t i = 0; i < count * sizeof(Value); i += sizeof(Value)) {
        Value a, b;
        memcpy(&a, first + i, sizeof a);
        memcpy(&b, second + i, sizeof b);
        const Value result = next<Op>(a, b, Value{});
        memcpy(to + i, &result, sizeof result);
    }
}

// The operations that make one value of two: FI_MIN to FI_BXOR.
constexpr size_t kOps = FI_BXOR + 1;
static_assert(FI_MIN == 0);

struct Row {
    fi_datatype type;
    Reducer reducers[kOps];
};

template <typename Value, size_t... Ops>
constexpr Row make_row(fi_datatype type, std::index_sequence<Ops...>) {
    return {type, {[]() -> Reducer {
                if constexpr (kind_has(kind_of<Value>, static_cast<fi_op>(Ops))) {
                    return reduce<static_cast<fi_op>(Ops), Value>;
                } else {
                    return nullptr;
                }
            }()...}};
}
template <typename Value>
constexpr Row row(fi_datatype type) {
    return make_row<Value>(type, std::make_index_sequence<kOps>{});
}

constexpr Row kRows[] = {
    row<int8_t>(FI_INT8),
    row<uint8_t>(FI_UINT8),
    row<int16_t>(FI_INT16),
    row<uint16_t>(FI_UINT16),
    row<int32_t>(FI_INT32),
    row<uint32_t>(FI_UINT32),
    row<int64_t>(FI_INT64),
    row<uint64_t>(FI_UINT64),
    row<__int128>(FI_INT128),
    row<unsigned __int128>(FI_UINT128),
    row<float>(FI_FLOAT),
    row<double>(FI_DOUBLE),
    row<long double>(FI_LONG_DOUBLE),
    row<Complex<float>>(FI_FLOAT_COMPLEX),
    row<Complex<double>>(FI_DOUBLE_COMPLEX),
    row<Complex<long double>>(FI_LONG_DOUBLE_COMPLEX),
};

}  // namespace

Reducer reducer_of(fi_datatype type, fi_op op) {
    if (static_cast<size_t>(op) >= kOps) return nullptr;
    for (const Row& candidate : kRows) {
        if (candidate.type == type) return candidate.reducers[op];
    }
    return nullptr;
}

}  // namespace selvage::impl
