// Reductions are what atomics at a target make of the same values.
#include "impl/collective/reduce.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "impl/endpoint/atomic_types.h"
#include "impl/engine/atomic_kernels.h"

namespace selvage::impl {
namespace {

constexpr fi_datatype kTypes[] = {
    FI_INT8,   FI_UINT8,  FI_INT16,  FI_UINT16,        FI_INT32,          FI_UINT32,      FI_INT64,
    FI_UINT64, FI_FLOAT,  FI_DOUBLE, FI_FLOAT_COMPLEX, FI_DOUBLE_COMPLEX, FI_LONG_DOUBLE, FI_LONG_DOUBLE_COMPLEX,
    FI_INT128, FI_UINT128};

// Small numbers of every type, some of them negative or zero.
std::vector<std::byte> numbers(fi_datatype type, size_t count, std::mt19937& random) {
    const size_t size = atomic_type_size(type);
    std::vector<std::byte> bytes(size * count);
    for (size_t i = 0; i < count; ++i) {
        const int value = static_cast<int>(random() % 7) - 3;
        std::byte* at = bytes.data() + i * size;
        const auto put = [&](auto part, size_t offset) { memcpy(at + offset, &part, sizeof part); };
        switch (type) {
            case FI_FLOAT:
            case FI_FLOAT_COMPLEX:
                for (size_t offset = 0; offset < size; offset += sizeof(float)) put(static_cast<float>(value), offset);
                break;
            case FI_DOUBLE:
            case FI_DOUBLE_COMPLEX:
                for (size_t offset = 0; offset < size; offset += sizeof(double)) put(value / 2.0, offset);
                break;
            case FI_LONG_DOUBLE:
            case FI_LONG_DOUBLE_COMPLEX:
                for (size_t offset = 0; offset < size; offset += sizeof(long double)) {
                    put(static_cast<long double>(value) / 3, offset);
                }
                break;
            default:
                for (size_t b = 0; b < size; ++b) at[b] = static_cast<std::byte>(random());
        }
    }
    return bytes;
}

// A long double has ten bytes, and six that mean nothing.
std::vector<std::byte> values_of(fi_datatype type, std::vector<std::byte> bytes) {
    if (type != FI_LONG_DOUBLE && type != FI_LONG_DOUBLE_COMPLEX) return bytes;
    for (size_t at = 0; at < bytes.size(); at += sizeof(long double)) memset(&bytes[at + 10], 0, 6);
    return bytes;
}

TEST(Reduce, IsWhatAtomicsMakeOfTheSameValues) {
    std::mt19937 random(1);
    constexpr size_t kCount = 67;
    size_t compared = 0;
    for (const fi_datatype type : kTypes) {
        for (int op = FI_MIN; op <= FI_BXOR; ++op) {
            const auto operation = static_cast<fi_op>(op);
            const Reducer reducer = reducer_of(type, operation);
            EXPECT_EQ(reducer != nullptr, atomic_supported(AtomicForm::Base, type, operation)) << type << " " << op;
            if (!reducer) continue;
            const auto first = numbers(type, kCount, random), second = numbers(type, kCount, random);
            std::vector<std::byte> expected = first, result(first.size());
            Resolved target;
            target.count = 1;
            target.pieces[0] = {.iov_base = expected.data(), .iov_len = expected.size()};
            apply_atomic(type, operation, target, second.data(), nullptr, nullptr, kCount);
            reducer(result.data(), first.data(), second.data(), kCount);
            expected = values_of(type, expected);
            EXPECT_EQ(values_of(type, result), expected) << type << " " << op;
            // In place of either.
            std::vector<std::byte> a = first, b = second;
            reducer(a.data(), a.data(), second.data(), kCount);
            reducer(b.data(), first.data(), b.data(), kCount);
            EXPECT_EQ(values_of(type, a), expected) << type << " " << op;
            EXPECT_EQ(values_of(type, b), expected) << type << " " << op;
            ++compared;
        }
    }
    EXPECT_EQ(compared, 10u * 10 + 3 * 7 + 3 * 5);
}

TEST(Reduce, ThereIsNoneForWhatIsNoReduction) {
    EXPECT_EQ(reducer_of(FI_DOUBLE, FI_BAND), nullptr);
    EXPECT_EQ(reducer_of(FI_DOUBLE_COMPLEX, FI_MAX), nullptr);
    EXPECT_EQ(reducer_of(FI_UINT64, FI_ATOMIC_WRITE), nullptr);
    EXPECT_EQ(reducer_of(FI_UINT64, FI_NOOP), nullptr);
    EXPECT_EQ(reducer_of(FI_UINT64, FI_CSWAP), nullptr);
    EXPECT_EQ(reducer_of(FI_VOID, FI_SUM), nullptr);
}

}  // namespace
}  // namespace selvage::impl
