// The promises on capabilities in general, case by case.
#include "model/test/getinfo_make.h"

namespace selvage::model {
namespace {

using namespace clause;
using namespace getinfo_test;
using enum Outcome;

Info with_caps(std::uint64_t caps) {
    Info o = rdm();
    o.caps = caps;
    return o;
}
Outcome by_caps(Ruling (*p)(const PairCase&), std::uint64_t first, const Answer& a, std::uint64_t second,
                const Answer& b) {
    return pair(p, MetamorphicRelation::Relaxed, query_for(first), a, query_for(second), b);
}

TEST(GetinfoCaps, GrantsWhatIsRequested) {
    EXPECT_EQ(offer(getinfo_caps_requested_granted, query_for(FI_MSG | FI_RMA), rdm()), Holds);
    EXPECT_EQ(offer(getinfo_caps_requested_granted, query_for(FI_MSG | FI_RMA), with_caps(FI_MSG)), Broken);
    EXPECT_EQ(offer(getinfo_caps_requested_granted, query_for(FI_MSG | FI_SEND), with_caps(FI_MSG)), Broken)
        << "modifiers too";
    EXPECT_EQ(offer(getinfo_caps_requested_granted, query_for(FI_MULTI_RECV), with_caps(FI_MSG)), NotApplicable);
    EXPECT_EQ(offer(getinfo_caps_requested_granted, query_for(), with_caps(0)), NotApplicable);
}

TEST(GetinfoCaps, RequestFitsWhatIsOffered) {
    EXPECT_EQ(fit(getinfo_caps_requested_fits, query_for(FI_MSG | FI_RMA | FI_READ), rdm()), Choice::Fits);
    EXPECT_EQ(fit(getinfo_caps_requested_fits, query_for(FI_MSG | FI_RECV), with_caps(FI_MSG)), Choice::Fits)
        << "implied";
    EXPECT_EQ(fit(getinfo_caps_requested_fits, query_for(FI_ATOMIC), rdm()), Choice::No);
    EXPECT_EQ(fit(getinfo_caps_requested_fits, query_for(FI_ATOMIC), rdm(), Origin::Inferred), Choice::May);
    EXPECT_EQ(fit(getinfo_caps_requested_fits, query_for(FI_FENCE), rdm()), Choice::NotRequested);
    Entry e = entry_of(rdm());
    e.also_caps = FI_ATOMIC;
    EXPECT_EQ(fit(getinfo_caps_requested_fits, query_for(FI_ATOMIC), e), Choice::Fits);
    EXPECT_EQ(fit(getinfo_caps_requested_fits, query_for(FI_ATOMIC), e, Origin::Inferred), Choice::May);
}

// fi_mr(3): FI_MR_HMEM is associated with the capability.
TEST(GetinfoCaps, MemoryOfDevicesIsForWhoRegistersIt) {
    Entry e = entry_of(rdm());
    e.also_caps = FI_HMEM;
    Query q = query_for(FI_MSG | FI_HMEM);
    EXPECT_EQ(fit(getinfo_caps_requested_fits, q, e), Choice::May) << "mr_mode is 0";
    q.hints->domain.mr_mode = FI_MR_HMEM;
    EXPECT_EQ(fit(getinfo_caps_requested_fits, q, e), Choice::Fits);
    q.version = Version(1, 8);
    EXPECT_EQ(fit(getinfo_caps_requested_fits, q, e), Choice::May) << "neither was there";
    e.also_caps = 0;
    q.version = Version(1, 17);
    EXPECT_EQ(fit(getinfo_caps_requested_fits, q, e), Choice::No);
}

TEST(GetinfoCaps, ZeroIsAnsweredWithWhatIsSupported) {
    EXPECT_EQ(offer(getinfo_caps_zero_full_set, nothing(), rdm()), Holds);
    EXPECT_EQ(offer(getinfo_caps_zero_full_set, query_for(), with_caps(0)), Broken);
    EXPECT_EQ(offer(getinfo_caps_zero_full_set, query_for(), with_caps(FI_SOURCE)), Broken);
    EXPECT_EQ(offer(getinfo_caps_zero_full_set, query_for(FI_MSG), with_caps(0)), NotApplicable);
}

TEST(GetinfoCaps, ZeroCoversWhatIsGranted) {
    EXPECT_EQ(by_caps(getinfo_caps_zero_covers, FI_RMA, granted(with_caps(FI_RMA)), 0, granted(rdm())), Holds);
    EXPECT_EQ(by_caps(getinfo_caps_zero_covers, FI_ATOMIC, granted(with_caps(FI_ATOMIC)), 0, granted(rdm())), Broken);
    EXPECT_EQ(by_caps(getinfo_caps_zero_covers, FI_MSG | FI_VARIABLE_MSG, granted(with_caps(FI_MSG | FI_VARIABLE_MSG)),
                      0, granted(rdm())),
              Holds)
        << "it is for who names it";
    EXPECT_EQ(by_caps(getinfo_caps_zero_covers, 0, granted(rdm()), FI_ATOMIC, granted(with_caps(FI_ATOMIC))), Broken);
    EXPECT_EQ(by_caps(getinfo_caps_zero_covers, FI_MSG, granted(msg()), 0, granted(rdm())), NotApplicable)
        << "another endpoint";
    EXPECT_EQ(by_caps(getinfo_caps_zero_covers, FI_MSG, granted(rdm()), FI_MSG | FI_RMA, granted(rdm())),
              NotApplicable);
}

TEST(GetinfoCaps, AnswersWithKnownBitsOnly) {
    EXPECT_EQ(offer(getinfo_caps_only_known, query_for(), rdm()), Holds);
    EXPECT_EQ(offer(getinfo_caps_only_known, query_for(), with_caps(FI_MSG | 1U)), Broken);
    EXPECT_EQ(offer(getinfo_caps_only_known, query_node(nullptr, nullptr, FI_PROV_ATTR_ONLY), with_caps(1)),
              NotApplicable);
}

TEST(GetinfoCaps, AddsNoPrimaryCapability) {
    EXPECT_EQ(offer(getinfo_caps_primary_not_requested, query_for(FI_MSG), with_caps(FI_MSG | FI_SEND | FI_SOURCE)),
              Holds);
    EXPECT_EQ(offer(getinfo_caps_primary_not_requested, query_for(FI_MSG), with_caps(FI_MSG | FI_TAGGED)), Broken);
    EXPECT_EQ(offer(getinfo_caps_primary_not_requested, query_for(FI_MSG), with_caps(FI_MSG | FI_AV_USER_ID)), Holds);
    EXPECT_EQ(offer(getinfo_caps_primary_not_requested, query_for(), with_caps(FI_MSG | FI_TAGGED)), NotApplicable);
}

TEST(GetinfoCaps, SecondaryIsSupportedOrRefused) {
    EXPECT_EQ(fit(getinfo_caps_secondary_requested, query_for(FI_MSG | FI_MULTI_RECV), rdm()), Choice::Fits);
    EXPECT_EQ(fit(getinfo_caps_secondary_requested, query_for(FI_MSG | FI_FENCE), rdm()), Choice::No);
    EXPECT_EQ(fit(getinfo_caps_secondary_requested, query_for(FI_MSG | FI_FENCE), rdm(), Origin::Inferred),
              Choice::May);
    EXPECT_EQ(fit(getinfo_caps_secondary_requested, query_for(FI_MSG), rdm()), Choice::NotRequested);
    EXPECT_EQ(fit(getinfo_caps_secondary_requested, query_for(FI_MSG | FI_SOURCE), msg()), Choice::NotRequested);
    EXPECT_EQ(offer(getinfo_caps_secondary_granted, query_for(FI_MSG | FI_MULTI_RECV), rdm()), Holds);
    EXPECT_EQ(offer(getinfo_caps_secondary_granted, query_for(FI_MSG | FI_FENCE), rdm()), Broken);
    EXPECT_EQ(offer(getinfo_caps_secondary_granted, query_for(FI_MSG), rdm()), NotApplicable);
}

TEST(GetinfoCaps, SecondaryToldUnaskedCanBeAskedFor) {
    const auto more = FI_MSG | FI_MULTI_RECV;
    EXPECT_EQ(by_caps(getinfo_caps_secondary_unselected_usable, FI_MSG, granted(rdm()), more, granted(rdm())), Holds);
    EXPECT_EQ(by_caps(getinfo_caps_secondary_unselected_usable, FI_MSG, granted(rdm()), more, refused()), Broken);
    EXPECT_EQ(by_caps(getinfo_caps_secondary_unselected_usable, more, refused(), FI_MSG, granted(rdm())), Broken);
    EXPECT_EQ(by_caps(getinfo_caps_secondary_unselected_usable, FI_MSG, granted(rdm()), FI_MSG | FI_FENCE, refused()),
              NotApplicable);
    EXPECT_EQ(by_caps(getinfo_caps_secondary_unselected_usable, FI_MSG, granted(rdm()), FI_MSG | FI_RMA, refused()),
              NotApplicable);
    Info connected = msg();
    connected.caps |= FI_SOURCE;
    EXPECT_EQ(
        by_caps(getinfo_caps_secondary_unselected_usable, FI_MSG, granted(connected), FI_MSG | FI_SOURCE, refused()),
        NotApplicable);
}

TEST(GetinfoCaps, UserIdIsGrantedByOffersThatHaveIt) {
    EXPECT_EQ(fit(getinfo_caps_av_user_id_class, query_for(FI_MSG | FI_AV_USER_ID), rdm()), Choice::No);
    EXPECT_EQ(fit(getinfo_caps_av_user_id_class, query_for(FI_MSG | FI_AV_USER_ID), with_caps(FI_MSG | FI_AV_USER_ID)),
              Choice::Fits);
    EXPECT_EQ(fit(getinfo_caps_av_user_id_class, query_for(FI_MSG), rdm()), Choice::NotRequested);
}

TEST(GetinfoCaps, NoModifiersMeansAll) {
    EXPECT_EQ(fit(getinfo_caps_modifiers_assumed_fit, query_for(FI_RMA), rdm()), Choice::Fits);
    EXPECT_EQ(fit(getinfo_caps_modifiers_assumed_fit, query_for(FI_RMA), with_caps(FI_RMA)), Choice::Fits);
    EXPECT_EQ(fit(getinfo_caps_modifiers_assumed_fit, query_for(FI_RMA), with_caps(FI_RMA | FI_READ)), Choice::No);
    EXPECT_EQ(fit(getinfo_caps_modifiers_assumed_fit, query_for(FI_MSG), with_caps(FI_MSG | FI_SEND)), Choice::No);
    EXPECT_EQ(fit(getinfo_caps_modifiers_assumed_fit, query_for(FI_RMA | FI_READ), with_caps(FI_RMA | FI_READ)),
              Choice::NotRequested);
    EXPECT_EQ(fit(getinfo_caps_modifiers_assumed_fit, query_for(FI_ATOMIC), with_caps(FI_MSG)), Choice::NotRequested);
}

TEST(GetinfoCaps, ModifiersLimit) {
    EXPECT_EQ(offer(getinfo_caps_modifiers_limit, query_for(FI_MSG | FI_SEND), with_caps(FI_MSG | FI_SEND)), Holds);
    EXPECT_EQ(offer(getinfo_caps_modifiers_limit, query_for(FI_MSG | FI_SEND), with_caps(FI_MSG | FI_SEND | FI_RECV)),
              Broken);
    EXPECT_EQ(
        offer(getinfo_caps_modifiers_limit, query_for(FI_RMA | FI_READ), with_caps(FI_RMA | FI_READ | FI_REMOTE_READ)),
        Broken);
    EXPECT_EQ(offer(getinfo_caps_modifiers_limit, query_for(FI_MSG | FI_RMA | FI_READ),
                    with_caps(FI_MSG | FI_RMA | FI_READ | FI_SEND)),
              Holds);
    EXPECT_EQ(offer(getinfo_caps_modifiers_limit, query_for(FI_MSG), rdm()), NotApplicable);
    EXPECT_EQ(offer(getinfo_caps_modifiers_limit, query_for(FI_MSG | FI_SEND | FI_RECV), rdm()), NotApplicable);
}

TEST(GetinfoCaps, ModifiersAskForLess) {
    const auto some = FI_RMA | FI_READ;
    EXPECT_EQ(by_caps(getinfo_caps_modifiers_only_narrow, FI_RMA, granted(rdm()), some, granted(rdm(), msg())), Holds);
    EXPECT_EQ(by_caps(getinfo_caps_modifiers_only_narrow, FI_RMA, granted(rdm()), some, refused()), Broken);
    EXPECT_EQ(by_caps(getinfo_caps_modifiers_only_narrow, some, refused(), FI_RMA, granted(rdm())), Broken);
    EXPECT_EQ(by_caps(getinfo_caps_modifiers_only_narrow, FI_MSG, granted(rdm()), FI_MSG | FI_READ, refused()),
              NotApplicable);
    EXPECT_EQ(by_caps(getinfo_caps_modifiers_only_narrow, FI_RMA | FI_RMA_EVENT, granted(rdm()), some | FI_RMA_EVENT,
                      refused()),
              NotApplicable)
        << "without a remote word FI_RMA_EVENT is refused";
}

TEST(GetinfoCaps, ContextsThatAskForWhatModifiersLeaveOutMayBeRefused) {
    const auto ruled = [](std::uint64_t of_receive) {
        Query both = query_for(FI_MSG);
        both.hints->rx.caps = of_receive;
        Query sends = both;
        sends.hints->caps = FI_MSG | FI_SEND;
        return pair(getinfo_caps_modifiers_only_narrow, MetamorphicRelation::Relaxed, both, granted(rdm()), sends,
                    refused());
    };
    EXPECT_EQ(ruled(FI_MSG), Broken);
    EXPECT_EQ(ruled(FI_RECV), NotApplicable);
    EXPECT_EQ(ruled(FI_MULTI_RECV), NotApplicable) << "it is of the receive side, which only the first call asks for";
}

TEST(GetinfoCaps, AllModifiersAskForWhatNoneDo) {
    const auto all = FI_MSG | FI_SEND | FI_RECV;
    EXPECT_EQ(by_caps(getinfo_caps_modifiers_all_equal_none, all, granted(rdm()), FI_MSG, granted(rdm())), Holds);
    EXPECT_EQ(by_caps(getinfo_caps_modifiers_all_equal_none, all, granted(rdm(), msg()), FI_MSG, granted(rdm())),
              Broken);
    EXPECT_EQ(by_caps(getinfo_caps_modifiers_all_equal_none, FI_MSG | FI_SEND, granted(rdm()), FI_MSG, refused()),
              NotApplicable);
}

}  // namespace
}  // namespace selvage::model
