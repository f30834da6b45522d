// The registration mode as a whole, case by case from the text: two meanings of one field, parted at 1.5.
#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>

#include "model/test/make_fields.h"

namespace selvage::model {
namespace {

using namespace fields_test;

constexpr std::uint64_t kBasicBits = FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
constexpr auto kSeen = Origin::Inferred;
constexpr auto kDeclared = Origin::Declared;

Info mode(std::uint64_t mr_mode) { return info({{Field::domain_mr_mode, mr_mode}}); }
Query requesting(std::uint64_t mr_mode, Version v = kNow) { return query_for(mode(mr_mode), v); }
Query query_with(std::uint64_t mr_mode, std::uint64_t mode) {
    return query_for({{Field::domain_mr_mode, mr_mode}, {Field::mode, mode}});
}
Query says_nothing() {
    Query q = query_for({{Field::caps, FI_RMA}});
    q.hints->drop(Part::Domain);
    return q;
}

// An entry that reports these bits and cannot do without them.
Entry needs(std::uint64_t bits) {
    Entry e = entry(mode(bits));
    e.needed_mr_mode = bits;
    return e;
}
// An entry that reports these bits and can do without.
Entry likes(std::uint64_t bits) { return entry(mode(bits)); }

TEST(DomainMrOld, ZeroFitsWhatRegistersEitherWay) {
    const auto p = clause::domain_mr_zero_old;
    for (const auto word : {FI_MR_UNSPEC, FI_MR_BASIC, FI_MR_SCALABLE}) {
        EXPECT_EQ(fit(p, requesting(0, kOld), needs(static_cast<std::uint64_t>(word)), kSeen), Choice::Fits);
    }
    EXPECT_EQ(fit(p, requesting(0, kOld), needs(kBasicBits), kDeclared), Choice::Fits) << "the basic way";
    EXPECT_EQ(fit(p, requesting(0, kOld), needs(FI_MR_ENDPOINT), kDeclared), Choice::No);
    EXPECT_EQ(fit(p, requesting(0, kOld), needs(FI_MR_ENDPOINT), kSeen), Choice::May);
    EXPECT_EQ(fit(p, requesting(FI_MR_BASIC, kOld), needs(FI_MR_BASIC), kSeen), Choice::NotRequested);
    EXPECT_EQ(fit(p, call(kOld), needs(0), kSeen), Choice::NotRequested);
}

TEST(DomainMrOld, LocalRegistrationIsAModeOfTheApplication) {
    const auto p = clause::domain_mr_zero_old;
    auto q = requesting(0, kOld);
    EXPECT_EQ(fit(p, q, needs(FI_MR_LOCAL | FI_MR_VIRT_ADDR), kDeclared), Choice::No);
    q.hints->mode = FI_LOCAL_MR;
    EXPECT_EQ(fit(p, q, needs(FI_MR_LOCAL | FI_MR_VIRT_ADDR), kDeclared), Choice::Fits);
}

TEST(DomainMrOld, ZeroIsAnsweredWithAnOldWord) {
    const auto p = clause::domain_mr_zero_old_granted;
    EXPECT_EQ(rule(p, requesting(0, kOld), mode(FI_MR_UNSPEC)), kHolds);
    EXPECT_EQ(rule(p, requesting(0, kOld), mode(FI_MR_BASIC)), kHolds);
    EXPECT_EQ(rule(p, requesting(0, kOld), mode(FI_MR_SCALABLE)), kHolds);
    EXPECT_EQ(rule(p, requesting(0, kOld), mode(FI_MR_LOCAL)), kBroken);
    EXPECT_EQ(rule(p, requesting(FI_MR_BASIC, kOld), mode(FI_MR_LOCAL)), kSkips);
    EXPECT_EQ(rule(p, call(kOld), mode(FI_MR_LOCAL)), kSkips);
}

TEST(DomainMrOld, EntriesReportOldWordsOnly) {
    const auto p = clause::domain_mr_old_answer;
    EXPECT_EQ(rule(p, call(kOld), mode(FI_MR_SCALABLE)), kHolds);
    EXPECT_EQ(rule(p, call(kOld), mode(FI_MR_BASIC | FI_MR_SCALABLE)), kBroken);
    EXPECT_EQ(rule(p, call(kOld), mode(FI_MR_VIRT_ADDR)), kBroken);
    EXPECT_EQ(rule(p, flagged(call(kOld), FI_PROV_ATTR_ONLY), mode(FI_MR_VIRT_ADDR)), kSkips);
}

TEST(DomainMrOld, BasicFitsWhatRegistersTheBasicWay) {
    const auto p = clause::domain_mr_basic_old;
    EXPECT_EQ(fit(p, requesting(FI_MR_BASIC, kOld), needs(FI_MR_BASIC), kSeen), Choice::Fits);
    EXPECT_EQ(fit(p, requesting(FI_MR_BASIC, kOld), needs(FI_MR_SCALABLE), kSeen), Choice::May)
        << "it may know both ways";
    EXPECT_EQ(fit(p, requesting(FI_MR_BASIC, kOld), needs(FI_MR_SCALABLE), kDeclared), Choice::No);
    EXPECT_EQ(fit(p, requesting(FI_MR_BASIC, kOld), needs(kBasicBits), kDeclared), Choice::Fits);
    EXPECT_EQ(fit(p, requesting(FI_MR_BASIC, kOld), needs(0), kDeclared), Choice::May)
        << "zero: either way, or no bit needed";
    EXPECT_EQ(fit(p, requesting(FI_MR_SCALABLE, kOld), needs(FI_MR_BASIC), kDeclared), Choice::NotRequested);
}

TEST(DomainMrOld, ScalableFitsWhatRegistersTheScalableWay) {
    const auto p = clause::domain_mr_scalable_old;
    EXPECT_EQ(fit(p, requesting(FI_MR_SCALABLE, kOld), needs(FI_MR_SCALABLE), kSeen), Choice::Fits);
    EXPECT_EQ(fit(p, requesting(FI_MR_SCALABLE, kOld), needs(0), kDeclared), Choice::Fits) << "no bit needed";
    EXPECT_EQ(fit(p, requesting(FI_MR_SCALABLE, kOld), needs(0), kSeen), Choice::May);
    EXPECT_EQ(fit(p, requesting(FI_MR_SCALABLE, kOld), needs(FI_MR_BASIC), kDeclared), Choice::No);
    EXPECT_EQ(fit(p, requesting(FI_MR_SCALABLE, kOld), needs(kBasicBits), kDeclared), Choice::No);
    EXPECT_EQ(fit(p, requesting(FI_MR_SCALABLE, kOld), likes(kBasicBits), kDeclared), Choice::Fits)
        << "it only wishes for its bits";
    EXPECT_EQ(fit(p, requesting(0, kOld), needs(FI_MR_SCALABLE), kDeclared), Choice::NotRequested);
}

TEST(DomainMrOld, AskedWordIsReported) {
    EXPECT_EQ(rule(clause::domain_mr_basic_old_granted, requesting(FI_MR_BASIC, kOld), mode(FI_MR_BASIC)), kHolds);
    EXPECT_EQ(rule(clause::domain_mr_basic_old_granted, requesting(FI_MR_BASIC, kOld), mode(FI_MR_SCALABLE)), kBroken);
    EXPECT_EQ(rule(clause::domain_mr_basic_old_granted, requesting(0, kOld), mode(FI_MR_SCALABLE)), kSkips);
    EXPECT_EQ(rule(clause::domain_mr_scalable_old_granted, requesting(FI_MR_SCALABLE, kOld), mode(FI_MR_SCALABLE)),
              kHolds);
    EXPECT_EQ(rule(clause::domain_mr_scalable_old_granted, requesting(FI_MR_SCALABLE, kOld), mode(FI_MR_UNSPEC)),
              kBroken);
    EXPECT_EQ(rule(clause::domain_mr_scalable_old_granted, requesting(FI_MR_BASIC, kOld), mode(FI_MR_BASIC)), kSkips);
}

TEST(DomainMrOld, NewBitsMayBeRefused) {
    const auto p = clause::domain_mr_new_bits_before;
    EXPECT_EQ(demand(p, requesting(FI_MR_VIRT_ADDR, kOld)).kind, Demand::Kind::MayRefuse);
    EXPECT_EQ(demand(p, requesting(FI_MR_BASIC, kOld)).kind, Demand::Kind::NotRequested);
    EXPECT_EQ(demand(p, requesting(0, kOld)).kind, Demand::Kind::NotRequested);
}

TEST(DomainMr, ZeroFitsWhatNeedsNoBit) {
    const auto p = clause::domain_mr_zero;
    EXPECT_EQ(fit(p, requesting(0), needs(0), kSeen), Choice::Fits);
    EXPECT_EQ(fit(p, requesting(0), needs(FI_MR_SCALABLE), kSeen), Choice::Fits);
    EXPECT_EQ(fit(p, requesting(0), needs(FI_MR_LOCAL), kDeclared), Choice::No);
    EXPECT_EQ(fit(p, requesting(0), needs(FI_MR_BASIC), kDeclared), Choice::No) << "the old word needs three bits";
    EXPECT_EQ(fit(p, requesting(0), needs(FI_MR_LOCAL), kSeen), Choice::No) << "it was never offered without";
    EXPECT_EQ(fit(p, requesting(0), likes(FI_MR_LOCAL), kSeen), Choice::May);
    EXPECT_EQ(fit(p, requesting(0), likes(FI_MR_LOCAL), kDeclared), Choice::Fits)
        << "it is told that it can do without";
    EXPECT_EQ(fit(p, says_nothing(), needs(FI_MR_LOCAL), kDeclared), Choice::NotRequested);
    EXPECT_EQ(fit(p, requesting(FI_MR_LOCAL), needs(FI_MR_LOCAL), kDeclared), Choice::NotRequested);
}

TEST(DomainMr, ZeroIsNoWildcardForLocalMr) {
    // FI_LOCAL_MR counts beside the old words only.
    EXPECT_EQ(fit(clause::domain_mr_zero, query_with(0, FI_LOCAL_MR), needs(FI_MR_LOCAL), kDeclared), Choice::No);
}

TEST(DomainMr, UnseenCapabilitiesMayBringNeeds) {
    auto q = requesting(0);
    q.hints->caps = FI_HMEM;
    EXPECT_EQ(fit(clause::domain_mr_zero, q, needs(0), kSeen), Choice::May);
    EXPECT_NE(fit(clause::domain_mr_zero, q, needs(0), kDeclared), Choice::May);
}

TEST(DomainMr, ZeroIsAnsweredWithoutBits) {
    const auto p = clause::domain_mr_zero_granted;
    EXPECT_EQ(rule(p, requesting(0), mode(0)), kHolds);
    EXPECT_EQ(rule(p, requesting(0), mode(FI_MR_SCALABLE)), kHolds);
    EXPECT_EQ(rule(p, requesting(0), mode(FI_MR_BASIC)), kBroken);
    EXPECT_EQ(rule(p, requesting(0), mode(FI_MR_VIRT_ADDR)), kBroken);
    EXPECT_EQ(rule(p, says_nothing(), mode(FI_MR_VIRT_ADDR)), kSkips);
    EXPECT_EQ(rule(p, call(), mode(FI_MR_VIRT_ADDR)), kSkips);
    EXPECT_EQ(rule(p, flagged(requesting(0), FI_PROV_ATTR_ONLY), mode(FI_MR_VIRT_ADDR)), kSkips);
}

TEST(DomainMr, BitsFitWhatNeedsNoOthers) {
    const auto p = clause::domain_mr_bits_cover;
    EXPECT_EQ(fit(p, requesting(kBasicBits | FI_MR_LOCAL), needs(FI_MR_VIRT_ADDR), kSeen), Choice::Fits);
    EXPECT_EQ(fit(p, requesting(kBasicBits), needs(FI_MR_BASIC), kSeen), Choice::Fits);
    EXPECT_EQ(fit(p, requesting(FI_MR_LOCAL), needs(0), kSeen), Choice::Fits) << "ready for more than is needed";
    EXPECT_EQ(fit(p, requesting(FI_MR_VIRT_ADDR), needs(kBasicBits), kDeclared), Choice::No);
    EXPECT_EQ(fit(p, requesting(FI_MR_VIRT_ADDR), needs(FI_MR_HMEM), kDeclared), Choice::No);
    EXPECT_EQ(fit(p, requesting(FI_MR_VIRT_ADDR), needs(kBasicBits), kSeen), Choice::May);
    EXPECT_EQ(fit(p, requesting(0), needs(kBasicBits), kDeclared), Choice::NotRequested);
    EXPECT_EQ(fit(p, requesting(FI_MR_BASIC), needs(kBasicBits), kDeclared), Choice::NotRequested);
}

TEST(DomainMr, EntryNeedsNoBitThatTheHintsDoNotHold) {
    const auto p = clause::domain_mr_within_request;
    EXPECT_EQ(rule(p, requesting(kBasicBits), mode(FI_MR_VIRT_ADDR)), kHolds);
    EXPECT_EQ(rule(p, requesting(kBasicBits), mode(0)), kHolds);
    EXPECT_EQ(rule(p, requesting(kBasicBits), mode(FI_MR_BASIC)), kHolds);
    EXPECT_EQ(rule(p, requesting(FI_MR_VIRT_ADDR), mode(FI_MR_BASIC)), kBroken) << "the old word needs three bits";
    EXPECT_EQ(rule(p, requesting(FI_MR_VIRT_ADDR), mode(FI_MR_VIRT_ADDR | FI_MR_LOCAL)), kBroken);
    EXPECT_EQ(rule(p, requesting(FI_MR_BASIC), mode(FI_MR_LOCAL)), kSkips);
    EXPECT_EQ(rule(p, requesting(0), mode(FI_MR_LOCAL)), kSkips);
    EXPECT_EQ(rule(p, flagged(requesting(FI_MR_VIRT_ADDR), FI_PROV_ATTR_ONLY), mode(FI_MR_LOCAL)), kSkips);
}

TEST(DomainMr, OldWordsStandAlone) {
    const auto p = clause::domain_mr_old_alone;
    EXPECT_EQ(demand(p, requesting(FI_MR_BASIC | FI_MR_SCALABLE)).kind, Demand::Kind::MustRefuse);
    EXPECT_EQ(demand(p, requesting(FI_MR_SCALABLE | FI_MR_LOCAL)).kind, Demand::Kind::MustRefuse);
    const auto refused = demand(p, requesting(FI_MR_BASIC | FI_MR_LOCAL));
    EXPECT_EQ(refused.kind, Demand::Kind::MustRefuse);
    EXPECT_EQ(refused.errnos, (std::vector<int>{FI_ENODATA, FI_EBADFLAGS}));
    EXPECT_EQ(demand(p, requesting(FI_MR_BASIC)).kind, Demand::Kind::Nothing);
    EXPECT_EQ(demand(p, requesting(FI_MR_SCALABLE)).kind, Demand::Kind::Nothing);
    EXPECT_EQ(demand(p, requesting(FI_MR_LOCAL)).kind, Demand::Kind::NotRequested);
}

TEST(DomainMr, EntryReportsAnOldWordAloneOrBits) {
    const auto p = clause::domain_mr_answer_well_formed;
    EXPECT_EQ(rule(p, call(), mode(0)), kHolds);
    EXPECT_EQ(rule(p, call(), mode(FI_MR_BASIC)), kHolds);
    EXPECT_EQ(rule(p, call(), mode(FI_MR_LOCAL | FI_MR_RAW)), kHolds);
    EXPECT_EQ(rule(p, call(), mode(FI_MR_BASIC | FI_MR_LOCAL)), kBroken);
    EXPECT_EQ(rule(p, call(), mode(FI_MR_SCALABLE | FI_MR_LOCAL)), kBroken);
    EXPECT_EQ(rule(p, flagged(call(), FI_PROV_ATTR_ONLY), mode(FI_MR_BASIC | FI_MR_LOCAL)), kSkips);
}

TEST(DomainMr, UnknownBitsMayBeRefused) {
    const auto p = clause::domain_mr_unknown_bits;
    EXPECT_EQ(demand(p, requesting(1U << 20)).kind, Demand::Kind::MayRefuse);
    EXPECT_EQ(demand(p, requesting(FI_MR_COLLECTIVE, Version(1, 5))).kind, Demand::Kind::MayRefuse)
        << "not known to 1.5";
    EXPECT_EQ(demand(p, requesting(FI_MR_COLLECTIVE)).kind, Demand::Kind::Nothing);
    EXPECT_EQ(demand(p, requesting(0)).kind, Demand::Kind::NotRequested);
}

TEST(DomainMr, BasicFitsWhatItsThreeBitsFit) {
    const auto p = clause::domain_mr_basic;
    EXPECT_EQ(fit(p, requesting(FI_MR_BASIC), needs(kBasicBits), kDeclared), Choice::Fits);
    EXPECT_EQ(fit(p, requesting(FI_MR_BASIC), needs(0), kSeen), Choice::Fits) << "equivalent, so fewer fit too";
    EXPECT_EQ(fit(p, requesting(FI_MR_BASIC), needs(FI_MR_RAW), kDeclared), Choice::No);
    EXPECT_EQ(fit(p, requesting(FI_MR_BASIC), needs(FI_MR_RAW), kSeen), Choice::May);
    EXPECT_EQ(fit(p, requesting(FI_MR_BASIC), needs(FI_MR_LOCAL), kDeclared), Choice::No);
    EXPECT_EQ(fit(p, query_with(FI_MR_BASIC, FI_LOCAL_MR), needs(FI_MR_LOCAL), kDeclared), Choice::Fits);
    EXPECT_EQ(fit(p, requesting(kBasicBits), needs(0), kDeclared), Choice::NotRequested);
}

TEST(DomainMr, BasicAndItsBitsBringTheSame) {
    const auto p = clause::domain_mr_basic_same_answers;
    const auto some = answer({endpoint(FI_EP_RDM)});
    const auto none = answer({}, -FI_ENODATA);
    EXPECT_EQ(rule(p, MetamorphicRelation::Repeated, requesting(FI_MR_BASIC), some, requesting(kBasicBits), some),
              kHolds);
    EXPECT_EQ(rule(p, MetamorphicRelation::Repeated, requesting(FI_MR_BASIC), none, requesting(kBasicBits), some),
              kBroken);
    EXPECT_EQ(rule(p, MetamorphicRelation::Repeated, requesting(kBasicBits), some, requesting(FI_MR_BASIC), none),
              kBroken);
    EXPECT_EQ(rule(p, MetamorphicRelation::Repeated, requesting(FI_MR_BASIC), none, requesting(FI_MR_VIRT_ADDR), some),
              kSkips);
    EXPECT_EQ(
        rule(p, MetamorphicRelation::Repeated, requesting(FI_MR_BASIC), none, query_with(kBasicBits, FI_CONTEXT), some),
        kSkips);
    EXPECT_EQ(rule(p, MetamorphicRelation::Repeated, query_with(FI_MR_BASIC, FI_LOCAL_MR), some,
                   query_with(kBasicBits, FI_LOCAL_MR), none),
              kSkips);
}

TEST(DomainMr, BasicIsAnsweredWithItselfOrItsBits) {
    const auto p = clause::domain_mr_basic_granted;
    EXPECT_EQ(rule(p, requesting(FI_MR_BASIC), mode(FI_MR_BASIC)), kHolds);
    EXPECT_EQ(rule(p, requesting(FI_MR_BASIC), mode(FI_MR_VIRT_ADDR | FI_MR_PROV_KEY)), kHolds);
    EXPECT_EQ(rule(p, requesting(FI_MR_BASIC), mode(0)), kHolds) << "nothing needed";
    EXPECT_EQ(rule(p, requesting(FI_MR_BASIC), mode(FI_MR_LOCAL)), kBroken);
    EXPECT_EQ(rule(p, requesting(FI_MR_BASIC), mode(FI_MR_SCALABLE)), kBroken);
    EXPECT_EQ(rule(p, query_with(FI_MR_BASIC, FI_LOCAL_MR), mode(FI_MR_LOCAL)), kHolds);
    EXPECT_EQ(rule(p, requesting(kBasicBits), mode(FI_MR_LOCAL)), kSkips);
}

TEST(DomainMr, ScalableFitsWhatNeedsNoBit) {
    const auto p = clause::domain_mr_scalable;
    EXPECT_EQ(fit(p, requesting(FI_MR_SCALABLE), needs(0), kSeen), Choice::Fits);
    EXPECT_EQ(fit(p, requesting(FI_MR_SCALABLE), needs(FI_MR_VIRT_ADDR), kDeclared), Choice::No);
    EXPECT_EQ(fit(p, requesting(FI_MR_SCALABLE), needs(FI_MR_VIRT_ADDR), kSeen), Choice::No) << "never offered without";
    EXPECT_EQ(fit(p, requesting(FI_MR_SCALABLE), likes(FI_MR_VIRT_ADDR), kSeen), Choice::May);
    EXPECT_EQ(fit(p, requesting(0), needs(0), kDeclared), Choice::NotRequested);
}

TEST(DomainMr, ScalableIsAnsweredWithItselfOrZero) {
    const auto p = clause::domain_mr_scalable_granted;
    EXPECT_EQ(rule(p, requesting(FI_MR_SCALABLE), mode(FI_MR_SCALABLE)), kHolds);
    EXPECT_EQ(rule(p, requesting(FI_MR_SCALABLE), mode(0)), kHolds);
    EXPECT_EQ(rule(p, requesting(FI_MR_SCALABLE), mode(FI_MR_BASIC)), kBroken);
    EXPECT_EQ(rule(p, requesting(FI_MR_SCALABLE), mode(FI_MR_PROV_KEY)), kBroken);
    EXPECT_EQ(rule(p, requesting(0), mode(FI_MR_PROV_KEY)), kSkips);
}

}  // namespace
}  // namespace selvage::model
