// See atomic_values.h.
#include "conformance/case/atomic_values.h"

#include <rdma/fabric.h>
#include <rdma/fi_domain.h>

#include <complex>
#include <cstring>
#include <type_traits>

namespace selvage::conformance {
namespace {

__extension__ using Int128 = __int128;
__extension__ using UInt128 = unsigned __int128;

template <typename T>
struct Type {};

template <typename T>
constexpr bool kComplex = false;
template <typename T>
constexpr bool kComplex<std::complex<T>> = true;
template <typename T>
constexpr bool kInteger = std::is_integral_v<T> || std::is_same_v<T, Int128> || std::is_same_v<T, UInt128>;

// Calls `use` with the C++ type of a datatype.
template <typename Use>
void with_type(std::uint64_t datatype, Use&& use) {
    switch (datatype) {
        case FI_INT8:
            return use(Type<std::int8_t>{});
        case FI_UINT8:
            return use(Type<std::uint8_t>{});
        case FI_INT16:
            return use(Type<std::int16_t>{});
        case FI_UINT16:
            return use(Type<std::uint16_t>{});
        case FI_INT32:
            return use(Type<std::int32_t>{});
        case FI_UINT32:
            return use(Type<std::uint32_t>{});
        case FI_INT64:
            return use(Type<std::int64_t>{});
        case FI_UINT64:
            return use(Type<std::uint64_t>{});
        case FI_FLOAT:
            return use(Type<float>{});
        case FI_DOUBLE:
            return use(Type<double>{});
        case FI_FLOAT_COMPLEX:
            return use(Type<std::complex<float>>{});
        case FI_DOUBLE_COMPLEX:
            return use(Type<std::complex<double>>{});
        case FI_LONG_DOUBLE:
            return use(Type<long double>{});
        case FI_LONG_DOUBLE_COMPLEX:
            return use(Type<std::complex<long double>>{});
        case FI_INT128:
            return use(Type<Int128>{});
        case FI_UINT128:
            return use(Type<UInt128>{});
        default:
            return;
    }
}

// Which operations are there for real numbers, for all numbers, for integers.
template <typename T>
bool has(std::uint64_t op) {
    switch (op) {
        case FI_SUM:
        case FI_PROD:
        case FI_LOR:
        case FI_LAND:
        case FI_LXOR:
        case FI_ATOMIC_READ:
        case FI_ATOMIC_WRITE:
        case FI_CSWAP:
        case FI_CSWAP_NE:
            return true;
        case FI_MIN:
        case FI_MAX:
        case FI_CSWAP_LE:
        case FI_CSWAP_LT:
        case FI_CSWAP_GE:
        case FI_CSWAP_GT:
            return !kComplex<T>;
        case FI_BOR:
        case FI_BAND:
        case FI_BXOR:
        case FI_MSWAP:
            return kInteger<T>;
        default:
            return false;
    }
}

template <typename T>
T truth(bool b) {
    return b ? T(1) : T(0);
}

template <typename T>
T bits(std::uint64_t op, T target, T operand, T compare) {
    if constexpr (kInteger<T>) {
        using U = UInt128;
        // NOLINTNEXTLINE(bugprone-signed-char-misuse): bits above those of T are cut off again
        const auto t = static_cast<U>(target), o = static_cast<U>(operand), c = static_cast<U>(compare);
        switch (op) {
            case FI_BOR:
                return static_cast<T>(t | o);
            case FI_BAND:
                return static_cast<T>(t & o);
            case FI_BXOR:
                return static_cast<T>(t ^ o);
            case FI_MSWAP:
                return static_cast<T>((o & c) | (t & ~c));
            default:
                return target;
        }
    }
    return target;
}

// "Compare with the target": the relation is that of the compare value to the target's.
template <typename T>
bool swaps(std::uint64_t op, T compare, T target) {
    if (op == FI_CSWAP) return compare == target;
    if (op == FI_CSWAP_NE) return compare != target;
    if constexpr (!kComplex<T>) {
        if (op == FI_CSWAP_LE) return compare <= target;
        if (op == FI_CSWAP_LT) return compare < target;
        if (op == FI_CSWAP_GE) return compare >= target;
        if (op == FI_CSWAP_GT) return compare > target;
    }
    return false;
}

template <typename T>
T result(std::uint64_t op, T target, T operand, T compare) {
    const T zero = T(0);
    switch (op) {
        case FI_SUM:
            return static_cast<T>(target + operand);
        case FI_PROD:
            return static_cast<T>(target * operand);
        case FI_LOR:
            return truth<T>(target != zero || operand != zero);
        case FI_LAND:
            return truth<T>(target != zero && operand != zero);
        case FI_LXOR:
            return truth<T>((target != zero) != (operand != zero));
        case FI_ATOMIC_WRITE:
            return operand;
        case FI_BOR:
        case FI_BAND:
        case FI_BXOR:
        case FI_MSWAP:
            return bits(op, target, operand, compare);
        default:
            break;
    }
    if constexpr (!kComplex<T>) {
        if (op == FI_MIN) return operand < target ? operand : target;
        if (op == FI_MAX) return operand > target ? operand : target;
    }
    if (compares(op)) return swaps(op, compare, target) ? operand : target;
    return target;
}

// Only the bytes that carry the value: a long double has padding that may hold anything.
template <typename T>
void store(T value, void* to) {
    std::memset(to, 0, sizeof value);
    if constexpr (std::is_same_v<T, long double>) {
        std::memcpy(to, &value, 10);
    } else if constexpr (std::is_same_v<T, std::complex<long double>>) {
        store(value.real(), to);
        store(value.imag(), static_cast<char*>(to) + sizeof(long double));
    } else {
        std::memcpy(to, &value, sizeof value);
    }
}

template <typename T>
T load(const void* from) {
    T value{};
    if (from != nullptr) std::memcpy(static_cast<void*>(&value), from, sizeof value);
    return value;
}

}  // namespace

std::size_t datatype_size(std::uint64_t datatype) {
    std::size_t out = 0;
    with_type(datatype, [&]<typename T>(Type<T>) { out = sizeof(T); });
    return out;
}

bool is_defined(std::uint64_t op, std::uint64_t datatype) {
    bool out = false;
    with_type(datatype, [&]<typename T>(Type<T>) { out = has<T>(op); });
    return out;
}

bool compares(std::uint64_t op) { return op >= FI_CSWAP && op <= FI_MSWAP; }

void write_number(std::uint64_t datatype, std::uint64_t salt, std::uint64_t index, void* to) {
    const auto small = static_cast<int>((salt * 7 + index * 3) % 9);
    with_type(datatype, [&]<typename T>(Type<T>) {
        if constexpr (kComplex<T>) {
            using R = typename T::value_type;
            store(T(static_cast<R>(small), static_cast<R>((small + 1) % 4)), to);
        } else {
            store(static_cast<T>(small), to);
        }
    });
}

void apply(std::uint64_t op, std::uint64_t datatype, void* target, const void* operand, const void* compare) {
    with_type(datatype, [&]<typename T>(Type<T>) {
        store(result(op, load<T>(target), load<T>(operand), load<T>(compare)), target);
    });
}

bool same_number(std::uint64_t datatype, const void* a, const void* b) {
    bool out = false;
    with_type(datatype, [&]<typename T>(Type<T>) {
        T left, right;
        store(load<T>(a), &left);
        store(load<T>(b), &right);
        out = std::memcmp(static_cast<const void*>(&left), static_cast<const void*>(&right), sizeof(T)) == 0;
    });
    return out;
}

}  // namespace selvage::conformance
