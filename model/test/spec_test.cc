// The spec is sound, and a spec that is not is told so.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "model/spec/clause.h"
#include "model/specc/spec.h"

namespace selvage::specc {
namespace {

// The smallest sound spec: one page of one sentence, one clause that cites it.
Spec small() {
    Spec spec;
    Page page;
    page.name = "page.3-1.0";
    page.complete = true;
    page.sentences.push_back({"1", 3, "aaaa", ""});
    spec.pages.push_back(page);
    Clause c;
    c.id = "getinfo.caps.some-words";
    c.title = "Something";
    c.level = "must";
    c.judges = "offer";
    c.source = {"page.3-1.0:1"};
    c.promise = "Something is kept.";
    c.file = "file.toml";
    spec.clauses.push_back(c);
    return spec;
}

bool tells(const Spec& spec, const std::string& what) {
    const auto problems = check(spec);
    const bool told = std::any_of(problems.begin(), problems.end(),
                                  [&](const std::string& p) { return p.find(what) != std::string::npos; });
    if (!told) {
        for (const auto& p : problems) ADD_FAILURE() << "told instead: " << p;
    }
    return told;
}

// A spec of one file of clauses, read as spec/ is.
Spec read(const std::string& clauses) {
    // Tests run beside one another, each in a process of its own.
    const auto root = std::filesystem::path(testing::TempDir()) / ("selvage_spec_test." + std::to_string(::getpid()));
    for (const char* folder : {"vocabulary", "pages", "clauses"}) std::filesystem::create_directories(root / folder);
    std::ofstream(root / "clauses" / "file.toml") << clauses;
    Spec spec;
    try {
        spec = load(root);
    } catch (...) {
        std::filesystem::remove_all(root);
        throw;
    }
    std::filesystem::remove_all(root);
    return spec;
}

// What is said of a file that cannot be read, without the name of its folder.
std::string refusal(const std::string& clauses) {
    try {
        read(clauses);
    } catch (const std::exception& e) {
        const std::string what = e.what();
        return what.substr(what.find("file.toml"));
    }
    return "it was read";
}

constexpr const char* kReading = R"([[reading]]
name = "shared"
says = ["what all say"]
reading = "one way"
why = "because"
)";
constexpr const char* kFamily = R"([[family]]
id = "getinfo.caps.{name}"
title = "On {name}"
level = "must"
judges = "offer"
source = ["page.3-1.0:{at}", "page.3-1.0:9"]
promise = "{name} is kept."
needs = ["caps has {name}"]
example = { call = "version=1.17 hints={caps={name}}", expect = "granted" }
)";

TEST(Spec, IsSound) {
    const Spec spec = load(SELVAGE_SPEC_DIR);
    for (const auto& problem : check(spec)) ADD_FAILURE() << problem;
    EXPECT_FALSE(spec.clauses.empty());
    EXPECT_FALSE(spec.families.empty());
}

TEST(Spec, AccountsForEverySentenceOfThePages) {
    const Spec spec = load(SELVAGE_SPEC_DIR);
    EXPECT_TRUE(uncited(spec).empty());
    std::vector<std::string> complete;
    for (const auto& p : spec.pages) {
        if (p.complete) complete.push_back(p.name);
    }
    for (const char* page :
         {"fi_getinfo.3-1.18.1", "fi_getinfo.3-1.6.2", "fi_fabric.3-1.18.1", "fi_domain.3-1.17.0", "fi_msg.3-1.17.0",
          "fi_tagged.3-1.17.0", "fi_rma.3-1.17.0", "fi_atomic.3-1.17.0", "fi_cq.3-1.17.0", "fi_cntr.3-1.17.0"}) {
        EXPECT_NE(std::find(complete.begin(), complete.end(), page), complete.end()) << page;
    }
}

TEST(Spec, IsTheOneThatWasCompiled) {
    const Spec spec = load(SELVAGE_SPEC_DIR);
    ASSERT_EQ(spec.clauses.size(), model::clauses().size());
    for (const auto& c : spec.clauses) {
        const auto* compiled = model::find_clause(c.id);
        ASSERT_NE(compiled, nullptr) << c.id;
        EXPECT_EQ(compiled->promise, c.promise) << c.id;
        EXPECT_EQ(model::name(compiled->judges), c.judges) << c.id;
        EXPECT_EQ(compiled->source.size(), c.source.size()) << c.id;
    }
    EXPECT_EQ(model::find_clause("getinfo.caps.no-such-words"), nullptr);
}

TEST(Spec, SmallOneIsSound) { EXPECT_TRUE(check(small()).empty()); }

TEST(Spec, TellsAnUnknownSource) {
    Spec spec = small();
    spec.clauses[0].source.push_back("page.3-1.0:2");
    EXPECT_TRUE(tells(spec, "cites page.3-1.0:2, which no page index holds"));
    spec.clauses[0].source.clear();
    EXPECT_TRUE(tells(spec, "cites no source"));
}

TEST(Spec, TellsASentenceThatNobodyCites) {
    Spec spec = small();
    spec.pages[0].sentences.push_back({"2", 3, "bbbb", ""});
    EXPECT_TRUE(tells(spec, "page.3-1.0:2: neither cited by a clause nor listed as prose"));
    spec.pages[0].sentences[1].prose = "heading";
    EXPECT_TRUE(check(spec).empty());
    spec.pages[0].sentences[1].prose = "gossip";
    EXPECT_TRUE(tells(spec, "prose 'gossip' is no kind of prose"));
    spec.pages[0].sentences[1] = {"2", 3, "aaaa", ""};
    EXPECT_TRUE(check(spec).empty()) << "the same words share a citation";
    spec.pages[0].sentences[1] = {"2", 3, "bbbb", ""};
    spec.pages[0].complete = false;
    EXPECT_TRUE(check(spec).empty()) << "only complete pages are held to it";
}

TEST(Spec, TellsABadId) {
    for (const char* id :
         {"getinfo.caps", "other.caps.words", "getinfo.Caps.words", "getinfo.caps.two.many", "getinfo.caps.a--b"}) {
        Spec spec = small();
        spec.clauses[0].id = id;
        EXPECT_TRUE(tells(spec, "an id is area.topic.words")) << id;
    }
    Spec twice = small();
    twice.clauses.push_back(twice.clauses[0]);
    EXPECT_TRUE(tells(twice, "is defined twice"));
}

TEST(Spec, TellsAClauseWithoutATitle) {
    EXPECT_EQ(
        refusal("[[clause]]\nid = \"getinfo.caps.one\"\nlevel = \"must\"\njudges = \"offer\"\npromise = \"Kept.\"\n"),
        "file.toml:1: needs the key 'title'");
}

TEST(Spec, TellsATitleThatIsNone) {
    Spec spec = small();
    spec.clauses[0].title = "Something is kept.";
    EXPECT_TRUE(tells(spec, "the title is the promise again"));
    EXPECT_TRUE(tells(spec, "is no short line without a full stop"));
    spec.clauses[0].title = std::string(61, 'a');
    EXPECT_TRUE(tells(spec, "is no short line without a full stop"));
}

TEST(Spec, TellsTwoClausesOfOneTitle) {
    Spec spec = small();
    spec.clauses.push_back(spec.clauses[0]);
    spec.clauses[1].id = "getinfo.caps.other-words";
    EXPECT_TRUE(tells(spec, "getinfo.caps.other-words has the title of getinfo.caps.some-words"));
}

TEST(Spec, TellsUnknownWordsInAClause) {
    const auto tampered = [](auto&& change) {
        Spec spec = small();
        change(spec.clauses[0]);
        return spec;
    };
    EXPECT_TRUE(tells(tampered([](Clause& c) { c.level = "shall"; }), "level 'shall'"));
    EXPECT_TRUE(tells(tampered([](Clause& c) { c.judges = "nobody"; }), "judges 'nobody'"));
    EXPECT_TRUE(tells(tampered([](Clause& c) { c.judges = "none"; }), "`unseen` go together"));
    EXPECT_TRUE(tells(tampered([](Clause& c) { c.unseen = "it is dark"; }), "`unseen` go together"));
    EXPECT_TRUE(tells(tampered([](Clause& c) {
                          c.example = Example{"version=1.17", "allowed"};
                      }),
                      "example expects 'allowed'"));
}

TEST(Spec, TellsUnknownWordsInTheVocabulary) {
    Spec spec = small();
    WordFamily caps;
    caps.name = "caps";
    caps.bits = true;
    caps.words.resize(1);
    caps.words[0].name = "FI_READ";
    caps.words[0].needs = {"FI_RMA"};
    spec.families.push_back(caps);
    EXPECT_TRUE(tells(spec, "FI_READ names the unknown word FI_RMA"));
    spec.families[0].words[0].needs.clear();
    spec.families[0].words.push_back(spec.families[0].words[0]);
    EXPECT_TRUE(tells(spec, "FI_READ is listed twice"));
}

TEST(Spec, ExpandsAFamilyIntoAClauseForEachMember) {
    const Spec spec = read(std::string(kFamily) + R"(
member = [
    { name = "one", at = "1" },
    { name = "two", at = "2", source = ["page.3-1.0:3"], needs = ["nic"], since = "1.5", level = "should" },
]
)");
    ASSERT_EQ(spec.clauses.size(), 2U);
    const Clause& one = spec.clauses[0];
    EXPECT_EQ(one.id, "getinfo.caps.one");
    EXPECT_EQ(one.source, (std::vector<std::string>{"page.3-1.0:1", "page.3-1.0:9"}));
    EXPECT_EQ(one.promise, "one is kept.");
    EXPECT_EQ(one.title, "On one");
    EXPECT_EQ(one.example->call, "version=1.17 hints={caps=one}") << "other braces are left as they are";
    EXPECT_EQ(one.level + one.since, "must1.0");
    const Clause& two = spec.clauses[1];
    EXPECT_EQ(two.source, (std::vector<std::string>{"page.3-1.0:3", "page.3-1.0:2", "page.3-1.0:9"}));
    EXPECT_EQ(two.needs, (std::vector<std::string>{"caps has two", "nic"}));
    EXPECT_EQ(two.level + two.since, "should1.5");
}

TEST(Spec, PutsASharedReadingBeforeWhatAClauseSaysItself) {
    const Spec spec = read(std::string(kReading) + kFamily + R"(
dispute = "shared"
member = [{ name = "one", at = "1" }, { name = "two", at = "2", dispute = { says = ["its own"], why = "other" } }]
)");
    const Dispute& one = *spec.clauses[0].dispute;
    EXPECT_EQ(one.says, std::vector<std::string>{"what all say"});
    EXPECT_EQ(one.reading + one.why, "one waybecause");
    const Dispute& two = *spec.clauses[1].dispute;
    EXPECT_EQ(two.says, (std::vector<std::string>{"what all say", "its own"}));
    EXPECT_EQ(two.reading + two.why, "one wayother");
}

TEST(Spec, TellsAMemberThatLacksAWord) {
    EXPECT_EQ(refusal(std::string(kFamily) + "member = [{ name = \"one\" }]\n"),
              "file.toml:10: a member of the family needs the word 'at'");
}

TEST(Spec, TellsAWordThatNoPatternHas) {
    EXPECT_EQ(refusal(std::string(kFamily) + "member = [{ name = \"one\", at = \"1\", sinse = \"1.5\" }]\n"),
              "file.toml:10: no pattern of the family has the word 'sinse'");
}

TEST(Spec, TellsAFamilyWithoutMembers) { EXPECT_EQ(refusal(kFamily), "file.toml:1: a family needs members"); }

TEST(Spec, TellsAMemberThatLacksAKey) {
    EXPECT_EQ(refusal("[[family]]\nlevel = \"must\"\njudges = \"offer\"\ntitle = \"One\"\nmember = [{ id = "
                      "\"getinfo.caps.one\" }]\n"),
              "file.toml:5: needs the key 'promise'");
}

TEST(Spec, TellsTwoMembersOfOneId) {
    const Spec twice =
        read(std::string(kFamily) + "member = [{ name = \"one\", at = \"1\" }, { name = \"one\", at = \"2\" }]\n");
    EXPECT_TRUE(tells(twice, "file.toml: getinfo.caps.one is defined twice"));
}

TEST(Spec, TellsAnUnknownReading) {
    EXPECT_EQ(refusal(std::string(kFamily) + "dispute = \"shered\"\nmember = [{ name = \"one\", at = \"1\" }]\n"),
              "file.toml:11: unknown reading 'shered'");
}

TEST(Spec, TellsAReadingThatNobodyHas) {
    EXPECT_TRUE(tells(read(kReading), "no clause has the reading 'shared'"));
    EXPECT_EQ(refusal(std::string(kReading) + kReading), "file.toml:6: the reading 'shared' is defined twice");
}

TEST(Spec, TellsTwoClausesThatWriteOutTheSameReading) {
    Spec spec = small();
    spec.clauses[0].dispute = Dispute{"", {"this", "that"}, "one way", "because"};
    spec.clauses.push_back(spec.clauses[0]);
    spec.clauses[1].id = "getinfo.caps.other-words";
    spec.clauses[1].title = "Another thing";
    EXPECT_TRUE(tells(spec, "getinfo.caps.other-words repeats the reading of getinfo.caps.some-words"));
    for (Clause& c : spec.clauses) c.family = "file.toml:1";
    EXPECT_TRUE(check(spec).empty()) << "a family has written it once";
}

// What is said of a need, in a spec that knows the words of caps and one clause that nothing judges.
std::string need_told(const std::string& need) {
    Spec spec = small();
    WordFamily caps;
    caps.name = "caps";
    caps.words.resize(2);
    caps.words[0].name = "FI_MSG";
    caps.words[1].name = "FI_RMA";
    spec.families.push_back(caps);
    spec.clauses[0].needs = {need};
    spec.clauses.push_back(spec.clauses[0]);
    spec.clauses[1].id = "getinfo.caps.never-seen";
    spec.clauses[1].title = "Never seen";
    spec.clauses[1].judges = "none";
    spec.clauses[1].unseen = "it is dark";
    spec.clauses[1].needs.clear();
    const auto problems = check(spec);
    if (problems.empty()) return "";
    const std::string start = "file.toml: getinfo.caps.some-words: needs '" + need + "': ";
    return problems[0].starts_with(start) ? problems[0].substr(start.size()) : problems[0];
}

TEST(Spec, TakesEveryKindOfNeed) {
    for (const char* need :
         {"tx_attr.size above 8", "caps has FI_MSG|FI_RMA", "caps has any", "caps lacks FI_MSG", "mode insists on any",
          "opens cq", "kept getinfo.caps.some-words", "granted getinfo.caps.some-words",
          "until getinfo.caps.some-words: nobody asked", "once getinfo.caps.some-words: it was rare", "nic",
          "connectionless", "connected", "sockets", "layered", "names-itself", "override", "shortage"})
        EXPECT_EQ(need_told(need), "") << need;
}

TEST(Spec, TellsWhatIsWrongWithANeed) {
    EXPECT_EQ(need_told("tx_attr.sise above 8"), "'tx_attr.sise' is no field of numbers");
    EXPECT_EQ(need_told("caps has FI_MSG|FI_MGS"), "'FI_MGS' is no word of caps");
    EXPECT_EQ(need_told("caps has"), "names no word");
    EXPECT_EQ(need_told("caps above 1"), "'above' takes a field of numbers and a number");
    EXPECT_EQ(need_told("tx_attr.size above many"), "'above' takes a field of numbers and a number");
    EXPECT_EQ(need_told("caps is FI_MSG"), "'is' takes a field of one word");
    EXPECT_EQ(need_told("ep_attr.type has any"), "'has' takes a field of bits");
    EXPECT_EQ(need_told("caps insists on FI_MSG"), "an offer insists on bits of mode or domain_attr.mr_mode alone");
    EXPECT_EQ(need_told("opens sesame"), "'sesame' is no class of objects");
    EXPECT_EQ(need_told("kept getinfo.caps.no-such"), "'getinfo.caps.no-such' is no clause that is judged");
    EXPECT_EQ(need_told("until getinfo.caps.never-seen: it is dark"),
              "'getinfo.caps.never-seen' is no clause that is judged");
    EXPECT_EQ(need_told("once getinfo.caps.some-words"), "gives no reason");
    EXPECT_EQ(need_told("luck"), "says nothing that is known");
}

TEST(Spec, MakesIdentifiersOfIds) {
    EXPECT_EQ(identifier("getinfo.caps.read-needs-partner"), "getinfo_caps_read_needs_partner");
}

}  // namespace
}  // namespace selvage::specc
