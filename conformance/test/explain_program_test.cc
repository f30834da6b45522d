// selvage explain --from-program: a program's own queries, and why they came back with nothing.
#include <gtest/gtest.h>

#include <algorithm>

#include "conformance/test/tool_util.h"

namespace selvage::conformance {
namespace {

TEST(ExplainProgram, ExplainsTheQueryThatItWasRefused) {
    const Ran ran = run_tool({"explain", "--from-program", "fi_info -p tcp -t FI_EP_MSG -c FI_ATOMIC"});
    EXPECT_EQ(ran.status, 0) << ran.err;
    EXPECT_TRUE(contains(ran.out, "1 refused; the program exited with ")) << ran.out;
    EXPECT_TRUE(contains(ran.out, "fi_getinfo returned -FI_ENODATA, 1 time:")) << ran.out;
    EXPECT_TRUE(contains(ran.out, "tcp  caps: FI_ATOMIC is not offered")) << ran.out;
    EXPECT_TRUE(contains(ran.out, "smallest change that is granted")) << ran.out;
}

TEST(ExplainProgram, SaysThatNothingWasRefused) {
    const Ran ran = run_tool({"explain", "--from-program", "fi_info -p tcp"});
    EXPECT_EQ(ran.status, 0) << ran.err;
    EXPECT_TRUE(contains(ran.out, "1 query in 1 process, none of them refused; the program exited with 0")) << ran.out;
    EXPECT_FALSE(contains(ran.out, "smallest change")) << ran.out;
}

TEST(ExplainProgram, TellsWhatItCannotDoInALine) {
    for (const auto& [command, why] : {std::pair("true", "nothing of it called libfabric"),
                                       std::pair("no-such-program", "nothing of it called libfabric")}) {
        const Ran ran = run_tool({"explain", "--from-program", command});
        EXPECT_EQ(ran.status, 2);
        EXPECT_TRUE(contains(ran.err, why)) << ran.err;
    }
    const Ran both = run_tool({"explain", "--from-program", "true", "--hints", "caps=FI_MSG"});
    EXPECT_EQ(both.status, 2);
    EXPECT_EQ(std::count(both.err.begin(), both.err.end(), '\n'), 1) << both.err;
}

}  // namespace
}  // namespace selvage::conformance
