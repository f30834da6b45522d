// The promises on mode bits, case by case.
#include "model/test/getinfo_make.h"

namespace selvage::model {
namespace {

using namespace clause;
using namespace getinfo_test;
using enum Outcome;

Info with_mode(std::uint64_t mode) {
    Info o = rdm();
    o.mode = mode;
    return o;
}

TEST(GetinfoMode, AsksNoDutyThatTheHintsLack) {
    EXPECT_EQ(offer(getinfo_mode_within_hints, ask_mode(FI_CONTEXT | FI_ASYNC_IOV), with_mode(FI_CONTEXT)), Holds);
    EXPECT_EQ(offer(getinfo_mode_within_hints, ask(), with_mode(FI_CONTEXT)), Broken);
    EXPECT_EQ(offer(getinfo_mode_within_hints, nothing(), with_mode(FI_CONTEXT)), NotApplicable);
}

TEST(GetinfoMode, OffersThatNeedADutyDoNotFitWithoutIt) {
    EXPECT_EQ(fit(getinfo_mode_zero_means_none, ask(), with_mode(FI_MSG_PREFIX)), Choice::No);
    EXPECT_EQ(fit(getinfo_mode_zero_means_none, ask_mode(FI_CONTEXT), with_mode(FI_MSG_PREFIX)), Choice::No);
    EXPECT_EQ(fit(getinfo_mode_zero_means_none, ask(), with_mode(FI_MSG_PREFIX), Origin::Inferred), Choice::May);
    EXPECT_EQ(fit(getinfo_mode_zero_means_none, ask_mode(FI_MSG_PREFIX), with_mode(FI_MSG_PREFIX)), Choice::Fits);
    EXPECT_EQ(fit(getinfo_mode_zero_means_none, ask(), rdm()), Choice::NotAsked);
    EXPECT_EQ(fit(getinfo_mode_zero_means_none, nothing(), with_mode(FI_MSG_PREFIX)), Choice::NotAsked)
        << "NULL hints take all";
    Entry liked = entry_of(with_mode(FI_CONTEXT));
    liked.needed_mode = 0;
    EXPECT_EQ(fit(getinfo_mode_zero_means_none, ask(), liked, Origin::Inferred), Choice::NotAsked)
        << "liked, not needed";
}

TEST(GetinfoMode, MoreDutiesExcludeNothing) {
    EXPECT_EQ(fit(getinfo_mode_extra_bits_fit, ask_mode(FI_CONTEXT), rdm()), Choice::Fits);
    EXPECT_EQ(fit(getinfo_mode_extra_bits_fit, ask_mode(FI_CONTEXT), with_mode(FI_CONTEXT)), Choice::NotAsked);
    EXPECT_EQ(fit(getinfo_mode_extra_bits_fit, ask_mode(1), rdm()), Choice::May) << "a bit that is no mode";
    const auto judged = [](MetamorphicRelation k, const Answer& a, const Answer& b) {
        return pair(getinfo_mode_more_never_hurts, k, ask(), a, ask_mode(FI_CONTEXT), b);
    };
    EXPECT_EQ(judged(MetamorphicRelation::MoreModes, granted(rdm()), granted(rdm(), msg())), Holds);
    EXPECT_EQ(judged(MetamorphicRelation::MoreModes, granted(rdm()), granted(msg())), Broken);
    EXPECT_EQ(judged(MetamorphicRelation::MoreModes, granted(rdm()), refused()), Broken);
    EXPECT_EQ(judged(MetamorphicRelation::MoreModes, refused(), granted(rdm())), NotApplicable);
    EXPECT_EQ(judged(MetamorphicRelation::Relaxed, granted(rdm()), refused()), NotApplicable);
}

TEST(GetinfoMode, NullHintsAreToldAllModes) {
    const auto judged = [](const Info& none, const Info& hinted) {
        return pair(getinfo_mode_null_hints_supported, MetamorphicRelation::NullVersusEmpty, nothing(), granted(none),
                    ask_mode(~0ULL), granted(hinted));
    };
    EXPECT_EQ(judged(with_mode(FI_CONTEXT), with_mode(FI_CONTEXT)), Holds);
    EXPECT_EQ(judged(rdm(), with_mode(FI_CONTEXT)), Broken);
    EXPECT_EQ(judged(msg(), with_mode(FI_CONTEXT)), NotApplicable) << "another endpoint";
    EXPECT_EQ(pair(getinfo_mode_null_hints_supported, MetamorphicRelation::Repeated, ask(), granted(rdm()), ask(),
                   granted(rdm())),
              NotApplicable);
}

TEST(GetinfoMode, AnswersWithKnownBitsOnly) {
    EXPECT_EQ(offer(getinfo_mode_known_bits, ask(), with_mode(FI_CONTEXT | FI_BUFFERED_RECV)), Holds);
    EXPECT_EQ(offer(getinfo_mode_known_bits, ask(), with_mode(1)), Broken);
    EXPECT_EQ(offer(getinfo_mode_known_bits, ask_node(nullptr, nullptr, FI_PROV_ATTR_ONLY), with_mode(1)),
              NotApplicable);
}

TEST(GetinfoMode, MessageModesComeWithMessages) {
    for (const auto rule : {getinfo_mode_buffered_recv_scope, getinfo_mode_prefix_scope}) {
        const std::uint64_t bit =
            rule == getinfo_mode_prefix_scope ? std::uint64_t{FI_MSG_PREFIX} : std::uint64_t{FI_BUFFERED_RECV};
        Info o = with_mode(bit);
        EXPECT_EQ(offer(rule, ask(), o), Holds);
        o.caps = FI_RMA;
        EXPECT_EQ(offer(rule, ask(), o), Broken);
        EXPECT_EQ(offer(rule, ask(), rdm()), NotApplicable);
    }
}

TEST(GetinfoMode, LocalMrIsIgnoredSince15) {
    const auto judged = [](Version v, std::uint64_t mr_mode) {
        Query without = ask(FI_MSG, v);
        without.hints->domain.mr_mode = mr_mode;
        Query with = without;
        with.hints->mode = FI_LOCAL_MR;
        return pair(getinfo_mode_local_mr_ignored, MetamorphicRelation::MoreModes, without, refused(), with,
                    granted(rdm()));
    };
    EXPECT_EQ(judged(Version(1, 17), 0), Broken);
    EXPECT_EQ(judged(Version(1, 17), FI_MR_BASIC), NotApplicable);
    EXPECT_EQ(judged(Version(1, 17), FI_MR_SCALABLE), NotApplicable);
    EXPECT_EQ(judged(Version(1, 4), 0), NotApplicable);
    EXPECT_EQ(pair(getinfo_mode_local_mr_ignored, MetamorphicRelation::MoreModes, ask(), granted(rdm()),
                   ask_mode(FI_LOCAL_MR), granted(rdm())),
              Holds);
    EXPECT_EQ(pair(getinfo_mode_local_mr_ignored, MetamorphicRelation::MoreModes, ask(), refused(),
                   ask_mode(FI_CONTEXT), granted(rdm())),
              NotApplicable);
}

TEST(GetinfoMode, LocalMrCountsBefore15) {
    const Info needs = with_mode(FI_LOCAL_MR);
    EXPECT_EQ(fit(getinfo_mode_local_mr_counts, ask(0, Version(1, 4)), needs), Choice::No);
    EXPECT_EQ(fit(getinfo_mode_local_mr_counts, ask_mode(FI_LOCAL_MR, Version(1, 4)), needs), Choice::Fits);
    EXPECT_EQ(fit(getinfo_mode_local_mr_counts, ask(), needs), Choice::NotAsked);
    EXPECT_EQ(fit(getinfo_mode_local_mr_counts, ask(0, Version(1, 4)), rdm()), Choice::NotAsked);
    Info local = rdm();
    local.domain.mr_mode = FI_MR_LOCAL;
    Query basic = ask();
    basic.hints->domain.mr_mode = FI_MR_BASIC;
    EXPECT_EQ(fit(getinfo_mode_local_mr_counts, basic, local), Choice::No);
}

TEST(GetinfoMode, PrefixModeHasAPrefix) {
    Info o = with_mode(FI_MSG_PREFIX);
    EXPECT_EQ(offer(getinfo_mode_prefix_nonzero_with, ask(), o), Broken);
    o.ep.msg_prefix_size = 16;
    EXPECT_EQ(offer(getinfo_mode_prefix_nonzero_with, ask(), o), Holds);
    EXPECT_EQ(offer(getinfo_mode_prefix_nonzero_with, ask(), rdm()), NotApplicable);
}

}  // namespace
}  // namespace selvage::model
