// What a few endpoints do together: its line in case files, how it is made smaller, its programs.
#include <gtest/gtest.h>
#include <rdma/fabric.h>
#include <rdma/fi_domain.h>

#include "conformance/case/case_text.h"
#include "conformance/drive/group/group_patience.h"
#include "conformance/generate/groups.h"
#include "conformance/reproduce/reproduce.h"
#include "conformance/runtime/group.h"
#include "conformance/shrink/shrink.h"
#include "conformance/test/tool_util.h"

namespace selvage::conformance {
namespace {

using model::GroupScript;

Case group_case(const GroupScript& script) {
    Case c;
    c.kind = Case::Kind::Group;
    c.provider = "shm";
    c.group = script;
    return c;
}

TEST(Groups, ALineOfACaseFileSaysAllOfAScript) {
    for (const GroupScript& s : collective_scripts()) {
        CaseFile read;
        CaseError error;
        ASSERT_TRUE(parse_case(print_case(group_case(s)), read, error)) << error.str();
        EXPECT_EQ(read.shown, group_case(s)) << print_case(read.shown);
    }
}

TEST(Groups, ALineOfACaseFileNamesEachCall) {
    ASSERT_EQ(call_scripts().size(), std::size_t{OBJECT_CALLS});
    for (const GroupScript& s : call_scripts()) {
        CaseFile read;
        CaseError error;
        ASSERT_TRUE(parse_case(print_case(group_case(s)), read, error)) << error.str();
        EXPECT_EQ(read.shown, group_case(s)) << print_case(read.shown);
    }
}

TEST(Groups, TheFlagThatNobodyHasIsNoneOfAProviderEither) {
    constexpr std::uint64_t kOfProviders = std::uint64_t{0xF} << 60;  // rdma/fabric.h, Flags
    EXPECT_EQ(CALL_NO_SUCH_FLAG & kOfProviders, 0U);
}

TEST(Groups, ScriptsWithoutMembersOrWithTooManyAreRefused) {
    for (const char* line :
         {"collective members=1", "collective members=5", "collective members=3 root=3", "collective members=3 late=3",
          "collective members=2 count=0", "dance members=2", "collective members=2 set=heap",
          "calls what=dance members=1", "collective members=2 colour=1"}) {
        CaseFile read;
        CaseError error;
        EXPECT_FALSE(parse_case("selvage-case 1\nkind = group\ngroup = " + std::string(line) + "\n", read, error))
            << line;
    }
}

TEST(Groups, RandomScriptsAreOnesThatACaseFileMayHold) {
    Rng rng(7, "groups", 1);
    for (int i = 0; i < 500; ++i) {
        const Case c = group_case(random_collective(rng));
        CaseFile read;
        CaseError error;
        ASSERT_TRUE(parse_case(print_case(c), read, error)) << error.str() << print_case(c);
        EXPECT_EQ(read.shown, c);
    }
}

TEST(Groups, ShrinkingLeavesWhatTheDeviationNeeds) {
    GroupScript s;
    s.members = 4;
    s.operation = FI_ALLREDUCE;
    s.datatype = FI_UINT8;
    s.op = FI_MAX;
    s.count = 600;
    s.late = 1;
    const auto shows = [](const Case& c) { return c.group.operation == FI_ALLREDUCE && c.group.count >= 3; };
    const GroupScript small = shrink(group_case(s), shows, 200).group;
    EXPECT_EQ(small.members, 2U);
    EXPECT_LE(small.count, 4U);
    EXPECT_EQ(small.late, model::kNobodyLate);
    EXPECT_EQ(small.datatype, FI_UINT64);
}

TEST(Groups, PatienceIsShorterWithALibraryThatLosesOrHangsUnlessItIsInsistedOn) {
    using namespace std::chrono_literals;
    GroupPatience patience;
    EXPECT_FALSE(patience.is_hasty());
    EXPECT_EQ(patience.of_a_call(), 30s);
    patience.learn_that_it_loses();
    EXPECT_TRUE(patience.is_short());
    EXPECT_TRUE(patience.is_hasty());
    EXPECT_EQ(patience.of_a_call(), 30s) << "it does not hang";
    patience.learn_that_it_hangs();
    EXPECT_EQ(patience.of_a_call(), 5s);
    patience.insist(true);
    EXPECT_FALSE(patience.is_short());
    EXPECT_FALSE(patience.is_hasty());
    EXPECT_EQ(patience.of_a_call(), 30s);
    patience.insist(false);
    EXPECT_TRUE(patience.is_hasty());
}

#ifdef SELVAGE_OWN_LIBRARY
// Debian's tcp gives an endpoint that is not connected a name without a port, which no vector takes.
TEST(Groups, AnAddressThatEveryVectorRefusesIsNotJudgedAsOneThatWasInserted) {
    const Folder folder;
    for (const char* call : {"insert-status", "insert-event"}) {
        const std::string text =
            "selvage-case 1\nkind = group\nprovider = \"tcp\"\ncall = version=1.17 node=\"127.0.0.1\" "
            "flags=FI_SOURCE hints=bare{caps=FI_MSG, ep_attr.type=FI_EP_MSG, "
            "domain_attr.mr_mode=FI_MR_VIRT_ADDR|FI_MR_ALLOCATED|FI_MR_PROV_KEY, fabric_attr.prov_name=\"tcp\"}\n"
            "group = calls what=" +
            std::string(call) + " members=1\n";
        const Ran ran = run_tool({"replay", "--as-is", "--library", "libfabric.so.1", folder.write(call, text)});
        EXPECT_EQ(ran.status, 0) << ran.out << ran.err;
    }
}
#endif

#ifdef SELVAGE_MUTANT_FOLDER
TEST(Groups, AMutantIsConvictedByItsProgram) {
    const Ran ran = run_tool({"check", "--library", SELVAGE_MUTANT_FOLDER "/libmutant-set-union-idle.so", "--provider",
                              "shm", "--cases", "100", "--clause", "av-set.union", "--verbose"});
    EXPECT_EQ(ran.status, 1) << ran.err;
    EXPECT_TRUE(contains(ran.out, "its program shows it")) << ran.out;
}
#endif

}  // namespace
}  // namespace selvage::conformance
