// The tool as a person meets it: bad input gives one clear line and exit 2, help teaches, output is plain off a
// terminal.
#include <gtest/gtest.h>

#include <sstream>

#include "conformance/test/subject_util.h"
#include "conformance/test/tool_util.h"
#include "model/spec/clause.h"

namespace selvage::conformance {
namespace {

using Arguments = std::vector<std::string>;

const Arguments kQuick = {
    "check", "--no-compiler", "--provider", "shm", "--cases", "20", "--clause", "getinfo.caps.msg-both-ways"};

Arguments quick(const Arguments& more) {
    Arguments out = kQuick;
    out.insert(out.end(), more.begin(), more.end());
    return out;
}

TEST(BadInput, AMissingLibraryIsNamed) {
    for (const char* command : {"check", "explain", "info", "profile"}) {
        expect_refusal({command, "--library", "/no/such/lib.so"}, "/no/such/lib.so");
    }
}

TEST(BadInput, AFileThatIsNoLibraryIsNamed) {
    const Folder folder;
    const auto text = folder.write("text.so", "I am no library\n");
    expect_refusal({"check", "--library", text}, text);
    expect_refusal({"check", "--library", folder.write("empty.so", "")}, "empty.so");
    expect_refusal({"check", "--library", folder.path(".")}, "directory");
    expect_refusal({"check", "--library", text, "--dryrun"}, text);
}

TEST(BadInput, ALibraryWithoutTheInterfaceIsNamed) {
    expect_refusal({"check", "--library", broken_library("not_fabric")}, "fi_getinfo");
}

TEST(BadInput, ALibraryThatCrashesWhenLoadedIsNamed) {
    expect_refusal({"check", "--library", broken_library("crash_at_load")}, "loaded");
}

TEST(BadInput, AnUnknownProviderIsNamedWithTheKnownOnes) {
    for (const char* command : {"check", "explain", "profile"}) {
        expect_refusal({command, "--library", broken_library("hostile"), "--provider", "tpc"}, "it has fake");
    }
}

// The system's library has this one behind its name only: no list of it shows it.
TEST(Providers, OneThatNoListShowsIsJudgedWhenItAnswersToItsName) {
    const Ran ran = run_tool({"check", "--provider", "sockets;ofi_rxm", "--dryrun"});
    EXPECT_EQ(ran.status, 0) << ran.err;
    EXPECT_TRUE(contains(ran.out, "provider  sockets;ofi_rxm\n")) << ran.out;
}

TEST(BadInput, ABadVersionIsNamed) {
    for (const char* bad : {"1.x", "seventeen", "1", "1.17.1", "-1.2"}) {
        expect_refusal({"explain", "--version", bad}, "MAJOR.MINOR");
        expect_refusal({"profile", "--api", bad}, "MAJOR.MINOR");
    }
}

TEST(BadInput, AWrongWordOfTheCommandLineIsNamedWithTheHelpThatTellsTheRightOnes) {
    expect_refusal({"chek", "--provider", "shm"}, "there is no command chek (selvage --help lists them)");
    expect_refusal({"check", "--provder", "shm"}, "selvage check has no option --provder (selvage check --help lists");
    expect_refusal({"check", "--provider"}, "(selvage check --help tells the options)");
    expect_refusal({"bench", "getinfo", "--fast"}, "selvage bench getinfo has no option --fast (");
    expect_refusal({"explain", "word"}, "word (selvage explain --help tells the options)");
}

// Names of options and examples are as long as they are.
TEST(Output, DescriptionsInHelpAreAsNarrowAsTheTerminal) {
    const std::string margin(30, ' ');
    for (const Arguments& command : {Arguments{"--help"}, {"check", "--help"}, {"explain", "--help"}}) {
        std::istringstream lines(run_tool(command, {"COLUMNS=70"}).out);
        std::size_t described = 0;
        for (std::string line; std::getline(lines, line);) {
            if (!line.starts_with(margin)) continue;
            ++described;
            EXPECT_LE(line.size(), 70U) << line;
        }
        EXPECT_GE(described, 5U) << command.front();
    }
}

TEST(BadInput, AVersionThatIsNotKnownIsRefusedWithThoseThatAre) {
    for (const char* bad : {"3.5", "1.19", "0.9", "0x20000"}) {
        expect_refusal({"explain", "--version", bad}, "versions 1.0 to 1.18 are known");
        expect_refusal({"explain", "--profile", "/nowhere", "--version", bad}, "versions 1.0 to 1.18 are known");
        expect_refusal({"profile", "--api", bad}, "versions 1.0 to 1.18 are known");
    }
}

TEST(BadInput, BadHintsAreShownWithAnArrowAtTheWord) {
    expect_refusal({"explain", "--hints", "caps=FI_MSG|FI_ATOMICZ"}, "caps=FI_MSG| -->FI_ATOMICZ");
    expect_refusal({"explain", "--hints", "caps=FI_MSG|FI_ATOMICZ"}, "FI_ATOMIC");
    expect_refusal({"explain", "--hints", "ep_attr.typ=FI_EP_RDM"}, "-->ep_attr.typ");
    expect_refusal({"explain", "--hints", "caps="}, "at byte 5");
    expect_refusal({"explain", "--hints", "-"}, "-->\\x1b", "\x1b[31mred");
    expect_refusal({"explain", "--call", "version=1.17 hints={caps=FI_MSG"}, "--call");
    expect_refusal({"explain", "--flags", "FI_SAUCE"}, "FI_SAUCE");
}

TEST(BadInput, ALongLineOfHintsIsCutToTheWordsAroundTheFault) {
    const Ran ran =
        run_tool({"explain", "--hints", "caps=FI_MSG" + std::string(5000, ' ') + "|FI_NO" + std::string(5000, ' ')});
    EXPECT_EQ(ran.status, 2);
    EXPECT_LT(ran.err.size(), 400U);
}

TEST(BadInput, AGarbledCaseFileIsNamedWithItsLine) {
    const Folder folder;
    expect_refusal({"replay", folder.path("none.case")}, "none.case");
    expect_refusal({"replay", folder.path(".")}, "folder");
    expect_refusal({"replay", folder.write("empty.case", "")}, "empty.case");
    expect_refusal({"replay", folder.write("words.case", "what is this\n")}, "line 1");
    expect_refusal({"replay", folder.write("clause.case", "selvage-case 1\nclause = no.such\n")}, "line 2: 'no.such'");
    expect_refusal({"replay", folder.write("later.case", "selvage-case 2\nkind = call\n")}, "line 1");
    expect_refusal({"replay", folder.write("noise.case", "\x01\x1b[31m\xff\n\n\x80")}, "noise.case");
    expect_refusal({"replay", "-"}, "-", "selvage-case 1\nkind = riddle\n");
}

TEST(Replay, DoesNotCallKeptWhatCouldNotBeJudged) {
    const Folder folder;
    // Nobody answers its call, so nothing is opened.
    const Ran ran = run_tool({"replay", folder.write("elsewhere.case",
                                                     "selvage-case 1\nkind = lifecycle\nprovider = \"tcp\"\n"
                                                     "call = version=1.17 hints={domain_attr.name=\"nowhere\"}\n"
                                                     "fabric1 = open fabric offer=0\nclose fabric1\n")});
    EXPECT_EQ(ran.status, 2);
    EXPECT_TRUE(contains(ran.err, "nothing could be judged: tcp offers nothing")) << ran.err;
    EXPECT_FALSE(contains(ran.out, "kept")) << ran.out;
}

TEST(BadInput, OneBadCaseFileAmongGoodOnesIsToldBeforeAnythingIsAsked) {
    const Folder folder;
    expect_refusal({"replay", folder.write("good.case", "version=1.17"), folder.write("bad.case", "version=x")},
                   "bad.case");
}

TEST(BadInput, AnUnknownClauseIsNamed) {
    expect_refusal({"check", "--clause", "getinfo.nonsense"}, "getinfo.nonsense");
    expect_refusal({"clauses", "getinfo.nonsense"}, "getinfo.nonsense");
    expect_refusal({"clauses", "getinfo.caps", "getinfo.nonsense"}, "getinfo.nonsense");
}

TEST(BadInput, AnUnknownReportEndingIsRefusedBeforeTheRun) {
    expect_refusal({"check", "--report", "x.pdf"}, ".html");
    expect_refusal({"check", "--report", "report"}, ".html");
}

TEST(BadInput, AReportThatCannotBeWrittenIsToldBeforeTheRun) {
    const Folder folder;
    expect_refusal(quick({"--report", folder.path("none/report.txt")}), "none/report.txt");
    expect_refusal(quick({"--save", folder.write("file", "") + "/cases"}), "--save");
}

TEST(BadInput, UnreadableWaiversAndProfilesAreNamed) {
    const Folder folder;
    expect_refusal({"check", "--waivers", folder.path("none.toml")}, "none.toml");
    expect_refusal({"check", "--waivers", folder.write("bad.toml", "[[waiver]]\nclause = \"no.such\"\n")}, "bad.toml");
    expect_refusal({"check", "--profile", folder.path("none.toml")}, "none.toml");
    expect_refusal({"check", "--profile", folder.write("words.toml", "what is this\n")}, "words.toml: line 1");
}

TEST(BadInput, OptionsThatMakeNoSenseAreNamed) {
    expect_refusal({}, "subcommand");
    expect_refusal({"chek"}, "there is no command chek");
    expect_refusal({"check", "--cases", "0"}, "--cases");
    expect_refusal({"check", "--cases", "many"}, "--cases");
    expect_refusal({"check", "--seed", "-1"}, "--seed");
    expect_refusal({"check", "--provder", "tcp"}, "--provder");
    expect_refusal({"replay"}, "FILE");
}

TEST(Help, EveryCommandTeachesWithAnExample) {
    for (const char* command : {"check", "explain", "replay", "record", "clauses", "info", "profile", "stat", "merge",
                                "diff", "matrix", "findings", "coverage", "verify", "completion", "manual"}) {
        const Ran ran = run_tool({command, "--help"});
        EXPECT_EQ(ran.status, 0) << command;
        EXPECT_TRUE(contains(ran.out, "selvage " + std::string(command) + " ")) << ran.out;
        EXPECT_TRUE(contains(ran.out, "Example:")) << ran.out;
        EXPECT_EQ(ran.err, "") << command;
    }
    const Ran all = run_tool({"--help"});
    EXPECT_EQ(all.status, 0);
    EXPECT_TRUE(contains(all.out, "Start with:"));
    EXPECT_FALSE(contains(all.out, "fresh-names"));
}

TEST(Help, TheVersionIsTold) {
    const Ran ran = run_tool({"--version"});
    EXPECT_EQ(ran.status, 0);
    EXPECT_EQ(lines_of(ran.out), 1U);
}

TEST(Output, HasNoEscapeCodesOffATerminal) {
    for (const Arguments& command :
         {Arguments{"info"}, Arguments{"clauses", "getinfo.caps"}, Arguments{"explain", "--provider", "shm"}}) {
        const Ran ran = run_tool(command);
        EXPECT_EQ(ran.status, 0) << ran.err;
        EXPECT_FALSE(ran.out.empty());
        EXPECT_FALSE(has_escapes(ran.out + ran.err)) << ran.out;
    }
}

// `script` gives the command a terminal.
TEST(Output, OnATerminalNoColorTurnsColoursOff) {
    const std::string command = std::string(SELVAGE_TOOL) + " clauses getinfo.caps.msg-both-ways";
    const Arguments on_terminal = {"script", "-qec", command, "/dev/null"};
    if (run_program({"script", "--version"}).status != 0) GTEST_SKIP() << "script(1) is not installed";
    EXPECT_TRUE(contains(run_program(on_terminal, {"NO_COLOR"}).out, "\x1b[1m"));
    EXPECT_FALSE(contains(run_program(on_terminal, {"NO_COLOR=1"}).out, "\x1b["));
}

TEST(Output, ExplainIsColouredOnATerminalToo) {
    if (run_program({"script", "--version"}).status != 0) GTEST_SKIP() << "script(1) is not installed";
    const std::string command = std::string(SELVAGE_TOOL) + " explain --library " + broken_library("hostile");
    EXPECT_TRUE(contains(run_program({"script", "-qec", command, "/dev/null"}, {"NO_COLOR"}).out, "\x1b[32mgranted"));
}

TEST(Output, ProgressIsOneLineForEachPropertyOffATerminal) {
    const Ran ran = run_tool({"check", "--library", broken_library("hostile"), "--provider", "fake", "--cases", "20",
                              "--clause", "getinfo.memory.returns"});
    EXPECT_FALSE(has_escapes(ran.err)) << ran.err;
    EXPECT_TRUE(contains(ran.err, "random/fake")) << ran.err;
    EXPECT_TRUE(contains(ran.err, "cases")) << ran.err;
}

TEST(Output, OneDeviationIsNoSeveral) {
    const Ran ran = run_tool({"check", "--library", broken_library("hostile"), "--provider", "fake", "--cases", "20",
                              "--first", "--no-compiler", "--clause", "getinfo.memory.dup-equal"});
    EXPECT_TRUE(contains(ran.err, "  1 deviation\n")) << ran.err;
    EXPECT_FALSE(contains(ran.err, " 1 deviations")) << ran.err;
}

TEST(Output, QuietPrintsNothing) {
    const Ran ran = run_tool({"check", "--library", broken_library("hostile"), "--cases", "20", "--clause",
                              "getinfo.memory.returns", "--quiet"});
    EXPECT_EQ(ran.err, "");
    EXPECT_EQ(ran.out, "");
}

TEST(Clauses, EverySentenceOfThePagesIsCitedOrProse) {
    const Ran ran = run_tool({"clauses", "--uncited"});
    EXPECT_EQ(ran.status, 0);
    EXPECT_EQ(ran.out, "");
}

TEST(Clauses, OneIsPrintedInFull) {
    const Ran ran = run_tool({"clauses", "getinfo.caps.msg-both-ways"});
    EXPECT_EQ(ran.status, 0);
    EXPECT_TRUE(ran.out.starts_with("getinfo.caps.msg-both-ways  FI_MSG alone sends and receives\n")) << ran.out;
    EXPECT_TRUE(contains(ran.out, "source   fi_getinfo.3")) << ran.out;
    EXPECT_TRUE(contains(ran.out, "\nwords\n")) << ran.out;
    EXPECT_TRUE(contains(ran.out, "  answer       what a query gets")) << ran.out;
    EXPECT_FALSE(contains(ran.out, "  traffic      ")) << "the clause does not speak of it: " << ran.out;
}

TEST(Clauses, AllAreListedOneOnALine) {
    const Ran ran = run_tool({"clauses"});
    EXPECT_EQ(ran.status, 0);
    EXPECT_GT(lines_of(ran.out), 200U);
    for (const auto& c : model::clauses()) EXPECT_TRUE(contains(ran.out, c.title)) << c.id;
}

}  // namespace
}  // namespace selvage::conformance
