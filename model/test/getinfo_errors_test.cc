// The promises on errors, case by case.
#include "model/test/getinfo_make.h"

namespace selvage::model {
namespace {

using namespace clause;
using namespace getinfo_test;
using enum Outcome;

const Query kSound = query_for(FI_MSG);
const Query kUnsound = query_for(FI_MSG | FI_READ);

TEST(GetinfoErrors, RefusalsUseListedErrors) {
    EXPECT_EQ(answer(getinfo_errors_listed_only, kUnsound, refused(FI_EBADFLAGS)), Holds);
    EXPECT_EQ(answer(getinfo_errors_listed_only, kUnsound, refused(FI_EINVAL)), Holds);
    EXPECT_EQ(answer(getinfo_errors_listed_only, kUnsound, refused(FI_EIO)), Broken);
    EXPECT_EQ(answer(getinfo_errors_listed_only, kSound, refused(FI_EIO)), NotApplicable);
    EXPECT_EQ(answer(getinfo_errors_listed_only, kUnsound, granted(rdm())), NotApplicable);
}

TEST(GetinfoErrors, BadFlagsNeedsABadFlag) {
    EXPECT_EQ(answer(getinfo_errors_badflags_justified, kUnsound, refused(FI_EBADFLAGS)), Holds);
    EXPECT_EQ(answer(getinfo_errors_badflags_justified, kSound, refused(FI_EBADFLAGS)), Broken);
    EXPECT_EQ(answer(getinfo_errors_badflags_justified, kSound, refused()), NotApplicable);
    EXPECT_EQ(answer(getinfo_errors_badflags_justified, query_for(0, Version(0, 9)), refused(FI_EBADFLAGS)),
              NotApplicable);
}

TEST(GetinfoErrors, NoSysNeedsANewerVersion) {
    World old;
    old.library = Version(1, 10);
    EXPECT_EQ(answer(getinfo_errors_nosys_justified, query_for(0, Version(1, 10)), refused(FI_ENOSYS), nullptr, old),
              Broken);
    EXPECT_EQ(answer(getinfo_errors_nosys_justified, query_for(0, Version(1, 0)), refused(), nullptr, old), Holds);
    EXPECT_EQ(answer(getinfo_errors_nosys_justified, query_for(0, Version(1, 11)), refused(FI_ENOSYS), nullptr, old),
              NotApplicable);
    EXPECT_EQ(answer(getinfo_errors_nosys_justified, query_for(0, Version(0, 9)), refused(FI_ENOSYS), nullptr, old),
              NotApplicable);
}

TEST(GetinfoErrors, RefusesUnknownCapabilities) {
    EXPECT_EQ(kind(getinfo_errors_badflags_unknown_caps, query_for(FI_MSG | 1U)), Demand::Kind::MustRefuse);
    EXPECT_EQ(demand(getinfo_errors_badflags_unknown_caps, query_for(1U)).errnos,
              (std::vector<int>{FI_EBADFLAGS, FI_ENODATA}));
    EXPECT_EQ(kind(getinfo_errors_badflags_unknown_caps, query_for(FI_MSG | FI_XPU)), Demand::Kind::Nothing);
    EXPECT_EQ(kind(getinfo_errors_badflags_unknown_caps, query_for(0)), Demand::Kind::NotRequested);
}

}  // namespace
}  // namespace selvage::model
