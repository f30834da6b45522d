// The registration mode bits one by one, and the size of keys, case by case from the text.
#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_errno.h>

#include <array>

#include "model/test/make_fields.h"

namespace selvage::model {
namespace {

using namespace fields_test;

struct Bit {
    std::uint64_t bit;
    Fit (*fits)(const MatchCase&);
    bool of_basic;
};

constexpr auto kBits = std::to_array<Bit>({
    {FI_MR_ALLOCATED, clause::domain_mr_bit_allocated, true},
    {FI_MR_COLLECTIVE, clause::domain_mr_bit_collective, false},
    {FI_MR_ENDPOINT, clause::domain_mr_bit_endpoint, false},
    {FI_MR_LOCAL, clause::domain_mr_bit_local, false},
    {FI_MR_MMU_NOTIFY, clause::domain_mr_bit_mmu_notify, false},
    {FI_MR_PROV_KEY, clause::domain_mr_bit_prov_key, true},
    {FI_MR_RAW, clause::domain_mr_bit_raw, false},
    {FI_MR_RMA_EVENT, clause::domain_mr_bit_rma_event, false},
    {FI_MR_VIRT_ADDR, clause::domain_mr_bit_virt_addr, true},
});

constexpr std::uint64_t kOther = FI_MR_HMEM;

Query requesting(std::uint64_t mr_mode, std::uint64_t mode = 0) {
    return query_for({{Field::domain_mr_mode, mr_mode}, {Field::mode, mode}});
}
Entry shows(std::uint64_t bits, std::uint64_t needed) {
    Entry e = entry(info({{Field::domain_mr_mode, bits}}));
    e.needed_mr_mode = needed;
    return e;
}

TEST(DomainMrBits, NeededBitFitsOnlyHintsThatCarryIt) {
    for (const auto& b : kBits) {
        SCOPED_TRACE(b.bit);
        const auto needs = shows(b.bit, b.bit);
        EXPECT_EQ(fit(b.fits, requesting(kOther), needs, Origin::Declared), Choice::No);
        EXPECT_EQ(fit(b.fits, requesting(0), needs, Origin::Declared), Choice::No);
        EXPECT_EQ(fit(b.fits, requesting(FI_MR_SCALABLE), needs, Origin::Declared), Choice::No);
        EXPECT_EQ(fit(b.fits, requesting(b.bit), needs, Origin::Declared), Choice::NotRequested)
            << "covered: bits-cover speaks of it";
        EXPECT_EQ(fit(b.fits, requesting(FI_MR_BASIC), needs, Origin::Declared),
                  b.of_basic ? Choice::NotRequested : Choice::No);
    }
}

TEST(DomainMrBits, BitThatIsNotNeededIsNotAsked) {
    for (const auto& b : kBits) {
        SCOPED_TRACE(b.bit);
        EXPECT_EQ(fit(b.fits, requesting(0), shows(kOther, kOther), Origin::Declared), Choice::NotRequested);
        EXPECT_EQ(fit(b.fits, requesting(0), shows(b.bit, 0), Origin::Declared), Choice::NotRequested);
        EXPECT_EQ(fit(b.fits, call(), shows(b.bit, b.bit), Origin::Declared), Choice::NotRequested) << "NULL hints";
    }
}

TEST(DomainMrBits, OfSeenOffersOneBitAloneIsKnownToBeNeeded) {
    for (const auto& b : kBits) {
        SCOPED_TRACE(b.bit);
        EXPECT_EQ(fit(b.fits, requesting(0), shows(b.bit, b.bit), Origin::Inferred), Choice::No);
        EXPECT_EQ(fit(b.fits, requesting(0), shows(b.bit | kOther, b.bit | kOther), Origin::Inferred), Choice::May);
        EXPECT_EQ(fit(b.fits, requesting(0), shows(b.bit, 0), Origin::Inferred), Choice::May);
    }
}

TEST(DomainMrBits, OldBasicNeedsItsThreeBits) {
    EXPECT_EQ(fit(clause::domain_mr_bit_virt_addr, requesting(0), shows(FI_MR_BASIC, FI_MR_BASIC), Origin::Declared),
              Choice::No);
    EXPECT_EQ(fit(clause::domain_mr_bit_local, requesting(0), shows(FI_MR_BASIC, FI_MR_BASIC), Origin::Declared),
              Choice::NotRequested);
}

TEST(DomainMrBits, LocalMrCountsBesideOldWordsOnly) {
    const auto p = clause::domain_mr_bit_local;
    const auto needs = shows(FI_MR_LOCAL, FI_MR_LOCAL);
    EXPECT_EQ(fit(p, requesting(FI_MR_BASIC, FI_LOCAL_MR), needs, Origin::Declared), Choice::NotRequested);
    EXPECT_EQ(fit(p, requesting(FI_MR_SCALABLE, FI_LOCAL_MR), needs, Origin::Declared), Choice::NotRequested);
    EXPECT_EQ(fit(p, requesting(FI_MR_VIRT_ADDR, FI_LOCAL_MR), needs, Origin::Declared), Choice::No);
    EXPECT_EQ(fit(p, requesting(0, FI_LOCAL_MR), needs, Origin::Declared), Choice::No);
}

TEST(DomainMrBits, LongKeysOfAnEntryAreRaw) {
    const auto p = clause::domain_mr_key_size_raw;
    EXPECT_EQ(
        rule(p, call(), info({{Field::domain_mr_key_size, 16}, {Field::domain_mr_mode, FI_MR_RAW | FI_MR_LOCAL}})),
        kHolds);
    EXPECT_EQ(rule(p, call(), info({{Field::domain_mr_key_size, 9}, {Field::domain_mr_mode, FI_MR_LOCAL}})), kBroken);
    EXPECT_EQ(rule(p, call(), info({{Field::domain_mr_key_size, 8}})), kSkips);
    EXPECT_EQ(rule(p, flagged(call(), FI_PROV_ATTR_ONLY), info({{Field::domain_mr_key_size, 9}})), kSkips);
}

TEST(DomainMrBits, LongKeysInHintsNeedRaw) {
    const auto p = clause::domain_mr_key_size_raw_hints;
    const auto refused = demand(p, query_for({{Field::domain_mr_key_size, 9}, {Field::domain_mr_mode, FI_MR_LOCAL}}));
    EXPECT_EQ(refused.kind, Demand::Kind::MustRefuse);
    EXPECT_EQ(refused.errnos, std::vector<int>{FI_ENODATA});
    EXPECT_EQ(demand(p, query_for({{Field::domain_mr_key_size, 9}, {Field::domain_mr_mode, FI_MR_RAW}})).kind,
              Demand::Kind::Nothing);
    EXPECT_EQ(demand(p, query_for({{Field::domain_mr_key_size, 8}})).kind, Demand::Kind::NotRequested);
    EXPECT_EQ(demand(p, call()).kind, Demand::Kind::NotRequested);
}

}  // namespace
}  // namespace selvage::model
