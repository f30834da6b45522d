// What shells and man are told of the tool follows its own help.
#include <gtest/gtest.h>

#include "conformance/test/tool_util.h"

namespace selvage::conformance {
namespace {

// What bash offers behind "selvage WORDS...".
std::string completed(const std::string& words, const std::string& at) {
    const std::string script = "source <(\"$0\" completion bash); COMP_WORDS=(" + words + "); COMP_CWORD=" + at +
                               "; _selvage; printf '%s ' \"${COMPREPLY[@]}\"";
    return run_program({"bash", "-c", script, SELVAGE_TOOL}).out;
}

TEST(Completion, OfCommandsAndOptionsIsWhatTheHelpSays) {
    EXPECT_EQ(completed("selvage expl", "1"), "explain ");
    EXPECT_EQ(completed("selvage check --stri", "2"), "--strict ");
    EXPECT_TRUE(contains(completed("selvage ''", "1"), "check ")) << completed("selvage ''", "1");
    EXPECT_FALSE(contains(completed("selvage ''", "1"), "fresh-names")) << "hidden";
    EXPECT_TRUE(contains(completed("selvage replay /etc/host", "2"), "/etc/hosts ")) << "a file";
    EXPECT_EQ(run_tool({"completion", "fish"}).status, 2);
}

TEST(Completion, IsAScriptThatZshReads) {
    const Folder folder;
    const auto script = folder.write("_selvage", run_tool({"completion", "zsh"}).out);
    const Ran zsh = run_program({"zsh", "-n", script});
    EXPECT_EQ(zsh.status, 0);
    EXPECT_EQ(zsh.err, "");
    EXPECT_TRUE(contains(slurp(script), "--strict")) << slurp(script);
}

TEST(Manual, OfEachCommandHasItsOptionsAndNoWarningOfTheFormatter) {
    const Folder folder;
    ASSERT_EQ(run_tool({"manual", "--output", folder.path("man")}).status, 0);
    const std::string check = slurp(folder.path("man/selvage-check.1"));
    EXPECT_TRUE(contains(check, "\\fB\\-\\-strict\\fR")) << check;
    EXPECT_TRUE(contains(check, "Exit status: 0 all promises kept")) << check;
    EXPECT_TRUE(contains(slurp(folder.path("man/selvage.1")), "selvage\\-explain")) << "each command is referred to";
    EXPECT_EQ(run_tool({"manual", "check"}).out, check);
    const Ran none = run_tool({"manual", "chekc"});
    EXPECT_EQ(none.status, 2);
    EXPECT_TRUE(contains(none.err, "chekc")) << none.err;
    const Ran groff = run_program({"sh", "-c", "groff -man -Tascii -P-bcou -ww \"$1\"/*.1", "sh", folder.path("man")});
    EXPECT_EQ(groff.status, 0);
    EXPECT_TRUE(contains(groff.out, "SYNOPSIS")) << groff.out;
    EXPECT_EQ(groff.err, "");
}

}  // namespace
}  // namespace selvage::conformance
