// What offers require while duties are insisted on.
#include "impl/test/insist/insisting.h"

namespace selvage::test {
namespace {

struct Word {
    const char* name;
    uint64_t mode;
    int mr_mode;
};
constexpr Word kWords[] = {
    {"context", FI_CONTEXT, 0},
    {"context2", FI_CONTEXT2, 0},
    {"msg_prefix", FI_MSG_PREFIX, 0},
    {"async_iov", FI_ASYNC_IOV, 0},
    {"rx_cq_data", FI_RX_CQ_DATA, 0},
    {"buffered_recv", FI_BUFFERED_RECV, 0},
    {"notify_flags_only", FI_NOTIFY_FLAGS_ONLY, 0},
    {"restricted_comp", FI_RESTRICTED_COMP, 0},
    {"mr_local", 0, FI_MR_LOCAL},
    {"mr_raw", 0, FI_MR_RAW},
    {"mr_virt_addr", 0, FI_MR_VIRT_ADDR},
    {"mr_allocated", 0, FI_MR_ALLOCATED},
    {"mr_prov_key", 0, FI_MR_PROV_KEY},
    {"mr_mmu_notify", 0, FI_MR_MMU_NOTIFY},
    {"mr_rma_event", 0, FI_MR_RMA_EVENT},
    {"mr_endpoint", 0, FI_MR_ENDPOINT},
    {"mr_collective", 0, FI_MR_COLLECTIVE},
};

Answer ask(uint64_t mode, int mr_mode, uint32_t version = kVersion) {
    const InfoPtr hints = make_hints("shm");
    hints->caps = FI_MSG;
    hints->mode = mode;
    hints->domain_attr->mr_mode = mr_mode;
    return getinfo(hints, nullptr, nullptr, 0, version);
}

TEST(InsistingOffers, AreShownWithTheirDutiesAlone) {
    for (const Word& word : kWords) {
        insisting(word.name, [&] {
            const Answer accepted = ask(kAllModes, kAllRegistration);
            ASSERT_EQ(accepted.result, 0) << word.name;
            EXPECT_EQ(accepted->mode, word.mode) << word.name;
            EXPECT_EQ(accepted->domain_attr->mr_mode, word.mr_mode) << word.name;
        });
    }
}

TEST(InsistingOffers, AreRefusedToWhoLacksTheBitAndTheLogNamesIt) {
    for (const Word& word : kWords) {
        const std::string log = insisting(word.name, [&] {
            EXPECT_EQ(ask(kAllModes & ~word.mode, kAllRegistration & ~word.mr_mode).result, -FI_ENODATA) << word.name;
        });
        expect_line(log, word.mode ? "the hints' mode lacks FI_" : "the hints' domain_attr.mr_mode lacks FI_MR_");
        expect_line(log, "which is insisted on");
    }
}

TEST(InsistingOffers, AreShownToWhoHasNoHints) {
    insisting("context,mr_local", [] {
        const Answer all = getinfo(nullptr);
        ASSERT_EQ(all.result, 0);
        EXPECT_EQ(all->mode, FI_CONTEXT);
        EXPECT_EQ(all->domain_attr->mr_mode, FI_MR_LOCAL);
    });
}

TEST(InsistingOffers, TakeTheOlderWordsForTheirBits) {
    insisting("mr_local,mr_prov_key", [] {
        EXPECT_EQ(ask(0, FI_MR_BASIC).result, -FI_ENODATA);
        EXPECT_EQ(ask(FI_LOCAL_MR, FI_MR_SCALABLE).result, -FI_ENODATA);
        const Answer basic = ask(FI_LOCAL_MR, FI_MR_BASIC);
        ASSERT_EQ(basic.result, 0);
        EXPECT_EQ(basic->domain_attr->mr_mode, FI_MR_BASIC);
        EXPECT_EQ(basic->mode, FI_LOCAL_MR);
        const Answer older = ask(FI_LOCAL_MR, FI_MR_UNSPEC, FI_VERSION(1, 4));
        ASSERT_EQ(older.result, 0);
        EXPECT_EQ(older->domain_attr->mr_mode, FI_MR_BASIC);
    });
}

TEST(InsistingOffers, HaveSmallLimits) {
    insisting("small", [] {
        const Answer small = ask(0, 0);
        ASSERT_EQ(small.result, 0);
        EXPECT_EQ(small->tx_attr->inject_size, 0u);
        EXPECT_EQ(small->tx_attr->iov_limit, 1u);
        EXPECT_EQ(small->rx_attr->iov_limit, 1u);
        EXPECT_EQ(small->tx_attr->size, 1u);
        EXPECT_EQ(small->rx_attr->size, 1u);
    });
}

TEST(InsistingOffers, WithAPrefixHaveNoBuffersOfManyMessages) {
    insisting("msg_prefix", [] {
        const Answer offer = ask(kAllModes, 0);
        ASSERT_EQ(offer.result, 0);
        EXPECT_FALSE(offer->caps & FI_MULTI_RECV);
        EXPECT_FALSE(offer->rx_attr->caps & FI_MULTI_RECV);
        EXPECT_EQ(offer->ep_attr->msg_prefix_size, 24u);
    });
}

TEST(InsistingOffers, NameWhatIsNoDuty) {
    const std::string log = insisting("context,politeness", [] { EXPECT_EQ(ask(0, 0).result, -FI_ENODATA); });
    expect_line(log, "FI_SELVAGE_INSIST: politeness is no duty; known are all, context, context2, msg_prefix");
}

}  // namespace
}  // namespace selvage::test
