// The name of the domain, case by case from the text.
#include <rdma/fabric.h>

#include "model/test/make_fields.h"

namespace selvage::model {
namespace {

using namespace fields_test;

Info named(const char* name) { return with(info(), Field::domain_name, name); }

TEST(DomainName, FitsTheDomainOfThatName) {
    const auto p = clause::domain_name_fits;
    EXPECT_EQ(fit(p, query_for(named("paper0")), entry(named("paper0")), Origin::Inferred), Choice::Fits);
    EXPECT_EQ(fit(p, query_for(named("paper1")), entry(named("paper0")), Origin::Inferred), Choice::No);
    EXPECT_EQ(fit(p, query_for({}), entry(named("paper0")), Origin::Inferred), Choice::NotRequested);
}

TEST(DomainName, EntryNamesTheDomainOfTheHints) {
    const auto p = clause::domain_name_granted;
    EXPECT_EQ(rule(p, query_for(named("paper0")), named("paper0")), kHolds);
    EXPECT_EQ(rule(p, query_for(named("paper0")), named("paper1")), kBroken);
    EXPECT_EQ(rule(p, query_for(named("paper0")), info()), kBroken);
    EXPECT_EQ(rule(p, query_for({}), named("paper1")), kSkips);
    EXPECT_EQ(rule(p, flagged(query_for(named("paper0")), FI_PROV_ATTR_ONLY), info()), kSkips);
}

TEST(DomainName, EveryEntryNamesItsDomain) {
    const auto p = clause::domain_name_present;
    EXPECT_EQ(rule(p, call(), named("paper0")), kHolds);
    EXPECT_EQ(rule(p, call(), info()), kBroken);
    EXPECT_EQ(rule(p, flagged(call(), FI_PROV_ATTR_ONLY), info()), kSkips);
}

}  // namespace
}  // namespace selvage::model
