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

struct Reducers {
    // The operations that make one value of two: FI_MIN to FI_BXOR.
    static constexpr size_t kOps = FI_BXOR + 1;
    static_assert(FI_MIN == 0);
    using Function = Reducer;
    template <fi_op Op, typename Value>
    static constexpr Function function = reduce<Op, Value>;
};

}  // namespace

Reducer reducer_of(fi_datatype type, fi_op op) { return AtomicTable<Reducers>::find(type, op); }

}  // namespace selvage::impl
