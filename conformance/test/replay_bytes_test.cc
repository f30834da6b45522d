// selvage replay on inputs of the fuzz targets, and on cases that are not small yet.
#include <gtest/gtest.h>

#include "conformance/case/case_text.h"
#include "conformance/generate/binary/case_bytes.h"
#include "conformance/test/tool_util.h"
#include "model/text/call_text.h"

namespace selvage::conformance {
namespace {

#ifdef SELVAGE_MUTANT_FOLDER

constexpr const char* kShort = SELVAGE_MUTANT_FOLDER "/libmutant-short-tx_attr.size.so";
constexpr const char* kCrashing = SELVAGE_MUTANT_FOLDER "/libmutant-crash-by-field.so";

std::string bytes_of(const std::string& call) {
    Input input;
    input.drawn.provider = "tcp";
    model::TextError error;
    EXPECT_TRUE(model::parse_call(call, input.drawn.first, error)) << error.message;
    return write_input(input);
}

TEST(ReplayBytes, AreJudgedMadeSmallerAndPrintedAsC) {
    const Folder folder;
    const auto file =
        folder.write("crash-0", bytes_of("version=1.9 hints={caps=FI_MSG, tx_attr.size=7, ep_attr.type=FI_EP_RDM}"));
    const Ran ran = run_tool({"replay", "--library", kShort, file});
    EXPECT_EQ(ran.status, 1) << ran.err;
    EXPECT_TRUE(
        contains(ran.out, "made smaller:\nversion=1.18 hints=bare{tx_attr.size=1, fabric_attr.prov_name=\"tcp\"}\n"))
        << ran.out;
    EXPECT_TRUE(contains(ran.out, "broken endpoint.tx-size.returned")) << ran.out;
    EXPECT_TRUE(contains(ran.out, "int main(")) << ran.out;
}

TEST(ReplayBytes, ThatEndTheProcessAreMadeSmallerToo) {
    const Folder folder;
    const auto file =
        folder.write("crash-1", bytes_of("version=1.9 hints={caps=FI_MSG, domain_attr.max_err_data=4096}"));
    const Ran ran = run_tool({"replay", "--library", kCrashing, file});
    EXPECT_EQ(ran.status, 1) << ran.err;
    EXPECT_TRUE(contains(
        ran.out,
        "made smaller:\nversion=1.9 hints=bare{domain_attr.max_err_data=128, fabric_attr.prov_name=\"tcp\"}\n"))
        << ran.out;
    // A sanitizer's run-time takes the signal and ends the process.
    EXPECT_TRUE(contains(ran.out, "broken getinfo.memory.returns: died of a signal") ||
                contains(ran.out, "broken getinfo.memory.returns: ended the process"))
        << ran.out;
}

TEST(ReplayBytes, ThatBreakNothingAreKept) {
    const Folder folder;
    const auto file = folder.write("input", bytes_of("version=1.18 hints={caps=FI_MSG}"));
    const Ran ran = run_tool({"replay", "--library", kShort, file});
    EXPECT_EQ(ran.status, 0) << ran.err;
    EXPECT_FALSE(contains(ran.out, "int main(")) << ran.out;
}

TEST(ReplayText, ACaseThatNamesItsClauseIsLeftAsItIs) {
    const Folder folder;
    const std::string call = "version=1.18 hints={caps=FI_MSG, tx_attr.size=7}";
    const auto named = folder.write(
        "named.case", "selvage-case 1\nclause = endpoint.tx-size.returned\nkind = call\ncall = " + call + "\n");
    const auto bare = folder.write("bare.case", call);
    EXPECT_FALSE(contains(run_tool({"replay", "--library", kShort, "--provider", "tcp", named}).out, "made smaller"));
    EXPECT_TRUE(contains(run_tool({"replay", "--library", kShort, "--provider", "tcp", "--shrink", named}).out,
                         "made smaller"));
    EXPECT_TRUE(contains(run_tool({"replay", "--library", kShort, "--provider", "tcp", bare}).out, "made smaller"));
    EXPECT_FALSE(
        contains(run_tool({"replay", "--library", kShort, "--provider", "tcp", "--as-is", bare}).out, "made smaller"));
}

#endif  // SELVAGE_MUTANT_FOLDER

}  // namespace
}  // namespace selvage::conformance
