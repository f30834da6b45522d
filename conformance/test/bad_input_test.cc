// Every command with files that are missing, empty, cut off, folders or no files of their kind, with outputs that can't
// be written, and with numbers that make no sense: one line that names it, exit 2, and nothing done.
#include <gtest/gtest.h>

#include "conformance/test/tool_util.h"

namespace selvage::conformance {
namespace {

using Arguments = std::vector<std::string>;

// Puts a file in the place of "@".
Arguments with_file(Arguments arguments, const std::string& file) {
    for (auto& a : arguments)
        if (a == "@") a = file;
    return arguments;
}

// A file that no command can take, whatever it reads.
class BadFiles : public testing::Test {
protected:
    [[nodiscard]] std::vector<std::string> files() const {
        std::filesystem::create_directory(folder_.path("folder"));
        return {folder_.path("missing"), folder_.path("folder"),
                folder_.write("cut.json", R"({"selvage": {"version":)"), folder_.write("object.json", "{}"),
                folder_.write("noise", std::string("\x7f\x45LF\0\1\2", 7))};
    }
    void expect_each_refused(const std::vector<Arguments>& commands) const {
        for (const auto& file : files())
            for (const auto& command : commands) expect_refusal(with_file(command, file), file);
    }

    Folder folder_;
};

TEST_F(BadFiles, AsReportsAreRefusedByEveryCommandThatReadsThem) {
    expect_each_refused({{"diff", "@", "@"}, {"matrix", "@"}, {"merge", "@"}, {"coverage", "@"}, {"findings", "@"}});
}

TEST_F(BadFiles, AsCasesTracesAndCountersAreRefused) {
    expect_each_refused({{"replay", "@"}, {"replay", "--c", "@"}, {"stat", "--file", "@"}});
}

TEST_F(BadFiles, AsProfilesAndWaiversAreRefused) {
    expect_each_refused({{"check", "--provider", "shm", "--dryrun", "--profile", "@"},
                         {"check", "--provider", "shm", "--dryrun", "--waivers", "@"},
                         {"explain", "--profile", "@", "--hints", ""},
                         {"profile", "--diff", "@"}});
}

TEST_F(BadFiles, AsLibrariesAreRefused) {
    const auto good = folder_.write("good.case", "version=1.17");
    expect_each_refused({{"check", "--dryrun", "--library", "@"},
                         {"info", "--library", "@"},
                         {"explain", "--library", "@"},
                         {"profile", "--library", "@"},
                         {"replay", good, "--library", "@"},
                         {"record", "--library", "@", "--", "true"},
                         {"bench", "getinfo", "--library", "@"},
                         {"bench", "getinfo", "--against", "@"}});
}

TEST_F(BadFiles, AsResultsAndHistoriesAreRefusedBeforeAnythingIsMeasured) {
    expect_each_refused({{"verify", "@"}, {"bench", "getinfo", "--compare", "@"}});
}

TEST(BadOutput, IsRefusedBeforeTheRun) {
    const Folder folder;
    const auto file = folder.write("file", "");
    const auto nowhere = folder.path("nowhere/x.json");
    const Arguments quick = {"check",    "--provider", "shm", "--cases", "1", "--clause", "getinfo.caps.msg-both-ways",
                             "--report", "@"};
    for (const auto& output : {nowhere, file + "/x.json"}) {
        for (const Arguments& command :
             {quick, Arguments{"record", "--output", "@", "--", "true"}, Arguments{"bench", "getinfo", "--report", "@"},
              Arguments{"bench", "getinfo", "--history", "@"}})
            expect_refusal(with_file(command, output), output);
    }
    expect_refusal({"record", "--output", folder.path("."), "--", "true"}, "is a folder");
    expect_refusal({"manual", "--output", file + "/x"}, file);
}

TEST(BadOutput, AnAnswerThatIsLostIsNoSuccess) {
    for (const char* command : {"clauses", "--help", "completion bash", "manual check"}) {
        const Ran ran = run_program({"sh", "-c", std::string(SELVAGE_TOOL) + " " + command + " > /dev/full"});
        EXPECT_EQ(ran.status, 2) << command;
        EXPECT_EQ(lines_of(ran.err), 1U) << ran.err;
        EXPECT_TRUE(ran.err.starts_with("selvage: ")) << ran.err;
    }
}

TEST(BadNumbers, AreRefusedByTheOptionThatTakesThem) {
    for (const auto* number : {"-1", "1e9", "99999999999999999999999", "abc", "3.5"}) {
        for (const Arguments& command : {Arguments{"check", "--provider", "shm", "--dryrun", "--cases"},
                                         {"check", "--provider", "shm", "--dryrun", "--jobs"},
                                         {"verify", "x", "--sample"},
                                         {"check", "--provider", "shm", "--dryrun", "--processes"},
                                         {"check", "--provider", "shm", "--dryrun", "--shard"},
                                         {"bench", "getinfo", "--pairs"},
                                         {"bench", "getinfo", "--milliseconds"},
                                         {"bench", "transfer", "--cores"},
                                         {"replay", "x", "--seconds"}}) {
            auto with = command;
            with.emplace_back(number);
            expect_refusal(with, command.back());
        }
    }
}

TEST(BadNumbers, CoresAreThoseThatTheProcessMayUse) {
    expect_refusal({"bench", "transfer", "--quick", "--cores", "0,99999"}, "--cores");
    expect_refusal({"bench", "transfer", "--quick", "--cores", "0,0"}, "--cores");
}

TEST(BadNumbers, ASeedIsAWholeNumberOf64Bits) {
    for (const auto* seed : {"-1", "", "seven", "1.5", "18446744073709551616"})
        expect_refusal({"check", "--provider", "shm", "--dryrun", "--seed", seed}, "--seed");
    EXPECT_EQ(run_tool({"check", "--provider", "shm", "--dryrun", "--seed", "18446744073709551615"}).status, 0);
}

}  // namespace
}  // namespace selvage::conformance
