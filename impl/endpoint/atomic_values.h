// What the operations of fi_atomic(3) make of values, for every datatype: atomics at their target and reductions of
// collectives compute the same.
#pragma once

#include <type_traits>
#include <utility>

#include "impl/endpoint/atomic_types.h"

namespace selvage::impl {

template <typename Part>
struct Complex {
    Part real, imaginary;
    bool operator==(const Complex&) const = default;
    explicit operator bool() const { return real != Part{} || imaginary != Part{}; }
};

template <typename Value>
inline constexpr bool is_complex = false;
template <typename Part>
inline constexpr bool is_complex<Complex<Part>> = true;
template <typename Value>
inline constexpr bool is_integer =
    std::is_integral_v<Value> || std::is_same_v<Value, __int128> || std::is_same_v<Value, unsigned __int128>;
template <typename Value>
inline constexpr AtomicKind kind_of = is_complex<Value>   ? AtomicKind::Complex
                                      : is_integer<Value> ? AtomicKind::Integer
                                                          : AtomicKind::Real;

template <typename Value>
Value truth(bool value) {
    if constexpr (is_complex<Value>) {
        return value ? Value{1, 0} : Value{0, 0};
    } else {
        return static_cast<Value>(value);
    }
}

// Integers wrap around.
template <typename Value>
Value sum(Value a, Value b) {
    if constexpr (is_complex<Value>) {
        return {a.real + b.real, a.imaginary + b.imaginary};
    } else if constexpr (is_integer<Value>) {
        Value result;
        static_cast<void>(__builtin_add_overflow(a, b, &result));
        return result;
    } else {
        return a + b;
    }
}

template <typename Value>
Value product(Value a, Value b) {
    if constexpr (is_complex<Value>) {
        return {a.real * b.real - a.imaginary * b.imaginary, a.real * b.imaginary + a.imaginary * b.real};
    } else if constexpr (is_integer<Value>) {
        Value result;
        static_cast<void>(__builtin_mul_overflow(a, b, &result));
        return result;
    } else {
        return a * b;
    }
}

// The value that the target gets; the value that it has when it is to stay as it is.
template <fi_op Op, typename Value>
Value next(Value old, Value operand, Value compare) {
    if constexpr (Op == FI_MIN)
        return operand < old ? operand : old;
    else if constexpr (Op == FI_MAX)
        return operand > old ? operand : old;
    else if constexpr (Op == FI_SUM)
        return sum(old, operand);
    else if constexpr (Op == FI_PROD)
        return product(old, operand);
    else if constexpr (Op == FI_LOR)
        return truth<Value>(static_cast<bool>(old) || static_cast<bool>(operand));
    else if constexpr (Op == FI_LAND)
        return truth<Value>(static_cast<bool>(old) && static_cast<bool>(operand));
    else if constexpr (Op == FI_LXOR)
        return truth<Value>(static_cast<bool>(old) != static_cast<bool>(operand));
    else if constexpr (Op == FI_BOR)
        return static_cast<Value>(old | operand);
    else if constexpr (Op == FI_BAND)
        return static_cast<Value>(old & operand);
    else if constexpr (Op == FI_BXOR)
        return static_cast<Value>(old ^ operand);
    else if constexpr (Op == FI_ATOMIC_READ)
        return old;
    else if constexpr (Op == FI_ATOMIC_WRITE)
        return operand;
    else if constexpr (Op == FI_CSWAP)
        return compare == old ? operand : old;
    else if constexpr (Op == FI_CSWAP_NE)
        return compare != old ? operand : old;
    else if constexpr (Op == FI_CSWAP_LE)
        return compare <= old ? operand : old;
    else if constexpr (Op == FI_CSWAP_LT)
        return compare < old ? operand : old;
    else if constexpr (Op == FI_CSWAP_GE)
        return compare >= old ? operand : old;
    else if constexpr (Op == FI_CSWAP_GT)
        return compare > old ? operand : old;
    else
        return static_cast<Value>((operand & compare) | (old & ~compare));
}

// A function for each datatype and each of its operations below `Make::kOps`: Make::function<Op, Value>, which is a
// Make::Function.
template <typename Make>
class AtomicTable {
public:
    using Function = typename Make::Function;

    // nullptr: the datatype does not have the operation.
    static Function find(fi_datatype type, fi_op op) {
        if (static_cast<size_t>(op) >= Make::kOps) return nullptr;
        for (const Row& candidate : kRows) {
            if (candidate.type == type) return candidate.functions[op];
        }
        return nullptr;
    }

private:
    struct Row {
        fi_datatype type;
        Function functions[Make::kOps];
    };

    template <typename Value, size_t... Ops>
    static constexpr Row make_row(fi_datatype type, std::index_sequence<Ops...>) {
        return {type, {[]() -> Function {
                    if constexpr (kind_has(kind_of<Value>, static_cast<fi_op>(Ops))) {
                        return Make::template function<static_cast<fi_op>(Ops), Value>;
                    } else {
                        return nullptr;
                    }
                }()...}};
    }
    template <typename Value>
    static constexpr Row row(fi_datatype type) {
        return make_row<Value>(type, std::make_index_sequence<Make::kOps>{});
    }

    static constexpr Row kRows[] = {
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
};

}  // namespace selvage::impl
