// The promises on capabilities that need others, case by case.
#include "model/test/getinfo_make.h"

namespace selvage::model {
namespace {

using namespace clause;
using namespace getinfo_test;
using enum Outcome;
using Kind = Demand::Kind;

Info with_caps(std::uint64_t caps) {
    Info o = rdm();
    o.caps = caps;
    return o;
}

TEST(GetinfoCapsNeeds, AnswersKeepThePairs) {
    EXPECT_EQ(offer(getinfo_caps_pairs_kept, query_for(), rdm()), Holds);
    EXPECT_EQ(offer(getinfo_caps_pairs_kept, query_for(), with_caps(FI_RMA | FI_RMA_EVENT)), Holds)
        << "no modifiers imply the remote ones";
    EXPECT_EQ(offer(getinfo_caps_pairs_kept, query_for(), with_caps(FI_RMA | FI_READ | FI_RMA_EVENT)), Broken);
    EXPECT_EQ(offer(getinfo_caps_pairs_kept, query_for(), with_caps(FI_MSG | FI_READ)), Broken);
    EXPECT_EQ(offer(getinfo_caps_pairs_kept, query_for(), with_caps(FI_MSG | FI_SOURCE_ERR)), Broken);
    EXPECT_EQ(offer(getinfo_caps_pairs_kept, query_for(), with_caps(FI_MULTICAST | FI_SEND)), Broken);
    EXPECT_EQ(offer(getinfo_caps_pairs_kept, query_for(0, Version(1, 6)), with_caps(FI_MULTICAST | FI_SEND)),
              NotApplicable);
    EXPECT_EQ(offer(getinfo_caps_pairs_kept, query_for(), with_caps(FI_MSG)), NotApplicable);
    const auto e = offer_evidence(getinfo_caps_pairs_kept, query_for(), with_caps(FI_MSG | FI_READ));
    EXPECT_EQ(e.relation, Relation::Within);
    EXPECT_EQ(e.expected, ~std::uint64_t{FI_READ});
}

TEST(GetinfoCapsNeeds, RefusesDirectionsWithoutRmaOrAtomic) {
    const std::pair<Demand (*)(const QueryCase&), std::uint64_t> kWords[] = {
        {getinfo_caps_read_needs_partner, FI_READ},
        {getinfo_caps_write_needs_partner, FI_WRITE},
        {getinfo_caps_remote_read_needs_partner, FI_REMOTE_READ},
        {getinfo_caps_remote_write_needs_partner, FI_REMOTE_WRITE},
    };
    for (const auto& [rule, word] : kWords) {
        const auto d = demand(rule, query_for(FI_MSG | FI_TAGGED | word));
        EXPECT_EQ(d.kind, Kind::MustRefuse) << word;
        EXPECT_EQ(d.errnos, (std::vector<int>{FI_EBADFLAGS, FI_ENODATA}));
        EXPECT_EQ(kind(rule, query_for(FI_RMA | word)), Kind::Nothing) << word;
        EXPECT_EQ(kind(rule, query_for(FI_ATOMIC | word)), Kind::Nothing) << word;
        EXPECT_EQ(kind(rule, query_for(FI_RMA)), Kind::NotRequested) << word;
        Query list = query_for(word);
        list.flags = FI_PROV_ATTR_ONLY;
        EXPECT_EQ(kind(rule, list), Kind::NotRequested) << word;
    }
}

TEST(GetinfoCapsNeeds, RmaEventNeedsATarget) {
    const auto rule = getinfo_caps_rma_event_needs_target;
    EXPECT_EQ(kind(rule, query_for(FI_MSG | FI_RMA_EVENT)), Kind::MustRefuse);
    EXPECT_EQ(kind(rule, query_for(FI_RMA | FI_READ | FI_RMA_EVENT)), Kind::MustRefuse);
    EXPECT_EQ(kind(rule, query_for(FI_RMA | FI_REMOTE_READ | FI_RMA_EVENT)), Kind::Nothing);
    EXPECT_EQ(kind(rule, query_for(FI_ATOMIC | FI_RMA_EVENT)), Kind::Nothing);
    EXPECT_EQ(kind(rule, query_for(FI_MSG)), Kind::NotRequested);
}

TEST(GetinfoCapsNeeds, RefusesWordsWithoutTheirPartner) {
    EXPECT_EQ(kind(getinfo_caps_rma_pmem_needs_rma, query_for(FI_MSG | FI_ATOMIC | FI_RMA_PMEM)), Kind::MustRefuse);
    EXPECT_EQ(kind(getinfo_caps_rma_pmem_needs_rma, query_for(FI_RMA | FI_RMA_PMEM)), Kind::Nothing);
    EXPECT_EQ(kind(getinfo_caps_rma_pmem_needs_rma, query_for(FI_RMA)), Kind::NotRequested);
    EXPECT_EQ(kind(getinfo_caps_source_err_needs_source, query_for(FI_MSG | FI_SOURCE_ERR)), Kind::MustRefuse);
    EXPECT_EQ(kind(getinfo_caps_source_err_needs_source, query_for(FI_SOURCE | FI_SOURCE_ERR)), Kind::Nothing);
    EXPECT_EQ(kind(getinfo_caps_source_err_needs_source, query_for(FI_SOURCE)), Kind::NotRequested);
    EXPECT_EQ(kind(getinfo_caps_variable_msg_needs_messages, query_for(FI_RMA | FI_VARIABLE_MSG)), Kind::MustRefuse);
    EXPECT_EQ(kind(getinfo_caps_variable_msg_needs_messages, query_for(FI_TAGGED | FI_VARIABLE_MSG)), Kind::Nothing);
    EXPECT_EQ(kind(getinfo_caps_variable_msg_needs_messages, query_for(FI_TAGGED)), Kind::NotRequested);
    EXPECT_EQ(kind(getinfo_caps_xpu_needs_trigger, query_for(FI_MSG | FI_XPU)), Kind::MustRefuse);
    EXPECT_EQ(kind(getinfo_caps_xpu_needs_trigger, query_for(FI_TRIGGER | FI_XPU)), Kind::Nothing);
    EXPECT_EQ(kind(getinfo_caps_xpu_needs_trigger, query_for(FI_TRIGGER)), Kind::NotRequested);
}

TEST(GetinfoCapsNeeds, MulticastNeedsMessagesNowAndATransferBefore) {
    EXPECT_EQ(kind(getinfo_caps_multicast_needs_msg, query_for(FI_MULTICAST | FI_SEND)), Kind::MustRefuse);
    EXPECT_EQ(kind(getinfo_caps_multicast_needs_msg, query_for(FI_MULTICAST | FI_MSG)), Kind::Nothing);
    EXPECT_EQ(kind(getinfo_caps_multicast_needs_msg, query_for(FI_MSG)), Kind::NotRequested);
    EXPECT_EQ(kind(getinfo_caps_multicast_needs_transfer, query_for(FI_MULTICAST | FI_SOURCE)), Kind::MustRefuse);
    EXPECT_EQ(kind(getinfo_caps_multicast_needs_transfer, query_for(FI_MULTICAST | FI_RECV)), Kind::Nothing);
    EXPECT_EQ(kind(getinfo_caps_multicast_needs_transfer, query_for(FI_MSG)), Kind::NotRequested);
}

}  // namespace
}  // namespace selvage::model
