// Whose crash it is: where an atomic was accepted that its valid call denies, that of the atomic, whatever is called
// next.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "conformance/test/pair_util.h"

namespace selvage::conformance {
namespace {

#ifdef SELVAGE_OWN_LIBRARY
// Denies every atomic, and accepts it all the same.
class Denying : public WrappedEndpoint {
public:
    using WrappedEndpoint::WrappedEndpoint;
    std::uint64_t valid_count(const model::Operation&) override { return 0; }
};

// The operation that a crash at the end would belong to; A's endpoint denies atomics if `denies`.
std::string charged(const std::string& operations, bool denies) {
    return on_own_pair(operations, [denies](Pair& pair, const TransferSequence& sequence) {
        if (denies) pair.wrap(model::Side::A, [](auto end) { return std::make_unique<Denying>(std::move(end)); });
        Charge charge;
        Patience patience;
        patience.charge = &charge;
        model::Traffic out;
        run_sequence(pair, sequence, patience, out);
        return std::to_string(charge.operation);
    });
}

constexpr auto kMessagesBehindAnAtomic =
    "B recv length=8\nA atomic type=FI_UINT64 op=FI_SUM count=1\nprogress\nA send length=8\n";

TEST(CrashBehindAnAtomic, IsThatOfTheAtomicWhereItsValidCallDeniesIt) {
    EXPECT_EQ(charged(kMessagesBehindAnAtomic, true), "1");
}

TEST(CrashBehindAnAtomic, IsThatOfTheCallMadeLastWhereTheAtomicIsValid) {
    EXPECT_EQ(charged(kMessagesBehindAnAtomic, false), "3");
}

TEST(CrashBehindAnAtomic, IsThatOfTheCallMadeLastWhereThereIsNone) {
    EXPECT_EQ(charged("B recv length=8\nA send length=8\n", true), "1");
}
#endif

}  // namespace
}  // namespace selvage::conformance
