// See atomic_kernels.h.
#include "impl/engine/atomic_kernels.h"

#include <bit>
#include <type_traits>
#include <utility>

#include "impl/base/lock.h"
#include "impl/endpoint/atomic_values.h"

namespace selvage::impl {
namespace {

Mutex unaligned_lock;   // held around each element that no instruction can change atomically
Mutex straddling_lock;  // held around each element that lies in two pieces of memory; taken before the other

template <size_t Size>
struct WordOf;
template <>
struct WordOf<1> {
    using Type = uint8_t;
};
template <>
struct WordOf<2> {
    using Type = uint16_t;
};
template <>
struct WordOf<4> {
    using Type = uint32_t;
};
template <>
struct WordOf<8> {
    using Type = uint64_t;
};

// Elements that follow one another at `target`.
template <fi_op Op, typename Value>
void apply(std::byte* target, const std::byte* operands, const std::byte* compares, std::byte* results, size_t count) {
    for (size_t i = 0; i < count; ++i) {
        const size_t at = i * sizeof(Value);
        Value operand{}, compare{}, old;
        if (operands) memcpy(&operand, operands + at, sizeof operand);
        if (compares) memcpy(&compare, compares + at, sizeof compare);
        bool done = false;
        if constexpr (sizeof(Value) <= 8) {
            using Word = typename WordOf<sizeof(Value)>::Type;
            if (reinterpret_cast<uintptr_t>(target + at) % sizeof(Word) == 0) {
                // The exchange is sequentially consistent: it orders accesses to other elements, by any atomic
                // operation of this function or of the processor, as the application sees them.
                auto* word = reinterpret_cast<Word*>(target + at);
                Word seen = __atomic_load_n(word, __ATOMIC_SEQ_CST);
                for (;;) {
                    old = std::bit_cast<Value>(seen);
                    if constexpr (Op == FI_ATOMIC_READ) break;
                    const Word fresh = std::bit_cast<Word>(next<Op>(old, operand, compare));
                    if (__atomic_compare_exchange_n(word, &seen, fresh, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
                        break;
                    }
                }
                done = true;
            }
        }
        if (!done) {
            LockGuard guard(unaligned_lock);
            memcpy(&old, target + at, sizeof old);
            const Value fresh = next<Op>(old, operand, compare);
            if constexpr (Op != FI_ATOMIC_READ) memcpy(target + at, &fresh, sizeof fresh);
        }
        if (results) memcpy(results + at, &old, sizeof old);
    }
}

struct Kernels {
    static constexpr size_t kOps = FI_MSWAP + 1;
    using Function = void (*)(std::byte*, const std::byte*, const std::byte*, std::byte*, size_t);
    template <fi_op Op, typename Value>
    static constexpr Function function = apply<Op, Value>;
};

}  // namespace

void apply_atomic(fi_datatype type, fi_op op, const Resolved& target, const std::byte* operand,
                  const std::byte* compare, std::byte* result, size_t count) {
    const Kernels::Function kernel = AtomicTable<Kernels>::find(type, op);
    const size_t size = atomic_type_size(type);
    if (!kernel || !size) return;
    size_t done = 0;
    const auto step = [&](std::byte* at, size_t elements) {
        const size_t offset = done * size;
        kernel(at, operand ? operand + offset : nullptr, compare ? compare + offset : nullptr,
               result ? result + offset : nullptr, elements);
        done += elements;
    };
    size_t skip = 0;  // bytes of a piece that the element before took
    for (size_t i = 0; i < target.count && done < count; ++i) {
        if (skip >= target.pieces[i].iov_len) {
            skip -= target.pieces[i].iov_len;
            continue;
        }
        auto* at = static_cast<std::byte*>(target.pieces[i].iov_base) + skip;
        size_t left = target.pieces[i].iov_len - skip;
        skip = 0;
        if (left >= size) {
            const size_t elements = left / size < count - done ? left / size : count - done;
            step(at, elements);
            left -= elements * size;
        }
        if (!left || done == count) continue;
        // An element that begins in this piece and ends in a later one.
        std::byte element[2 * sizeof(long double)];
        iovec rest[Resolved::kPieces];
        const uint64_t offset = target.pieces[i].iov_len - left;
        const size_t parts = slice(target.pieces + i, target.count - i, offset, size, rest);
        LockGuard guard(straddling_lock);
        gather(rest, parts, 0, element, size);
        step(element, 1);
        scatter(rest, parts, 0, element, size);
        skip = size - left;
    }
}

}  // namespace selvage::impl
