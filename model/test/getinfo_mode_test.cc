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
    EXPECT_EQ(offer(getinfo_mode_within_hints, query_mode(FI_CONTEXT | FI_ASYNC_IOV), with_mode(FI_CONTEXT)), Holds);
    EXPECT_EQ(offer(getinfo_mode_within_hints, query_for(), with_mode(FI_CONTEXT)), Broken);
    EXPECT_EQ(offer(getinfo_mode_within_hints, nothing(), with_mode(FI_CONTEXT)), NotApplicable);
}

TEST(GetinfoMode, OffersThatNeedADutyDoNotFitWithoutIt) {
    EXPECT_EQ(fit(getinfo_mode_zero_means_none, query_for(), with_mode(FI_MSG_PREFIX)), Choice::No);
    EXPECT_EQ(fit(getinfo_mode_zero_means_none, query_mode(FI_CONTEXT), with_mode(FI_MSG_PREFIX)), Choice::No);
    EXPECT_EQ(fit(getinfo_mode_zero_means_none, query_for(), with_mode(FI_MSG_PREFIX), Origin::Inferred), Choice::May);
    EXPECT_EQ(fit(getinfo_mode_zero_means_none, query_mode(FI_MSG_PREFIX), with_mode(FI_MSG_PREFIX)), Choice::Fits);
    EXPECT_EQ(fit(getinfo_mode_zero_means_none, query_for(), rdm()), Choice::NotRequested);
    EXPECT_EQ(fit(getinfo_mode_zero_means_none, nothing(), with_mode(FI_MSG_PREFIX)), Choice::NotRequested)
        << "NULL hints take all";
    Entry liked = entry_of(with_mode(FI_CONTEXT));
    liked.needed_mode = 0;
    EXPECT_EQ(fit(getinfo_mode_zero_means_none, query_for(), liked, Origin::Inferred), Choice::NotRequested)
        << "liked, not needed";
}

TEST(GetinfoMode, MoreDutiesExcludeNothing) {
    EXPECT_EQ(fit(getinfo_mode_extra_bits_fit, query_mode(FI_CONTEXT), rdm()), Choice::Fits);
    EXPECT_EQ(fit(getinfo_mode_extra_bits_fit, query_mode(FI_CONTEXT), with_mode(FI_CONTEXT)), Choice::NotRequested);
    EXPECT_EQ(fit(getinfo_mode_extra_bits_fit, query_mode(1), rdm()), Choice::May) << "a bit that is no mode";
    const auto judged = [](MetamorphicRelation k, const Answer& a, const Answer& b) {
        return pair(getinfo_mode_more_never_hurts, k, query_for(), a, query_mode(FI_CONTEXT), b);
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
                    query_mode(~0ULL), granted(hinted));
    };
    EXPECT_EQ(judged(with_mode(FI_CONTEXT), with_mode(FI_CONTEXT)), Holds);
    EXPECT_EQ(judged(rdm(), with_mode(FI_CONTEXT)), Broken);
    EXPECT_EQ(judged(msg(), with_mode(FI_CONTEXT)), NotApplicable) << "another endpoint";
    EXPECT_EQ(pair(getinfo_mode_null_hints_supported, MetamorphicRelation::Repeated, query_for(), granted(rdm()),
                   query_for(), granted(rdm())),
              NotApplicable);
}

TEST(GetinfoMode, AnswersWithKnownBitsOnly) {
    EXPECT_EQ(offer(getinfo_mode_known_bits, query_for(), with_mode(FI_CONTEXT | FI_BUFFERED_RECV)), Holds);
    EXPECT_EQ(offer(getinfo_mode_known_bits, query_for(), with_mode(1)), Broken);
    EXPECT_EQ(offer(getinfo_mode_known_bits, query_node(nullptr, nullptr, FI_PROV_ATTR_ONLY), with_mode(1)),
              NotApplicable);
}

TEST(GetinfoMode, MessageModesComeWithMessages) {
    for (const auto rule : {getinfo_mode_buffered_recv_scope, getinfo_mode_prefix_scope}) {
        const std::uint64_t bit =
            rule == getinfo_mode_prefix_scope ? std::uint64_t{FI_MSG_PREFIX} : std::uint64_t{FI_BUFFERED_RECV};
        Info o = with_mode(bit);
        EXPECT_EQ(offer(rule, query_for(), o), Holds);
        o.caps = FI_RMA;
        EXPECT_EQ(offer(rule, query_for(), o), Broken);
        EXPECT_EQ(offer(rule, query_for(), rdm()), NotApplicable);
    }
}

TEST(GetinfoMode, LocalMrIsIgnoredSince15) {
    const auto judged = [](Version v, std::uint64_t mr_mode) {
        Query without = query_for(FI_MSG, v);
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
    EXPECT_EQ(pair(getinfo_mode_local_mr_ignored, MetamorphicRelation::MoreModes, query_for(), granted(rdm()),
                   query_mode(FI_LOCAL_MR), granted(rdm())),
              Holds);
    EXPECT_EQ(pair(getinfo_mode_local_mr_ignored, MetamorphicRelation::MoreModes, query_for(), refused(),
                   query_mode(FI_CONTEXT), granted(rdm())),
              NotApplicable);
}

TEST(GetinfoMode, LocalMrCountsBefore15) {
    const Info needs = with_mode(FI_LOCAL_MR);
    EXPECT_EQ(fit(getinfo_mode_local_mr_counts, query_for(0, Version(1, 4)), needs), Choice::No);
    EXPECT_EQ(fit(getinfo_mode_local_mr_counts, query_mode(FI_LOCAL_MR, Version(1, 4)), needs), Choice::Fits);
    EXPECT_EQ(fit(getinfo_mode_local_mr_counts, query_for(), needs), Choice::NotRequested);
    EXPECT_EQ(fit(getinfo_mode_local_mr_counts, query_for(0, Version(1, 4)), rdm()), Choice::NotRequested);
    Info local = rdm();
    local.domain.mr_mode = FI_MR_LOCAL;
    Query basic = query_for();
    basic.hints->domain.mr_mode = FI_MR_BASIC;
    EXPECT_EQ(fit(getinfo_mode_local_mr_counts, basic, local), Choice::No);
}

TEST(GetinfoMode, PrefixModeHasAPrefix) {
    Info o = with_mode(FI_MSG_PREFIX);
    EXPECT_EQ(offer(getinfo_mode_prefix_nonzero_with, query_for(), o), Broken);
    o.ep.msg_prefix_size = 16;
    EXPECT_EQ(offer(getinfo_mode_prefix_nonzero_with, query_for(), o), Holds);
    EXPECT_EQ(offer(getinfo_mode_prefix_nonzero_with, query_for(), rdm()), NotApplicable);
}

}  // namespace
}  // namespace selvage::model
