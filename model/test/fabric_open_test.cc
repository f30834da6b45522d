// What opening and closing a fabric leaves behind, case by case from the text.
#include <rdma/fi_errno.h>

#include "model/test/make_fields.h"

namespace selvage::model {
namespace {

using namespace fields_test;

SideEffects watched(Field part, int ret, std::uint64_t leaked = 0) {
    SideEffects c;
    c.act = SideEffects::Act::OpenAnswer;
    c.written_field = part;
    c.ret = ret;
    c.leaked_blocks = leaked;
    return c;
}

TEST(FabricOpen, FailureLeavesNothingBehind) {
    const auto p = clause::fabric_open_failure_clean;
    EXPECT_EQ(p(watched(Field::part_fabric, -FI_EINVAL)).outcome(), kHolds);
    EXPECT_EQ(p(watched(Field::part_fabric, -FI_EINVAL, 1)).outcome(), kBroken);
    EXPECT_EQ(p(watched(Field::part_fabric, 0, 1)).outcome(), kSkips) << "it did not fail";
    EXPECT_EQ(p(watched(Field::part_domain, -FI_EINVAL, 1)).outcome(), kSkips) << "another call failed";
    SideEffects other = watched(Field::part_fabric, -FI_EINVAL, 1);
    other.act = SideEffects::Act::GetInfo;
    EXPECT_EQ(p(other).outcome(), kSkips);
}

TEST(FabricOpen, FailureChangesNoAttribute) {
    const auto p = clause::fabric_open_failure_clean;
    SideEffects c = watched(Field::fabric_api_version, -FI_EINVAL);
    c.hints_written = true;
    EXPECT_EQ(p(c).outcome(), kBroken);
    EXPECT_EQ(p(c).evidence().field, Field::fabric_api_version);
}

TEST(FabricClose, ReleasesEverything) {
    const auto p = clause::fabric_close_releases;
    EXPECT_EQ(p(watched(Field::part_fabric, 0)).outcome(), kHolds);
    EXPECT_EQ(p(watched(Field::part_fabric, 0, 2)).outcome(), kBroken);
    EXPECT_EQ(p(watched(Field::part_fabric, -FI_EINVAL, 2)).outcome(), kSkips) << "nothing was opened";
    EXPECT_EQ(p(watched(Field::part_domain, 0, 2)).outcome(), kSkips);
}

}  // namespace
}  // namespace selvage::model
