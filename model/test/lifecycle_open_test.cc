// Opening and closing fabrics and domains: each clause holds, is broken, and does not apply.
#include "model/test/lifecycle_util.h"

namespace selvage::model {
namespace {

using test::crashing;
using test::returning;
using test::Stage;

TEST(LifeFabric, EachAnswerOpens) {
    Stage s;
    const Step open = s.open(ObjectClass::Fabric);
    EXPECT_HOLDS(fabric_open_each_answer, open);
    EXPECT_BROKEN(fabric_open_each_answer, returning(open, -FI_ENODEV));
    EXPECT_BROKEN(fabric_open_each_answer, crashing(open));
    Step named = open;
    named.names_only = true;
    EXPECT_VACUOUS(fabric_open_each_answer, named);
    EXPECT_VACUOUS(fabric_open_twice, open);
    s.fabric();
    EXPECT_VACUOUS(fabric_open_each_answer, s.open(ObjectClass::Fabric));
    EXPECT_HOLDS(fabric_open_twice, s.open(ObjectClass::Fabric));
    EXPECT_BROKEN(fabric_open_twice, returning(s.open(ObjectClass::Fabric), -FI_EBUSY));
}

TEST(LifeFabric, ObjectIsAFabric) {
    const Stage s;
    Step open = s.open(ObjectClass::Fabric);
    EXPECT_HOLDS(fabric_open_object, open);
    EXPECT_HOLDS(fabric_open_context, open);
    EXPECT_HOLDS(fabric_open_api_version, open);
    EXPECT_VACUOUS(fabric_open_object, returning(open, -FI_ENODEV));
    EXPECT_VACUOUS(fabric_open_context, returning(open, -FI_ENODEV));
    EXPECT_VACUOUS(fabric_open_api_version, returning(open, -FI_ENODEV));
    Step bad = open;
    bad.fclass = FI_CLASS_DOMAIN;
    EXPECT_BROKEN(fabric_open_object, bad);
    bad = open;
    bad.has_ops = false;
    EXPECT_BROKEN(fabric_open_object, bad);
    bad = open;
    bad.null = true;
    EXPECT_BROKEN(fabric_open_object, bad);
    bad = open;
    bad.context_kept = false;
    EXPECT_BROKEN(fabric_open_context, bad);
    bad = open;
    bad.api_version = FI_VERSION(1, 4);
    EXPECT_BROKEN(fabric_open_api_version, bad);
}

TEST(LifeFabric, UnknownNamesFail) {
    const Stage s;
    Step open = s.open(ObjectClass::Fabric);
    EXPECT_VACUOUS(fabric_open_unknown_name, open);
    EXPECT_VACUOUS(fabric_open_unknown_provider, open);
    open.altered = Altered::FabricName;
    EXPECT_BROKEN(fabric_open_unknown_name, open);
    EXPECT_HOLDS(fabric_open_unknown_name, returning(open, -FI_ENODATA));
    open.altered = Altered::ProviderName;
    EXPECT_BROKEN(fabric_open_unknown_provider, open);
    EXPECT_HOLDS(fabric_open_unknown_provider, returning(open, -FI_ENODEV));
    EXPECT_VACUOUS(fabric_open_each_answer, open);
}

TEST(LifeFabric, LayersMayStandInAnotherOrder) {
    Stage s;
    Step open = s.open(ObjectClass::Fabric);
    EXPECT_VACUOUS(fabric_open_layered_order, open);
    open.altered = Altered::ProviderOrder;
    EXPECT_HOLDS(fabric_open_layered_order, open);
    EXPECT_BROKEN(fabric_open_layered_order, returning(open, -FI_ENODEV));
    EXPECT_VACUOUS(fabric_open_unknown_provider, open);
    const Step domain = s.open(ObjectClass::Domain, s.take(open));
    EXPECT_HOLDS(fabric_open_layered_order, domain);
    EXPECT_BROKEN(fabric_open_layered_order, returning(domain, -FI_ENODATA));
    EXPECT_VACUOUS(domain_open_each_answer, returning(domain, -FI_ENODATA));
    EXPECT_VACUOUS(fabric_open_layered_order, s.open(ObjectClass::Domain, s.fabric()));
}

TEST(LifeFabric, ErrorsAreNegative) {
    Stage s;
    const Step open = s.open(ObjectClass::Fabric);
    EXPECT_VACUOUS(fabric_open_error_negative, open);
    EXPECT_HOLDS(fabric_open_error_negative, returning(open, -FI_ENODEV));
    EXPECT_BROKEN(fabric_open_error_negative, returning(open, FI_ENODEV));
    EXPECT_BROKEN(fabric_open_error_negative, returning(open, -12345));
    EXPECT_BROKEN(fabric_open_error_negative, crashing(open));
    const int fabric = s.fabric();
    EXPECT_BROKEN(fabric_open_error_negative, s.close(fabric, 16));
    EXPECT_HOLDS(domain_open_error_negative, returning(s.open(ObjectClass::Domain, fabric), -FI_ENODEV));
    EXPECT_BROKEN(domain_open_error_negative, returning(s.open(ObjectClass::Domain, fabric), 1));
    EXPECT_VACUOUS(domain_open_error_negative, s.open(ObjectClass::Domain, fabric));
}

TEST(LifeFabric, Closes) {
    Stage s;
    const int fabric = s.fabric();
    EXPECT_HOLDS(fabric_close_empty, s.close(fabric));
    EXPECT_BROKEN(fabric_close_empty, s.close(fabric, -FI_EBUSY));
    EXPECT_VACUOUS(fabric_close_after_children, s.close(fabric));
    const int eq = s.take(s.open(ObjectClass::Eq, fabric));
    EXPECT_VACUOUS(fabric_close_empty, s.close(fabric));
    EXPECT_HOLDS(fabric_close_busy_eq, s.close(fabric, -FI_EBUSY));
    EXPECT_BROKEN(fabric_close_busy_eq, s.close(fabric));
    EXPECT_VACUOUS(fabric_close_busy_pep, s.close(fabric));
    EXPECT_HOLDS(fabric_close_item, s.close(eq));
    EXPECT_BROKEN(fabric_close_item, crashing(s.close(eq)));
    EXPECT_VACUOUS(fabric_close_item, s.close(fabric));
    s.take(s.close(eq));
    EXPECT_HOLDS(fabric_close_after_children, s.close(fabric));
    EXPECT_BROKEN(fabric_close_after_children, s.close(fabric, -FI_EBUSY));
    s.take(s.open(ObjectClass::Pep, fabric));
    EXPECT_BROKEN(fabric_close_busy_pep, s.close(fabric, -FI_EINVAL));
    EXPECT_HOLDS(fabric_close_busy_pep, s.close(fabric, -FI_EBUSY));
    s.domain(fabric);
    EXPECT_HOLDS(fabric_close_busy_domain, s.close(fabric, -FI_EBUSY));
    EXPECT_BROKEN(fabric_close_busy_domain, s.close(fabric));
}

TEST(LifeFabric, StaysWholeAfterARefusedClose) {
    Stage s;
    const int fabric = s.fabric();
    const int eq = s.take(s.open(ObjectClass::Eq, fabric));
    EXPECT_VACUOUS(fabric_close_whole_after_busy, s.close(eq));
    s.take(s.close(fabric, -FI_EBUSY));
    EXPECT_HOLDS(fabric_close_whole_after_busy, s.open(ObjectClass::Eq, fabric));
    EXPECT_BROKEN(fabric_close_whole_after_busy, returning(s.open(ObjectClass::Eq, fabric), -FI_EINVAL));
    EXPECT_VACUOUS(fabric_close_whole_after_busy, returning(s.open(ObjectClass::Pep, fabric), -FI_ENOSYS));
    Step flagged = returning(s.open(ObjectClass::Eq, fabric), -FI_EBADFLAGS);
    flagged.second_call = true;
    flagged.flags = 2;
    EXPECT_VACUOUS(fabric_close_whole_after_busy, flagged) << "flags may be refused at any time";
    EXPECT_HOLDS(fabric_close_whole_after_busy, s.close(eq));
    EXPECT_BROKEN(fabric_close_whole_after_busy, crashing(s.close(fabric)));
    EXPECT_VACUOUS(fabric_close_whole_after_busy, crashing(s.close(eq))) << "it may end so without the refusal";
    EXPECT_BROKEN(fabric_close_item, crashing(s.close(eq)));
    EXPECT_HOLDS(fabric_close_whole_after_busy, s.close(fabric, -FI_EBUSY));
    EXPECT_VACUOUS(fabric_close_busy_eq, s.close(fabric));
    EXPECT_VACUOUS(domain_close_whole_after_busy, s.close(eq));
}

TEST(LifeFabric, ACloseOfWhatIsBoundMayBeRefusedAndReturns) {
    Stage s;
    const int fabric = s.fabric();
    const int domain = s.domain(fabric);
    const int eq = s.take(s.open(ObjectClass::Eq, fabric));
    s.take(s.bind(domain, eq));
    EXPECT_VACUOUS(fabric_close_item, s.close(eq));
    EXPECT_VACUOUS(fabric_close_item, s.close(eq, -FI_EBUSY));
    EXPECT_BROKEN(fabric_close_item, crashing(s.close(eq)));
}

TEST(LifeFabric, OpeningSomethingOnItReturns) {
    Stage s;
    const int fabric = s.fabric();
    const Step open = s.open(ObjectClass::Eq, fabric);
    EXPECT_VACUOUS(fabric_open_error_negative, returning(open, -FI_ENOSYS));
    EXPECT_BROKEN(fabric_open_error_negative, crashing(open));
}

TEST(LifeDomain, ACallThatDoesNotComeBackIsToldAsADeath) {
    Stage s;
    const int domain = s.domain(s.fabric());
    Step close = crashing(s.close(domain));
    EXPECT_TRUE(is_crash(clause::domain_close_empty(close).evidence()));
    close = s.close(domain);
    close.hung = true;
    EXPECT_TRUE(is_crash(clause::domain_close_empty(close).evidence()));
    close.hung = false;
    close.exited = true;
    EXPECT_TRUE(is_crash(clause::domain_close_empty(close).evidence()));
}

TEST(LifeDomain, EachAnswerOpens) {
    Stage s;
    const int fabric = s.fabric();
    const Step open = s.open(ObjectClass::Domain, fabric);
    EXPECT_HOLDS(domain_open_each_answer, open);
    EXPECT_BROKEN(domain_open_each_answer, returning(open, -FI_EINVAL));
    Step other = open;
    other.offer_index = 3;
    EXPECT_VACUOUS(domain_open_each_answer, other);
    EXPECT_VACUOUS(domain_open_twice, open);
    const int domain = s.domain(fabric);
    EXPECT_HOLDS(domain_open_twice, s.open(ObjectClass::Domain, fabric));
    EXPECT_BROKEN(domain_open_twice, returning(s.open(ObjectClass::Domain, fabric), -FI_EBUSY));
    Step second = s.open(ObjectClass::Domain, fabric);
    second.second_call = true;
    EXPECT_VACUOUS(domain_open_flags_zero, second);
    s.take(s.close(domain));
    second = s.open(ObjectClass::Domain, fabric);
    second.second_call = true;
    EXPECT_HOLDS(domain_open_flags_zero, second);
    EXPECT_BROKEN(domain_open_flags_zero, returning(second, -FI_ENOSYS));
}

TEST(LifeDomain, ObjectIsADomain) {
    Stage s;
    const int fabric = s.fabric();
    const Step open = s.open(ObjectClass::Domain, fabric);
    EXPECT_HOLDS(domain_open_object, open);
    EXPECT_HOLDS(domain_open_context, open);
    EXPECT_VACUOUS(domain_open_object, returning(open, -FI_EINVAL));
    EXPECT_VACUOUS(domain_open_context, returning(open, -FI_EINVAL));
    Step bad = open;
    bad.fclass = FI_CLASS_FABRIC;
    EXPECT_BROKEN(domain_open_object, bad);
    bad = open;
    bad.context_kept = false;
    EXPECT_BROKEN(domain_open_context, bad);
    bad = open;
    EXPECT_VACUOUS(domain_open_unknown_name, bad);
    bad.altered = Altered::DomainName;
    EXPECT_BROKEN(domain_open_unknown_name, bad);
    EXPECT_HOLDS(domain_open_unknown_name, returning(bad, -FI_EINVAL));
}

TEST(LifeDomain, Closes) {
    Stage s;
    const int domain = s.domain(s.fabric());
    EXPECT_HOLDS(domain_close_empty, s.close(domain));
    EXPECT_BROKEN(domain_close_empty, s.close(domain, -FI_EBUSY));
    EXPECT_VACUOUS(domain_close_after_children, s.close(domain));
    const int cq = s.take(s.open(ObjectClass::Cq, domain));
    EXPECT_VACUOUS(domain_close_empty, s.close(domain));
    EXPECT_HOLDS(domain_close_child, s.close(cq));
    EXPECT_BROKEN(domain_close_child, s.close(cq, -FI_EBUSY));
    EXPECT_VACUOUS(domain_close_child, s.close(domain));
    s.take(s.close(cq));
    EXPECT_HOLDS(domain_close_after_children, s.close(domain));
    EXPECT_BROKEN(domain_close_after_children, crashing(s.close(domain)));
}

template <typename Predicate>
void expect_busy(Predicate predicate, ObjectClass child) {
    Stage s;
    const int domain = s.domain(s.fabric());
    EXPECT_EQ(predicate(s.close(domain)).outcome(), Outcome::NotApplicable);
    s.take(s.open(child, domain));
    EXPECT_EQ(predicate(s.close(domain, -FI_EBUSY)).outcome(), Outcome::Holds);
    EXPECT_EQ(predicate(s.close(domain)).outcome(), Outcome::Broken);
    EXPECT_EQ(predicate(s.close(domain, -FI_EINVAL)).outcome(), Outcome::Broken);
}

TEST(LifeDomain, BusyCloseIsRefused) {
    expect_busy(clause::domain_close_busy_endpoint, ObjectClass::Ep);
    expect_busy(clause::domain_close_busy_mr, ObjectClass::Mr);
    expect_busy(clause::domain_close_busy_cq, ObjectClass::Cq);
    expect_busy(clause::domain_close_busy_av, ObjectClass::Av);
    expect_busy(clause::domain_close_busy_counter, ObjectClass::Cntr);
}

TEST(LifeDomain, StaysWholeAfterARefusedClose) {
    Stage s;
    const int fabric = s.fabric();
    const int domain = s.domain(fabric);
    const int cq = s.take(s.open(ObjectClass::Cq, domain));
    EXPECT_VACUOUS(domain_close_whole_after_busy, s.close(cq));
    s.take(s.close(domain, -FI_EBUSY));
    EXPECT_BROKEN(domain_close_whole_after_busy, s.close(domain));
    EXPECT_VACUOUS(domain_close_whole_after_busy, s.close(fabric));  // that it is busy too was never said before
    EXPECT_HOLDS(domain_close_whole_after_busy, s.open(ObjectClass::Cq, domain));
    EXPECT_BROKEN(domain_close_whole_after_busy, crashing(s.open(ObjectClass::Ep, domain)));
    EXPECT_HOLDS(domain_close_whole_after_busy, s.close(cq));
    EXPECT_VACUOUS(domain_close_whole_after_busy, crashing(s.close(cq))) << "it may end so without the refusal";
    EXPECT_BROKEN(domain_close_child, crashing(s.close(cq)));
    EXPECT_VACUOUS(domain_close_child, s.close(cq));
    s.take(s.close(cq));
    EXPECT_HOLDS(domain_close_whole_after_busy, s.close(domain));
    EXPECT_BROKEN(domain_close_whole_after_busy, s.close(domain, -FI_EBUSY));
    EXPECT_VACUOUS(fabric_close_whole_after_busy, s.close(domain));
}

}  // namespace
}  // namespace selvage::model
