// Profiles that the tool writes: they hold for the library they were taken from, and say where it stops.
#include <gtest/gtest.h>

#include <set>

#include "conformance/test/subject_util.h"
#include "conformance/test/tool_util.h"
#include "model/spec/clause.h"

namespace selvage::conformance {
namespace {

using Arguments = std::vector<std::string>;

// The arguments of a command on a library; an empty path is what the loader finds.
Arguments on(const std::string& library, Arguments arguments) {
    if (!library.empty()) arguments.insert(arguments.end(), {"--library", library});
    return arguments;
}

bool has_provider(const std::string& library, const std::string& provider) {
    return contains(run_tool(on(library, {"check", "--dryrun", "--provider", provider})).out, "provider  " + provider);
}

// Clauses that queries find broken.
std::set<std::string> broken_clauses(const std::string& library, const std::string& provider, Arguments more) {
    const Folder folder;
    Arguments command = {"check",    "--no-compiler",           "--provider", provider, "--cases", "3000", "--quiet",
                         "--report", folder.path("report.json")};
    command.insert(command.end(), more.begin(), more.end());
    const Ran ran = run_tool(on(library, command), {"GTEST_FILTER=random.*:classes.*"});
    EXPECT_NE(ran.status, 2) << ran.err;
    std::set<std::string> out;
    for (const auto& d : read_report(folder.path("report.json")).deviations)
        out.insert(std::string(model::clause_text(d.clause).id));
    return out;
}

// Promises that a library is seen to break only where its offers are known in full: names cut short that are taken for
// whole ones, hints without structures that are granted what nobody offers, traffic classes that do not exist.
const std::set<std::string> kNeedsProfile = {"domain.name.fits",
                                             "fabric.name.fits",
                                             "fabric.prov-name.layered",
                                             "getinfo.caps.requested-fits",
                                             "endpoint.tx-caps.granted",
                                             "endpoint.rx-caps.granted",
                                             "getinfo.flags.numeric-name-excluded",
                                             "domain.tclass.fits",
                                             "endpoint.tx-tclass.granted"};

void expect_profile_holds(const std::string& library, const std::string& provider) {
    if (!has_provider(library, provider)) GTEST_SKIP() << "no provider " << provider;
    const Folder folder;
    const Ran written = run_tool(on(library, {"profile", "--provider", provider}));
    ASSERT_EQ(written.status, 0) << written.err;
    const auto file = folder.write("seen.toml", written.out);
    const Ran again = run_tool(on(library, {"profile", "--diff", file}));
    EXPECT_EQ(again.status, 0) << again.err;
    EXPECT_EQ(again.out, "");
    const auto without = broken_clauses(library, provider, {});
    for (const auto& clause : broken_clauses(library, provider, {"--profile", file})) {
        const bool told_by_it_alone = library.empty() && kNeedsProfile.contains(clause);
        EXPECT_TRUE(without.contains(clause) || told_by_it_alone) << clause;
    }
}

TEST(WrittenProfile, HoldsForTheSystemsSharedMemory) { expect_profile_holds("", "shm"); }
TEST(WrittenProfile, HoldsForTheSystemsTcp) { expect_profile_holds("", "tcp"); }
#ifdef SELVAGE_OWN_LIBRARY
TEST(WrittenProfile, HoldsForOurSharedMemory) { expect_profile_holds(SELVAGE_OWN_LIBRARY, "shm"); }
TEST(WrittenProfile, HoldsForOurTcp) { expect_profile_holds(SELVAGE_OWN_LIBRARY, "tcp"); }

TEST(WrittenProfile, SaysWhereTheProviderStops) {
    const Ran written = run_tool(on(SELVAGE_OWN_LIBRARY, {"profile", "--provider", "shm"}));
    ASSERT_EQ(written.status, 0) << written.err;
    for (const char* line : {"api = \"1.18\"", "\"tx_attr.size\" = 65536", "\"rx_attr.size\" = 65536",
                             "\"domain_attr.auth_key_size\" = 64", "\"domain_attr.av_type\" = [\"FI_AV_MAP\""})
        EXPECT_TRUE(contains(written.out, line)) << line << "\n" << written.out;
}

TEST(WrittenProfile, ALimitThatIsNotTheLibrarysIsToldWithBothValues) {
    const Folder folder;
    auto text = run_tool(on(SELVAGE_OWN_LIBRARY, {"profile", "--provider", "shm"})).out;
    const auto at = text.find("\"tx_attr.size\" = 65536");
    ASSERT_NE(at, std::string::npos);
    text.replace(at, 22, "\"tx_attr.size\" = 65535");
    const Ran told = run_tool(on(SELVAGE_OWN_LIBRARY, {"profile", "--diff", folder.write("wrong.toml", text)}));
    EXPECT_EQ(told.status, 1);
    EXPECT_EQ(lines_of(told.out), 1U) << told.out;
    EXPECT_TRUE(contains(told.out, "granted up to 65535, seen granted up to 65536")) << told.out;
}
#endif

TEST(WrittenProfile, ALibraryThatDiesOfOneQuestionIsAskedTheOthers) {
    const auto library = broken_library("hostile");
    for (const char* mood : {"crash:40", "exit:40", "crash:200"}) {
        const Ran ran =
            run_tool({"profile", "--library", library, "--provider", "fake"}, {std::string("HOSTILE=") + mood});
        // The n-th query of each process kills, so it dies of another each time.
        EXPECT_EQ(ran.status, 2) << mood;
        EXPECT_EQ(lines_of(ran.err), 1U) << ran.err;
        EXPECT_TRUE(contains(ran.err, "while it was probed")) << ran.err;
    }
    EXPECT_EQ(run_tool({"profile", "--library", library, "--provider", "fake"}).status, 0);
}

TEST(WrittenProfile, AProfileOfAProviderThatIsNotThereIsRefused) {
    const Folder folder;
    const Ran ran = run_tool({"profile", "--library", broken_library("hostile"), "--diff",
                              folder.write("other.toml", "provider = \"other\"\n")});
    EXPECT_EQ(ran.status, 2);
    EXPECT_TRUE(contains(ran.err, "it has fake")) << ran.err;
}

}  // namespace
}  // namespace selvage::conformance
