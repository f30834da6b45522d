// What a new process says that asks a library which nobody has loaded yet. A script stands for the tool.
#include "conformance/drive/new_process.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>

#include "conformance/test/tool_util.h"

namespace selvage::conformance {
namespace {

using namespace std::chrono_literals;

class NewProcess : public testing::Test {
protected:
    std::optional<FreshAnswer> asked_of(const std::string& script, std::chrono::milliseconds limit = 20s) {
        Plan plan;
        plan.tool = folder_.write("tool", "#!/bin/sh\n" + script + "\n");
        EXPECT_EQ(chmod(plan.tool.c_str(), 0755), 0);
        return issue_fresh(plan, "shm", 0, limit);
    }

private:
    Folder folder_;
};

TEST_F(NewProcess, SaysWhatItReturnedAndWhichProvidersItOffered) {
    const auto answer = asked_of("echo R-61; echo P$FI_PROVIDER; echo Pudp");
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->ret, -61);
    EXPECT_EQ(answer->providers, (std::vector<std::string>{"shm", "udp"}));
    EXPECT_FALSE(answer->hung);
    EXPECT_EQ(answer->signal, 0);
}

TEST_F(NewProcess, IsHungWhenItsTimeIsOver) {
    const auto answer = asked_of("exec sleep 1000", 200ms);
    ASSERT_TRUE(answer);
    EXPECT_TRUE(answer->hung);
    EXPECT_EQ(answer->signal, 0) << "it was killed for that";
}

// With a part of a processor, as where a machine does many other things.
TEST_F(NewProcess, IsNotHungWhileItStandsInLineForAProcessor) {
    const BusyProcessor busy;
    const auto began = std::chrono::steady_clock::now();
    const auto answer = asked_of(busy.work_in_line() + "; echo R7", 400ms);
    ASSERT_TRUE(answer);
    EXPECT_FALSE(answer->hung);
    EXPECT_EQ(answer->ret, 7);
    EXPECT_GT(std::chrono::steady_clock::now() - began, 400ms) << "it had to wait for long";
}

TEST_F(NewProcess, SaysOfWhatItDied) {
    const auto answer = asked_of("kill -SEGV $$");
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->signal, SIGSEGV);
}

TEST_F(NewProcess, SaysNothingWhenItWasKilledFromOutside) { EXPECT_FALSE(asked_of("kill -KILL $$")); }

}  // namespace
}  // namespace selvage::conformance
