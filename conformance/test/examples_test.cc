// The examples of the clauses that are case files: the bundled library keeps them, and a library that breaks the clause
// shows there what the example says that it would.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <sstream>

#include "conformance/case/case_text.h"
#include "conformance/test/tool_util.h"
#include "model/spec/clause.h"

namespace selvage::conformance {
namespace {

using model::ClauseText;

std::vector<const ClauseText*> with_cases() {
    std::vector<const ClauseText*> out;
    for (const ClauseText& c : model::clauses())
        if (!c.example_case.empty()) out.push_back(&c);
    return out;
}

Case read_example(const ClauseText& clause) {
    CaseFile file;
    CaseError error;
    EXPECT_TRUE(parse_case(clause.example_case, file, error)) << clause.id << ": " << error.str();
    EXPECT_EQ(file.clause, clause.clause) << clause.id;
    return file.shown;
}

TEST(Examples, EachCaseFileCanBeReadAndNamesItsClause) {
    EXPECT_GT(with_cases().size(), 300U) << "the examples are gone";
    for (const ClauseText* c : with_cases()) read_example(*c);
}

TEST(Examples, ACaseFileIsPrintedForReplay) {
    const Ran printed = run_tool({"clauses", "--case", "tostr.type.caps"});
    EXPECT_EQ(printed.out, model::find_clause("tostr.type.caps")->example_case);
    const Ran none = run_tool({"clauses", "--case", "getinfo.caps.msg-both-ways"});
    EXPECT_EQ(none.status, 2);
    EXPECT_TRUE(contains(none.err, "getinfo.caps.msg-both-ways")) << none.err;
}

#ifdef SELVAGE_MUTANT_FOLDER
// The examples of the clauses of one area.
class ExamplesOf : public testing::TestWithParam<const char*> {
protected:
    static std::vector<const ClauseText*> all() {
        std::vector<const ClauseText*> out;
        for (const ClauseText* c : with_cases())
            if (c->id.starts_with(GetParam())) out.push_back(c);
        return out;
    }
};

TEST_P(ExamplesOf, TheBundledLibraryKeeps) {
    const Folder folder;
    std::vector<std::string> command = {"replay", "--as-is", "--library", SELVAGE_OWN_LIBRARY};
    for (const ClauseText* c : all()) command.push_back(folder.write(std::string(c->id) + ".case", c->example_case));
    const Ran ran = run_tool(command);
    EXPECT_EQ(ran.status, 0) << ran.err;
    EXPECT_FALSE(contains(ran.out, "\nbroken ")) << ran.out;
}

// Which mutants break which clause, as mutant_score lists them.
std::multimap<std::string, std::string> mutants_by_clause() {
    std::multimap<std::string, std::string> out;
    const Ran ran = run_program({SELVAGE_MUTANT_FOLDER "/../mutant_score", "--list"});
    std::istringstream in(ran.out);
    for (std::string line; std::getline(in, line);) {
        std::istringstream words(line.substr(0, line.find(": ")));
        std::string name;
        words >> name;
        for (std::string word; words >> word;)
            if (word != "or") out.emplace(word, name);
    }
    return out;
}

// True if a mutant shows there that it breaks the clause, in the words of the example.
bool shown_by(const std::string& mutant, const ClauseText& clause) {
    const Ran ran =
        run_tool({"replay", "--as-is", "--library", SELVAGE_MUTANT_FOLDER "/libmutant-" + mutant + ".so", "-"}, {},
                 clause.example_case);
    return contains(ran.out, "broken " + std::string(clause.id) + ": " + std::string(clause.example_shows) + "\n");
}

TEST_P(ExamplesOf, AMutantThatBreaksTheClauseShowsWhatTheExampleSays) {
    const auto mutants = mutants_by_clause();
    for (const ClauseText* c : all()) {
        if (contains(c->example_case, "concurrent = yes")) continue;  // shown at times
        const auto [first, last] = mutants.equal_range(std::string(c->id));
        EXPECT_TRUE(std::any_of(first, last, [&](const auto& m) { return shown_by(m.second, *c); })) << c->id;
    }
}

constexpr const char* kAreas[] = {"atomic.", "av.",       "av-set.", "cm.",     "cntr.",    "collective.", "cq.",
                                  "domain.", "endpoint.", "eq.",     "fabric.", "getinfo.", "mr.",         "msg.",
                                  "poll.",   "rma.",      "tagged.", "tostr.",  "trigger."};
INSTANTIATE_TEST_SUITE_P(Areas, ExamplesOf, testing::ValuesIn(kAreas), [](const auto& area) {
    std::string name(area.param, std::strlen(area.param) - 1);
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
});
#endif

}  // namespace
}  // namespace selvage::conformance
