// The spec is sound, and a spec that is not is told so.
#include <gtest/gtest.h>

#include <algorithm>

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
    c.level = "must";
    c.status = "clear";
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

TEST(Spec, TellsUnknownWordsInAClause) {
    const auto tampered = [](auto&& change) {
        Spec spec = small();
        change(spec.clauses[0]);
        return spec;
    };
    EXPECT_TRUE(tells(tampered([](Clause& c) { c.level = "shall"; }), "level 'shall'"));
    EXPECT_TRUE(tells(tampered([](Clause& c) { c.status = "odd"; }), "status 'odd'"));
    EXPECT_TRUE(tells(tampered([](Clause& c) { c.judges = "nobody"; }), "judges 'nobody'"));
    EXPECT_TRUE(tells(tampered([](Clause& c) { c.judges = "none"; }), "`unseen` go together"));
    EXPECT_TRUE(tells(tampered([](Clause& c) { c.unseen = "it is dark"; }), "`unseen` go together"));
    EXPECT_TRUE(tells(tampered([](Clause& c) { c.status = "disputed"; }), "[clause.dispute] go together"));
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

TEST(Spec, MakesIdentifiersOfIds) {
    EXPECT_EQ(identifier("getinfo.caps.read-needs-partner"), "getinfo_caps_read_needs_partner");
}

}  // namespace
}  // namespace selvage::specc
