// Binding, operations, memory and address vectors, and the instances that answers refer to.
#include "model/test/lifecycle_util.h"

namespace selvage::model {
namespace {

using test::returning;
using test::Stage;

TEST(LifeBind, EventQueueIsTaken) {
    Stage s;
    const int fabric = s.fabric();
    const int eq = s.take(s.open(ObjectClass::Eq, fabric));
    const int domain = s.domain(fabric);
    EXPECT_HOLDS(domain_bind_eq, s.bind(domain, eq));
    EXPECT_BROKEN(domain_bind_eq, returning(s.bind(domain, eq), -FI_ENOSYS));
    EXPECT_VACUOUS(domain_bind_eq, s.bind(domain, eq, FI_REG_MR));
    EXPECT_VACUOUS(domain_bind_not_an_eq, s.bind(domain, eq));
    EXPECT_BROKEN(domain_bind_not_an_eq, s.bind(domain, fabric));
    EXPECT_HOLDS(domain_bind_not_an_eq, returning(s.bind(domain, fabric), -FI_EINVAL));
    EXPECT_VACUOUS(domain_bind_close_order, s.close(eq));
    s.take(s.bind(domain, eq));
    EXPECT_TRUE(s.life.is_bound(eq));
    EXPECT_VACUOUS(domain_bind_close_order, s.close(eq, -FI_EBUSY));
    EXPECT_VACUOUS(fabric_close_item, s.close(eq, -FI_EBUSY));
    s.take(s.close(domain));
    EXPECT_HOLDS(domain_bind_close_order, s.close(eq));
    EXPECT_BROKEN(domain_bind_close_order, s.close(eq, -FI_EBUSY));
}

TEST(LifeOps, NamesAreKnownOrRefused) {
    Stage s;
    const int domain = s.domain(s.fabric());
    Step open_ops = s.step(Verb::OpenOps, domain);
    open_ops.name = "no-such-name";
    EXPECT_BROKEN(domain_open_ops_unknown, open_ops);
    EXPECT_HOLDS(domain_open_ops_unknown, returning(open_ops, -FI_ENOSYS));
    Step set_ops = s.step(Verb::SetOps, domain);
    EXPECT_VACUOUS(domain_open_ops_unknown, set_ops);
    set_ops.name = "no-such-name";
    EXPECT_HOLDS(domain_set_ops_unknown, returning(set_ops, -FI_ENOSYS));
    EXPECT_BROKEN(domain_set_ops_unknown, returning(set_ops, -FI_EINVAL));
    EXPECT_BROKEN(domain_set_ops_unknown, set_ops);
    EXPECT_VACUOUS(domain_set_ops_hmem_override, set_ops);
    set_ops.name = FI_SET_OPS_HMEM_OVERRIDE;
    EXPECT_VACUOUS(domain_set_ops_unknown, set_ops);
    EXPECT_HOLDS(domain_set_ops_hmem_override, set_ops);
    EXPECT_HOLDS(domain_set_ops_hmem_override, returning(set_ops, -FI_ENOSYS));
    EXPECT_BROKEN(domain_set_ops_hmem_override, returning(set_ops, -FI_EINVAL));
    EXPECT_VACUOUS(domain_set_ops_hmem_null, set_ops);
    set_ops.override_ops = Override::NullCallbacks;
    EXPECT_BROKEN(domain_set_ops_hmem_null, set_ops);
    EXPECT_HOLDS(domain_set_ops_hmem_null, returning(set_ops, -FI_EINVAL));
    EXPECT_VACUOUS(domain_set_ops_hmem_null, returning(set_ops, -FI_ENOSYS));
    EXPECT_VACUOUS(domain_set_ops_hmem_size, set_ops);
    set_ops.override_ops = Override::TooSmall;
    EXPECT_BROKEN(domain_set_ops_hmem_size, set_ops);
    EXPECT_HOLDS(domain_set_ops_hmem_size, returning(set_ops, -FI_EINVAL));
}

Step region(const Stage& s, int domain, std::uint64_t requested, std::uint64_t key) {
    Step r = s.open(ObjectClass::Mr, domain);
    r.requested_key = requested;
    r.key = key;
    return r;
}

TEST(LifeMemory, ProviderPicksKeys) {
    Stage s;
    s.offer.domain.mr_mode = FI_MR_PROV_KEY;
    const int domain = s.domain(s.fabric());
    EXPECT_HOLDS(domain_mr_provider_key, region(s, domain, 7, 7000));
    EXPECT_VACUOUS(domain_mr_application_key, region(s, domain, 7, 7000));
    s.take(region(s, domain, 7, 7000));
    EXPECT_HOLDS(domain_mr_provider_key, region(s, domain, 7, 7001));
    EXPECT_BROKEN(domain_mr_provider_key, region(s, domain, 8, 7000));
    EXPECT_BROKEN(domain_mr_provider_key, returning(region(s, domain, 7, 0), -FI_ENOKEY));
    EXPECT_VACUOUS(domain_mr_provider_key, returning(region(s, domain, 8, 0), -FI_ENOKEY));
}

TEST(LifeMemory, ApplicationPicksKeys) {
    Stage s;
    const int domain = s.domain(s.fabric());
    EXPECT_HOLDS(domain_mr_application_key, region(s, domain, 7, 7));
    EXPECT_BROKEN(domain_mr_application_key, region(s, domain, 7, 8));
    EXPECT_VACUOUS(domain_mr_provider_key, region(s, domain, 7, 8));
    s.offer.domain.mr_key_size = 1;
    EXPECT_VACUOUS(domain_mr_application_key, region(s, domain, 0x100, 0));
    Step old = region(s, domain, 7, 8);
    old.version = Version(1, 4);
    EXPECT_VACUOUS(domain_mr_application_key, old);
    s.offer.domain.mr_mode = FI_MR_RAW;
    EXPECT_VACUOUS(domain_mr_application_key, region(s, domain, 7, 8));
}

TEST(LifeMemory, RegistrationIsDoneOrTold) {
    Stage s;
    const int fabric = s.fabric();
    const int eq = s.take(s.open(ObjectClass::Eq, fabric));
    const int domain = s.domain(fabric);
    EXPECT_HOLDS(domain_bind_mr_sync, region(s, domain, 7, 7));
    EXPECT_BROKEN(domain_bind_mr_sync, region(s, domain, 7, FI_KEY_NOTAVAIL));
    EXPECT_VACUOUS(domain_bind_mr_sync, region(s, domain, FI_KEY_NOTAVAIL, FI_KEY_NOTAVAIL));
    EXPECT_VACUOUS(domain_bind_mr_async, region(s, domain, 7, 7));
    s.take(s.bind(domain, eq, FI_REG_MR));
    Step r = region(s, domain, 7, FI_KEY_NOTAVAIL);
    EXPECT_VACUOUS(domain_bind_mr_sync, r);
    EXPECT_BROKEN(domain_bind_mr_async, r);
    r.completed = true;
    EXPECT_HOLDS(domain_bind_mr_async, r);
}

TEST(LifeMemory, VectorsOfARegistrationHaveALimit) {
    Stage s;
    s.offer.domain.mr_iov_limit = 4;
    const int domain = s.domain(s.fabric());
    Step r = region(s, domain, 7, 7);
    r.vectors = 4;
    EXPECT_VACUOUS(domain_mr_iov_limit_reached, returning(r, -FI_EINVAL)) << "no plain one has worked";
    s.take(s.close(s.take(region(s, domain, 7, 7))));
    r = region(s, domain, 7, 7);
    r.vectors = 4;
    EXPECT_HOLDS(domain_mr_iov_limit_reached, r);
    EXPECT_BROKEN(domain_mr_iov_limit_reached, returning(r, -FI_EINVAL));
    EXPECT_VACUOUS(domain_mr_iov_limit_exceeded, r);
    r.vectors = 5;
    EXPECT_VACUOUS(domain_mr_iov_limit_reached, r);
    EXPECT_BROKEN(domain_mr_iov_limit_exceeded, r);
    EXPECT_HOLDS(domain_mr_iov_limit_exceeded, returning(r, -FI_EINVAL));
    s.offer.domain.mr_iov_limit = 0;
    EXPECT_VACUOUS(domain_mr_iov_limit_exceeded, r) << "the entry says nothing";
}

TEST(LifeMemory, ReportedAddressVectorsOpen) {
    Stage s;
    s.offer.domain.av_type = FI_AV_TABLE;
    const int domain = s.domain(s.fabric());
    Step av = s.open(ObjectClass::Av, domain);
    av.av_type = FI_AV_TABLE;
    EXPECT_HOLDS(domain_av_opens_granted, av);
    EXPECT_BROKEN(domain_av_opens_granted, returning(av, -FI_ENOSYS));
    av.av_type = FI_AV_MAP;
    EXPECT_VACUOUS(domain_av_opens_granted, returning(av, -FI_EINVAL));
    s.offer.domain.av_type = FI_AV_UNSPEC;
    EXPECT_BROKEN(domain_av_opens_granted, returning(av, -FI_EINVAL));
    Step unknown = returning(av, -FI_EINVAL);
    unknown.av_type = 0x20000000;
    EXPECT_VACUOUS(domain_av_opens_granted, unknown) << "there are two types";
    s.offer.ep.type = FI_EP_MSG;
    EXPECT_VACUOUS(domain_av_opens_granted, av);
}

// A query, and the answer's one entry, with the instances it refers to.
struct Issued {
    Stage& stage;
    Query query;
    Answer answer;

    explicit Issued(Stage& s, bool named = false) : stage(s) {
        query.hints.emplace();
        if (named) {
            query.hints->fabric.name = s.offer.fabric.name;
            query.hints->domain.name = s.offer.domain.name;
        }
    }
    Step refers(Handle fabric, Handle domain, int with = 0) {
        answer = {};
        answer.offers.push_back(stage.offer);
        answer.offers[0].fabric.fabric = fabric;
        answer.offers[0].domain.domain = domain;
        Step s = stage.step(Verb::Query, with);
        s.query = &query;
        s.answer = &answer;
        return s;
    }
};

TEST(LifeInstances, OpenOnesAreReported) {
    Stage s;
    Issued plain(s), named(s, true);
    EXPECT_HOLDS(fabric_instance_null, plain.refers(0, 0));
    EXPECT_BROKEN(fabric_instance_null, plain.refers(kForeign, 0));
    EXPECT_BROKEN(domain_instance_null, plain.refers(0, kForeign));
    EXPECT_VACUOUS(fabric_instance_reported_unnamed, plain.refers(0, 0));
    const Handle fabric = static_cast<Handle>(s.fabric());
    EXPECT_VACUOUS(fabric_instance_null, plain.refers(0, 0));
    EXPECT_BROKEN(fabric_instance_reported_unnamed, plain.refers(0, 0));
    EXPECT_HOLDS(fabric_instance_reported_unnamed, plain.refers(fabric, 0));
    EXPECT_VACUOUS(fabric_instance_reported, plain.refers(0, 0));
    EXPECT_BROKEN(fabric_instance_reported, named.refers(0, 0));
    EXPECT_HOLDS(fabric_instance_reported, named.refers(fabric, 0));
    EXPECT_VACUOUS(fabric_instance_reported_unnamed, named.refers(0, 0));
    named.query.hints->domain.name.reset();
    EXPECT_BROKEN(fabric_instance_reported, named.refers(0, 0));
    named.query.hints->domain.name = s.offer.domain.name;
    EXPECT_HOLDS(domain_instance_null, plain.refers(fabric, 0));
    const Handle domain = static_cast<Handle>(s.domain(static_cast<int>(fabric)));
    EXPECT_BROKEN(domain_instance_reported_unnamed, plain.refers(fabric, 0));
    EXPECT_HOLDS(domain_instance_reported_unnamed, plain.refers(fabric, domain));
    EXPECT_BROKEN(domain_instance_reported, named.refers(fabric, kForeign));
    EXPECT_HOLDS(domain_instance_reported, named.refers(fabric, domain));
    EXPECT_HOLDS(domain_open_by_name, plain.refers(fabric, domain));
    s.offer.domain.name = "other";
    EXPECT_BROKEN(domain_open_by_name, plain.refers(fabric, domain));
    EXPECT_VACUOUS(domain_open_by_name, plain.refers(fabric, 0));
}

TEST(LifeInstances, OthersProvidersAreNotJudged) {
    Stage s;
    Issued plain(s);
    s.offer.fabric.prov_name = "q";
    EXPECT_VACUOUS(fabric_instance_null, plain.refers(kForeign, kForeign));
}

TEST(LifeInstances, FirstOfSeveral) {
    Stage s;
    Issued plain(s);
    const int first = s.fabric();
    EXPECT_VACUOUS(fabric_instance_first, plain.refers(static_cast<Handle>(first), 0));
    const int second = s.fabric();
    EXPECT_HOLDS(fabric_instance_first, plain.refers(static_cast<Handle>(first), 0));
    EXPECT_BROKEN(fabric_instance_first, plain.refers(static_cast<Handle>(second), 0));
    const int one = s.domain(first);
    const int other = s.domain(second);
    EXPECT_HOLDS(domain_instance_first, plain.refers(0, static_cast<Handle>(one)));
    EXPECT_BROKEN(domain_instance_first, plain.refers(0, static_cast<Handle>(other)));
    s.take(s.close(one));
    EXPECT_VACUOUS(domain_instance_first, plain.refers(0, static_cast<Handle>(other)));
}

TEST(LifeInstances, ClosedOnesAreForgotten) {
    Stage s;
    Issued plain(s);
    const int fabric = s.fabric();
    const int domain = s.domain(fabric);
    EXPECT_VACUOUS(domain_instance_not_closed, plain.refers(0, 0));
    s.take(s.close(domain));
    EXPECT_HOLDS(domain_instance_not_closed, plain.refers(static_cast<Handle>(fabric), 0));
    EXPECT_BROKEN(domain_instance_not_closed, plain.refers(0, static_cast<Handle>(domain)));
    EXPECT_VACUOUS(fabric_instance_not_closed, plain.refers(0, 0));
    s.take(s.close(fabric));
    EXPECT_HOLDS(fabric_instance_not_closed, plain.refers(0, 0));
    EXPECT_BROKEN(fabric_instance_not_closed, plain.refers(static_cast<Handle>(fabric), 0));
}

TEST(LifeInstances, RestrictTheAnswer) {
    Stage s;
    Issued plain(s);
    const int fabric = s.fabric();
    const int domain = s.domain(fabric);
    EXPECT_HOLDS(fabric_instance_restricts, plain.refers(0, 0, fabric));
    EXPECT_HOLDS(domain_instance_restricts, plain.refers(0, 0, domain));
    EXPECT_VACUOUS(fabric_instance_restricts, plain.refers(0, 0));
    EXPECT_VACUOUS(domain_instance_restricts, plain.refers(0, 0, fabric));
    s.offer.domain.name = "other";
    EXPECT_BROKEN(domain_instance_restricts, plain.refers(0, 0, domain));
    EXPECT_HOLDS(fabric_instance_restricts, plain.refers(0, 0, fabric));
    s.offer.fabric.name = "elsewhere";
    EXPECT_BROKEN(fabric_instance_restricts, plain.refers(0, 0, fabric));
}

}  // namespace
}  // namespace selvage::model
