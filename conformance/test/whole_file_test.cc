// Files of the tool are there whole or not at all, also when a run is ended on the way.
#include "conformance/base/whole_file.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <csignal>

#include "conformance/test/subject_util.h"
#include "conformance/test/tool_util.h"

namespace selvage::conformance {
namespace {

namespace fs = std::filesystem;

std::size_t files_in(const Folder& folder) {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder.path(".")), fs::directory_iterator()));
}

TEST(WholeFile, TakesThePlaceOfTheOldOneWithItsPermissions) {
    const Folder folder;
    const auto path = folder.write("report.json", "an old and longer report");
    fs::permissions(path, fs::perms::owner_read | fs::perms::owner_write);
    std::string error;
    EXPECT_TRUE(write_whole_file(path, "new", error)) << error;
    EXPECT_EQ(slurp(path), "new");
    EXPECT_EQ(fs::status(path).permissions(), fs::perms::owner_read | fs::perms::owner_write);
    EXPECT_EQ(files_in(folder), 1U);
}

TEST(WholeFile, ALinkStaysALinkAndADeviceADevice) {
    const Folder folder;
    const auto path = folder.write("report.json", "old");
    fs::create_symlink(path, folder.path("link.json"));
    std::string error;
    EXPECT_TRUE(write_whole_file(folder.path("link.json"), "new", error)) << error;
    EXPECT_TRUE(fs::is_symlink(folder.path("link.json")));
    EXPECT_EQ(slurp(path), "new");
    EXPECT_TRUE(write_whole_file("/dev/null", "new", error)) << error;
    EXPECT_TRUE(fs::is_character_file("/dev/null"));
    EXPECT_FALSE(write_whole_file("/dev/full", "new", error));
    EXPECT_EQ(error, "/dev/full: No space left on device");
}

TEST(WholeFile, WhatCanNotBeWrittenIsKnownBeforehandAndNothingIsLeft) {
    const Folder folder;
    const auto file = folder.write("file", "text");
    EXPECT_EQ(why_not_writable(folder.path("new")), "");
    EXPECT_EQ(why_not_writable(file), "");
    EXPECT_EQ(why_not_writable(folder.path(".")), "is a folder, not a file");
    EXPECT_NE(why_not_writable(folder.path("nowhere/new")), "");
    EXPECT_NE(why_not_writable(file + "/new"), "");
    EXPECT_EQ(why_no_folder(folder.path("a/b/c")), "");
    EXPECT_NE(why_no_folder(file + "/a/b"), "");
    EXPECT_EQ(slurp(file), "text");
    EXPECT_EQ(files_in(folder), 1U);
}

// Ends a check with `signal` as soon as the first of its properties is done; others would take for ever.
Ran check_that_is_ended(const std::string& signal, const Folder& folder, const std::string& options) {
    const std::string check = fmt::format(
        "env --default-signal=INT {} check --no-compiler --library {} --provider fake --cases 1000000000 {}",
        SELVAGE_TOOL, broken_library("hostile"), options);
    const std::string ended =
        fmt::format("{0} 2>{1} & until [ -s {1} ]; do kill -0 $! || exit 99; sleep 0.02; done; kill -{2} $!; wait $!",
                    check, folder.path("progress"), signal);
    return run_program({"sh", "-c", ended}, {"GTEST_FILTER=corpus.*:random.*"});
}

TEST(WholeFile, ACheckThatIsEndedLeavesNoEmptyReportAndTheOldOneAsItWas) {
    for (const auto& [signal, status] : {std::pair("TERM", 128 + SIGTERM), std::pair("INT", 128 + SIGINT)}) {
        const Folder folder;
        const auto old = folder.write("old.json", "an old report");
        const Ran ran =
            check_that_is_ended(signal, folder,
                                fmt::format("--report {} --report {} --report {} --save {}", folder.path("new.json"),
                                            folder.path("new.html"), old, folder.path("cases")));
        EXPECT_EQ(ran.status, status) << slurp(folder.path("progress"));
        EXPECT_EQ(slurp(old), "an old report");
        EXPECT_EQ(files_in(folder), 2U) << "the old report and the progress";
    }
}

TEST(WholeFile, ASubmissionThatWasEndedCanBeMadeAgain) {
    const Folder folder;
    const auto result = folder.path("result");
    EXPECT_EQ(check_that_is_ended("TERM", folder, "--submission " + result).status, 128 + SIGTERM);
    EXPECT_FALSE(fs::exists(result));
}

}  // namespace
}  // namespace selvage::conformance
