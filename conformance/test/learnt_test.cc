// Crashes that were learnt: what holds one is passed over, everything else is asked.
#include <gtest/gtest.h>

#include <algorithm>

#include "conformance/run/learnt.h"
#include "conformance/test/subject_util.h"
#include "conformance/test/tool_util.h"

namespace selvage::conformance {
namespace {

#ifdef SELVAGE_SANITIZED
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

using Verb = Action::Verb;
using Actions = std::vector<Action>;

Action act(Verb verb, int object = 0, int argument = 0, std::uint64_t flags = 0) {
    return {.verb = verb, .object = object, .argument = argument, .flags = flags, .name = {}};
}

// A queue of a domain is closed twice.
const Actions kTwice = {act(Verb::OpenFabric), act(Verb::OpenDomain, 1), act(Verb::OpenCq, 2), act(Verb::Close, 3),
                        act(Verb::Close, 3)};

TEST(Learnt, ASequenceHoldsItself) {
    EXPECT_TRUE(holds(kTwice, kTwice));
    EXPECT_TRUE(holds(kTwice, {}));
    EXPECT_FALSE(holds({}, kTwice));
}

TEST(Learnt, ASequenceIsFoundAmongOtherActsAndUnderOtherNumbers) {
    const Actions all = {act(Verb::OpenFabric, 0, 4), act(Verb::OpenEq, 1),  act(Verb::OpenDomain, 1),
                         act(Verb::OpenCq, 3),        act(Verb::QueryPlain), act(Verb::OpenCq, 3),
                         act(Verb::Close, 5),         act(Verb::Enable, 9),  act(Verb::Close, 4),
                         act(Verb::Close, 5),         act(Verb::Query, 1)};
    EXPECT_TRUE(holds(all, kTwice)) << "the second queue is closed twice";
    Actions once = all;
    once[9].object = 4;
    EXPECT_TRUE(holds(once, kTwice)) << "now the first is";
    once[8].object = 3;
    EXPECT_FALSE(holds(once, kTwice)) << "and now none";
}

TEST(Learnt, OrderFlagsNamesAndWhatIsBoundCount) {
    const Actions bound = {act(Verb::OpenFabric), act(Verb::OpenDomain, 1), act(Verb::OpenCq, 2), act(Verb::OpenEp, 2),
                           act(Verb::BindEp, 4, 3, 0x800)};
    Actions other = bound;
    EXPECT_TRUE(holds(other, bound));
    other[4].flags = 0x400;
    EXPECT_FALSE(holds(other, bound));
    other = bound;
    other[4].argument = 2;
    EXPECT_FALSE(holds(other, bound));
    other = bound;
    other[1].name = "no-such-name";
    EXPECT_FALSE(holds(other, bound));
    other = {bound[0], bound[1], bound[3], bound[2], act(Verb::BindEp, 3, 4, 0x800)};
    EXPECT_FALSE(holds(other, bound)) << "the queue was opened behind the endpoint";
}

TEST(Learnt, OfWhichOfferAFabricIsDoesNotCount) {
    Actions other = kTwice;
    other[0].argument = 7;
    EXPECT_TRUE(holds(other, kTwice));
    other[2].argument = 7;
    EXPECT_FALSE(holds(other, kTwice)) << "a queue of another offer than its domain's";
}

// Debian's tcp dies when a queue is closed again that it refused to close, on each of its offers: of what lies in freed
// memory, which the allocators of the sanitizers leave as it was.
TEST(Learnt, ALibraryThatDiesOfOneActIsAskedEverythingElse) {
    if (kSanitized) GTEST_SKIP() << "the library does not die here";
    const Folder folder;
    const Ran ran =
        run_tool({"check", "--no-compiler", "--provider", "tcp", "--cases", "300", "--report", folder.path("r.json")},
                 {"GTEST_FILTER=openings.*"});
    ASSERT_EQ(ran.status, 1) << ran.out << ran.err;
    std::string notes;
    const Report report = read_report(folder.path("r.json"));
    for (const auto& p : report.providers)
        for (const auto& n : p.notes) notes += n + "\n";
    EXPECT_FALSE(contains(notes, "given up")) << notes;
    const auto close = model::find_clause("domain.close.child")->clause;
    EXPECT_TRUE(std::any_of(report.deviations.begin(), report.deviations.end(), [&](const Deviation& d) {
        return d.clause == close && d.grade == Grade::Fatal && !d.intermittent;
    })) << ran.out;
}

}  // namespace
}  // namespace selvage::conformance
