// Whether a pair may carry more: not behind an access that the target does not allow, for that may disable the endpoint
// (fi_domain(3)), even if nothing says so.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "conformance/test/pair_util.h"

namespace selvage::conformance {
namespace {

#ifdef SELVAGE_OWN_LIBRARY
// Lets through what the target does not allow: it reaches the beginning of the region instead.
class Lenient : public WrappedEndpoint {
public:
    using WrappedEndpoint::WrappedEndpoint;
    std::int64_t post(const PostedCall& call) override {
        PostedCall allowed = call;
        allowed.operation.bad_key = false;
        return WrappedEndpoint::post(allowed);
    }
};

// "yes" if the pair may carry more after these operations.
std::string may_carry_more(const std::string& operations) {
    return on_own_pair(operations, [](Pair& pair, const TransferSequence& sequence) {
        pair.wrap(model::Side::A, [](auto end) { return std::make_unique<Lenient>(std::move(end)); });
        Patience patience;
        model::Traffic out;
        return run_sequence(pair, sequence, patience, out) ? "yes" : "no";
    });
}

TEST(PairThatCarriedATransfer, MayCarryMore) { EXPECT_EQ(may_carry_more("A write length=0\n"), "yes"); }

TEST(PairThatCarriedATransfer, CarriesNoMoreBehindAnAccessThatTheTargetDoesNotAllow) {
    EXPECT_EQ(may_carry_more("A write length=0 bad-key\n"), "no");
}
#endif

}  // namespace
}  // namespace selvage::conformance
