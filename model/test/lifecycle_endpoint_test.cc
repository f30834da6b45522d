// Binding and enabling endpoints, and closing what they are bound to: each clause holds, is broken, and does not apply.
#include "model/test/lifecycle_util.h"

namespace selvage::model {
namespace {

using test::crashing;
using test::returning;
using test::Stage;

constexpr std::uint64_t kBoth = FI_TRANSMIT | FI_RECV;

// A fabric, a domain, and an endpoint on it.
class Endpoints : public testing::Test {
protected:
    explicit Endpoints(std::uint64_t type = FI_EP_RDM) {
        s.offer.ep.type = type;
        s.offer.caps = FI_MSG | FI_TAGGED | FI_SEND | FI_RECV;
        fabric = s.fabric();
        domain = s.domain(fabric);
        ep = on_domain(ObjectClass::Ep);
        cq = on_domain(ObjectClass::Cq);
    }
    // Of the entry as it is now, in place of the first.
    void another_endpoint() { ep = on_domain(ObjectClass::Ep); }
    int on_domain(ObjectClass kind) { return s.take(s.open(kind, domain)); }
    [[nodiscard]] Step bind(int what, std::uint64_t flags) const {
        Step step = s.bind(ep, what, flags);
        step.to_endpoint = true;
        return step;
    }
    void bound(int what, std::uint64_t flags) { s.take(bind(what, flags)); }
    [[nodiscard]] Step enable() const { return s.step(Verb::Enable, ep); }

    Stage s;
    int fabric = 0, domain = 0, ep = 0, cq = 0;
};

class ConnectedEndpoints : public Endpoints {
protected:
    ConnectedEndpoints() : Endpoints(FI_EP_MSG) {}
};

TEST_F(Endpoints, WhatFitsIsBound) {
    EXPECT_HOLDS(endpoint_bind_fits, bind(cq, kBoth));
    EXPECT_BROKEN(endpoint_bind_fits, returning(bind(cq, kBoth), -FI_EINVAL));
    EXPECT_BROKEN(endpoint_bind_fits, crashing(bind(cq, kBoth)));
    EXPECT_HOLDS(endpoint_bind_fits, bind(cq, FI_RECV | FI_SELECTIVE_COMPLETION));
    EXPECT_VACUOUS(endpoint_bind_fits, bind(cq, FI_SELECTIVE_COMPLETION)) << "which operations?";
    EXPECT_VACUOUS(endpoint_bind_fits, bind(cq, kBoth | FI_PEEK));
    EXPECT_HOLDS(endpoint_bind_fits, bind(on_domain(ObjectClass::Av), 0));
    EXPECT_HOLDS(endpoint_bind_fits, bind(on_domain(ObjectClass::Cntr), FI_SEND));
    EXPECT_VACUOUS(endpoint_bind_fits, bind(on_domain(ObjectClass::Cntr), FI_WRITE)) << "it writes nothing";
    EXPECT_VACUOUS(endpoint_bind_fits, bind(s.take(s.open(ObjectClass::Eq, fabric)), 0));
    const int elsewhere = s.take(s.open(ObjectClass::Cq, s.domain(fabric)));
    EXPECT_VACUOUS(endpoint_bind_fits, bind(elsewhere, kBoth)) << "of another domain";
}

TEST_F(Endpoints, SharedContextsHaveAMostOfEndpoints) {
    const int srx = on_domain(ObjectClass::Srx);
    s.offer.domain.max_ep_srx_ctx = 1;
    EXPECT_VACUOUS(domain_max_ep_srx_ctx_exceeded, bind(srx, 0));
    EXPECT_VACUOUS(domain_max_ep_srx_ctx_exceeded, bind(cq, FI_RECV));
    bound(srx, 0);
    another_endpoint();
    EXPECT_BROKEN(domain_max_ep_srx_ctx_exceeded, bind(srx, 0));
    EXPECT_HOLDS(domain_max_ep_srx_ctx_exceeded, returning(bind(srx, 0), -FI_EINVAL));
    s.offer.domain.max_ep_srx_ctx = 0;
    EXPECT_BROKEN(domain_max_ep_srx_ctx_exceeded, bind(on_domain(ObjectClass::Srx), 0)) << "none may share";
}

TEST_F(Endpoints, SharedContextKeepsItsDomainBusy) {
    EXPECT_VACUOUS(domain_close_busy_srx, s.close(domain));
    on_domain(ObjectClass::Srx);
    EXPECT_HOLDS(domain_close_busy_srx, s.close(domain, -FI_EBUSY));
    EXPECT_BROKEN(domain_close_busy_srx, s.close(domain));
}

TEST_F(Endpoints, ReceiveThatFindsNoRoomMayComeAgain) {
    s.offer.domain.resource_mgmt = FI_RM_ENABLED;
    Step receives = s.step(Verb::Receive, ep);
    receives.accepted = 16;
    EXPECT_HOLDS(domain_rm_receives_full_enabled, receives) << "there was room for all";
    EXPECT_HOLDS(domain_rm_receives_full_enabled, returning(receives, -FI_EAGAIN));
    EXPECT_BROKEN(domain_rm_receives_full_enabled, returning(receives, -FI_ENOMEM));
    EXPECT_BROKEN(domain_rm_receives_full_enabled, crashing(receives));
    s.offer.domain.mr_mode = FI_MR_LOCAL;
    EXPECT_VACUOUS(domain_rm_receives_full_enabled, returning(receives, -FI_EINVAL)) << "no buffer is registered";
    s.offer.domain.mr_mode = 0;
    s.offer.domain.resource_mgmt = FI_RM_DISABLED;
    EXPECT_VACUOUS(domain_rm_receives_full_enabled, returning(receives, -FI_ENOMEM));
    s.offer.domain.resource_mgmt = FI_RM_ENABLED;
    receives.accepted = 0;
    EXPECT_VACUOUS(domain_rm_receives_full_enabled, returning(receives, -FI_ENOSYS)) << "it may receive nothing";
}

TEST_F(Endpoints, WhatIsBoundForTheSameIsRefused) {
    EXPECT_VACUOUS(endpoint_bind_single, bind(cq, FI_RECV));
    bound(cq, FI_RECV);
    const int other = on_domain(ObjectClass::Cq);
    EXPECT_VACUOUS(endpoint_bind_fits, bind(other, kBoth));
    EXPECT_BROKEN(endpoint_bind_single, bind(other, kBoth));
    EXPECT_HOLDS(endpoint_bind_single, returning(bind(other, kBoth), -FI_EINVAL));
    EXPECT_VACUOUS(endpoint_bind_single, bind(cq, kBoth)) << "the same one";
    EXPECT_HOLDS(endpoint_bind_fits, bind(other, FI_TRANSMIT));
    bound(on_domain(ObjectClass::Av), 0);
    EXPECT_BROKEN(endpoint_bind_single, bind(on_domain(ObjectClass::Av), 0));
    bound(on_domain(ObjectClass::Cntr), FI_SEND);
    EXPECT_BROKEN(endpoint_bind_single, bind(on_domain(ObjectClass::Cntr), FI_SEND | FI_RECV));
    EXPECT_VACUOUS(endpoint_bind_single, bind(on_domain(ObjectClass::Cntr), FI_RECV));
}

TEST_F(Endpoints, ErrorsAreNegative) {
    EXPECT_VACUOUS(endpoint_bind_error_negative, bind(cq, 0));
    EXPECT_HOLDS(endpoint_bind_error_negative, returning(bind(cq, 0), -FI_EINVAL));
    EXPECT_BROKEN(endpoint_bind_error_negative, returning(bind(cq, 0), FI_EINVAL));
    EXPECT_BROKEN(endpoint_bind_error_negative, returning(enable(), FI_ENOCQ));
    EXPECT_BROKEN(endpoint_bind_error_negative, crashing(bind(cq, 0)));
    EXPECT_VACUOUS(endpoint_bind_error_negative, crashing(enable())) << "it lacks what the application has to bind";
    EXPECT_VACUOUS(endpoint_bind_error_negative, returning(s.bind(domain, cq, 0), FI_EINVAL));
}

TEST_F(Endpoints, WithQueueAndAddressesIsEnabled) {
    bound(cq, kBoth);
    EXPECT_VACUOUS(endpoint_enable_bound, enable());
    EXPECT_HOLDS(endpoint_enable_needs_addresses, returning(enable(), -FI_ENOAV));
    EXPECT_BROKEN(endpoint_enable_needs_addresses, enable());
    bound(on_domain(ObjectClass::Av), 0);
    EXPECT_HOLDS(endpoint_enable_bound, enable());
    EXPECT_BROKEN(endpoint_enable_bound, returning(enable(), -FI_ENOCQ));
    EXPECT_VACUOUS(endpoint_enable_needs_addresses, enable());
    EXPECT_VACUOUS(endpoint_enable_needs_queue, enable());
    s.take(enable());
    EXPECT_VACUOUS(endpoint_enable_bound, enable()) << "of enabling twice the page says nothing";
    EXPECT_VACUOUS(endpoint_bind_fits, bind(on_domain(ObjectClass::Cntr), FI_SEND));
}

TEST_F(Endpoints, WithASharedContextNeedsItBound) {
    for (const auto count : {&EpAttr::tx_ctx_cnt, &EpAttr::rx_ctx_cnt}) {
        s.offer.ep.*count = FI_SHARED_CONTEXT;
        another_endpoint();
        s.offer.ep.*count = 1;
        bound(cq, kBoth);
        bound(on_domain(ObjectClass::Av), 0);
        EXPECT_VACUOUS(endpoint_enable_bound, returning(enable(), -FI_EOPBADSTATE));
    }
}

TEST_F(Endpoints, WithoutQueueIsNotEnabled) {
    bound(on_domain(ObjectClass::Av), 0);
    EXPECT_BROKEN(endpoint_enable_needs_queue, enable());
    EXPECT_HOLDS(endpoint_enable_needs_queue, returning(enable(), -FI_ENOCQ));
    EXPECT_VACUOUS(endpoint_enable_bound, enable());
    bound(on_domain(ObjectClass::Cntr), FI_SEND | FI_RECV);
    EXPECT_VACUOUS(endpoint_enable_needs_queue, enable()) << "a counter tells, too";
}

TEST_F(ConnectedEndpoints, NeedAnEventQueueAndNoAddresses) {
    EXPECT_VACUOUS(endpoint_bind_fits, bind(on_domain(ObjectClass::Av), 0));
    EXPECT_VACUOUS(endpoint_enable_needs_addresses, enable());
    bound(cq, kBoth);
    EXPECT_VACUOUS(endpoint_enable_bound, enable());
    const int eq = s.take(s.open(ObjectClass::Eq, fabric));
    EXPECT_HOLDS(endpoint_bind_fits, bind(eq, 0));
    const int far = s.take(s.open(ObjectClass::Eq, s.fabric()));
    EXPECT_VACUOUS(endpoint_bind_fits, bind(far, 0)) << "of another fabric";
    bound(eq, 0);
    EXPECT_HOLDS(endpoint_enable_bound, enable());
}

// It is no matter of fi_getinfo that they do not.
TEST_F(Endpoints, ClosesBehindARefusedOneReturn) {
    bound(cq, kBoth);
    s.take(s.close(cq, -FI_EBUSY));
    for (const int object : {cq, ep}) {
        EXPECT_BROKEN(domain_close_child, crashing(s.close(object)));
        EXPECT_VACUOUS(domain_close_child, s.close(object, -FI_EBUSY));
        EXPECT_VACUOUS(domain_close_child, s.close(object));
    }
}

TEST_F(Endpoints, WhatIsBoundIsBusy) {
    const int av = on_domain(ObjectClass::Av);
    const int cntr = on_domain(ObjectClass::Cntr);
    EXPECT_VACUOUS(cq_close_busy, s.close(cq));
    EXPECT_HOLDS(cntr_close_releases, s.close(cntr));
    EXPECT_BROKEN(cntr_close_releases, s.close(cntr, -FI_EBUSY));
    bound(cq, kBoth);
    bound(av, 0);
    bound(cntr, FI_SEND);
    EXPECT_HOLDS(cq_close_busy, s.close(cq, -FI_EBUSY));
    EXPECT_BROKEN(cq_close_busy, s.close(cq));
    EXPECT_HOLDS(domain_av_close_busy, s.close(av, -FI_EBUSY));
    EXPECT_BROKEN(domain_av_close_busy, s.close(av));
    EXPECT_HOLDS(cntr_close_releases, s.close(cntr, -FI_EBUSY));
    EXPECT_BROKEN(cntr_close_releases, s.close(cntr));
    EXPECT_VACUOUS(domain_close_child, s.close(cq)) << "another clause speaks of what is bound";
    s.take(s.close(ep));
    EXPECT_VACUOUS(cq_close_busy, s.close(cq)) << "the endpoint is gone";
    EXPECT_HOLDS(domain_close_child, s.close(cq));
    EXPECT_HOLDS(cntr_close_releases, s.close(cntr));
}

}  // namespace
}  // namespace selvage::model
