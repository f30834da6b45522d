// The threading models, case by case from the text.
#include <rdma/fabric.h>
#include <rdma/fi_errno.h>

#include <csignal>

#include "model/test/make_fields.h"
#include "model/text/profile_text.h"

namespace selvage::model {
namespace {

using namespace fields_test;

Info threads(std::uint64_t model) { return info({{Field::domain_threading, model}}); }
Query requesting(std::uint64_t model) { return query_for(threads(model)); }

TEST(DomainThreading, UnknownModelIsRefused) {
    const auto p = clause::domain_threading_known;
    const auto refused = demand(p, requesting(99));
    EXPECT_EQ(refused.kind, Demand::Kind::MustRefuse);
    EXPECT_EQ(refused.errnos, std::vector<int>{FI_ENODATA});
    EXPECT_EQ(demand(p, requesting(FI_THREAD_ENDPOINT)).kind, Demand::Kind::Nothing);
    EXPECT_EQ(demand(p, requesting(FI_THREAD_UNSPEC)).kind, Demand::Kind::NotRequested);
}

TEST(DomainThreading, AskedForProvidersOnlyAnUnknownModelMayBeOverlooked) {
    Query names = requesting(99);
    names.flags = FI_PROV_ATTR_ONLY;
    EXPECT_EQ(demand(clause::domain_threading_known, names).kind, Demand::Kind::MayRefuse);
}

TEST(DomainThreading, SafeFitsEveryOffer) {
    const auto p = clause::domain_threading_safe_supported;
    EXPECT_EQ(fit(p, requesting(FI_THREAD_SAFE), entry(threads(FI_THREAD_DOMAIN)), Origin::Declared), Choice::Fits);
    EXPECT_EQ(fit(p, requesting(FI_THREAD_FID), entry(threads(FI_THREAD_SAFE)), Origin::Declared),
              Choice::NotRequested);
    EXPECT_EQ(fit(p, call(), entry(threads(FI_THREAD_SAFE)), Origin::Declared), Choice::NotRequested);
}

TEST(DomainThreading, FitsWhatDemandsNoMore) {
    const auto p = clause::domain_threading_fits;
    const auto seen = [&](std::uint64_t expected, std::uint64_t offered) {
        return fit(p, requesting(expected), entry(threads(offered)), Origin::Inferred);
    };
    EXPECT_EQ(seen(FI_THREAD_DOMAIN, FI_THREAD_SAFE), Choice::Fits);
    EXPECT_EQ(seen(FI_THREAD_DOMAIN, FI_THREAD_COMPLETION), Choice::Fits);
    EXPECT_EQ(seen(FI_THREAD_ENDPOINT, FI_THREAD_FID), Choice::Fits);
    EXPECT_EQ(seen(FI_THREAD_ENDPOINT, FI_THREAD_ENDPOINT), Choice::Fits);
    EXPECT_EQ(seen(FI_THREAD_ENDPOINT, FI_THREAD_COMPLETION), Choice::May);
    EXPECT_EQ(seen(FI_THREAD_COMPLETION, FI_THREAD_ENDPOINT), Choice::May);
    EXPECT_EQ(seen(FI_THREAD_FID, FI_THREAD_DOMAIN), Choice::May);
    EXPECT_EQ(seen(FI_THREAD_SAFE, FI_THREAD_DOMAIN), Choice::NotRequested);
    EXPECT_EQ(seen(FI_THREAD_UNSPEC, FI_THREAD_DOMAIN), Choice::NotRequested);
}

TEST(DomainThreading, DeclaredModelsAreAllThereAre) {
    const auto p = clause::domain_threading_fits;
    auto e = entry(threads(FI_THREAD_DOMAIN));
    EXPECT_EQ(fit(p, requesting(FI_THREAD_FID), e, Origin::Declared), Choice::No);
    e.most.domain.threading = choice_bit(Family::threading, FI_THREAD_FID);
    EXPECT_EQ(fit(p, requesting(FI_THREAD_FID), e, Origin::Declared), Choice::Fits);
}

TEST(DomainThreading, EntryDemandsNoMoreThanTheHints) {
    const auto p = clause::domain_threading_granted;
    EXPECT_EQ(rule(p, requesting(FI_THREAD_SAFE), threads(FI_THREAD_SAFE)), kHolds);
    EXPECT_EQ(rule(p, requesting(FI_THREAD_SAFE), threads(FI_THREAD_FID)), kBroken);
    EXPECT_EQ(rule(p, requesting(FI_THREAD_FID), threads(FI_THREAD_SAFE)), kHolds);
    EXPECT_EQ(rule(p, requesting(FI_THREAD_FID), threads(FI_THREAD_ENDPOINT)), kBroken);
    EXPECT_EQ(rule(p, requesting(FI_THREAD_FID), threads(FI_THREAD_DOMAIN)), kBroken);
    EXPECT_EQ(rule(p, requesting(FI_THREAD_ENDPOINT), threads(FI_THREAD_FID)), kHolds);
    EXPECT_EQ(rule(p, requesting(FI_THREAD_ENDPOINT), threads(FI_THREAD_DOMAIN)), kBroken);
    EXPECT_EQ(rule(p, requesting(FI_THREAD_COMPLETION), threads(FI_THREAD_ENDPOINT)), kHolds);
    EXPECT_EQ(rule(p, requesting(FI_THREAD_COMPLETION), threads(FI_THREAD_DOMAIN)), kBroken);
    EXPECT_EQ(rule(p, requesting(FI_THREAD_DOMAIN), threads(FI_THREAD_COMPLETION)), kHolds);
    EXPECT_EQ(rule(p, query_for({}), threads(FI_THREAD_DOMAIN)), kSkips);
    EXPECT_EQ(rule(p, flagged(requesting(FI_THREAD_SAFE), FI_PROV_ATTR_ONLY), threads(0)), kSkips);
}

TEST(DomainThreading, EndpointIsNotAnsweredWithCompletion) {
    const auto p = clause::domain_threading_endpoint_or_completion;
    EXPECT_EQ(rule(p, requesting(FI_THREAD_ENDPOINT), threads(FI_THREAD_COMPLETION)), kBroken);
    EXPECT_EQ(rule(p, requesting(FI_THREAD_ENDPOINT), threads(FI_THREAD_SAFE)), kHolds);
    EXPECT_EQ(rule(p, requesting(FI_THREAD_COMPLETION), threads(FI_THREAD_ENDPOINT)), kSkips);
}

TEST(DomainThreading, EntryReportsADefinedModel) {
    const auto p = clause::domain_threading_unspec_defined;
    EXPECT_EQ(rule(p, call(), threads(FI_THREAD_ENDPOINT)), kHolds);
    EXPECT_EQ(rule(p, call(), threads(FI_THREAD_UNSPEC)), kBroken);
    EXPECT_EQ(rule(p, call(), threads(6)), kBroken);
    EXPECT_EQ(rule(p, flagged(call(), FI_PROV_ATTR_ONLY), threads(0)), kSkips);
}

TEST(DomainThreading, ControlCallsStandManyThreads) {
    const auto p = clause::domain_threading_control_safe;
    const auto alone = answer({endpoint(1)});
    SideEffects c;
    c.act = SideEffects::Act::GetInfoThreads;
    c.answer = &alone;
    EXPECT_EQ(p(c).outcome(), kHolds);
    c.ret = -FI_ENODATA;
    EXPECT_EQ(p(c).outcome(), kBroken) << "one thread alone is given a list";
    c.ret = 0;
    c.crashed_signal = SIGSEGV;
    EXPECT_EQ(p(c).outcome(), kBroken);
    c.crashed_signal = 0;
    c.hung = true;
    EXPECT_EQ(p(c).outcome(), kBroken);
    c.act = SideEffects::Act::GetInfo;
    EXPECT_EQ(p(c).outcome(), kSkips);
}

}  // namespace
}  // namespace selvage::model
