// Every example of spec/ is a call with a verdict on the teaching provider.  Here they are judged.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>

#include "model/judge/judge.h"
#include "model/spec/breach.h"
#include "model/spec/clause.h"
#include "model/text/call_text.h"
#include "model/text/profile_text.h"

namespace selvage::model {
namespace {

Profile teaching(Version version) {
    std::ifstream file(SELVAGE_SPEC_DIR "/profiles/teaching.toml");
    std::stringstream text;
    text << file.rdbuf();
    Profile out;
    std::string error;
    EXPECT_TRUE(parse_profile(text.str(), version, out, error)) << error;
    return out;
}

std::string chain(const Verdict& verdict) {
    std::string out;
    for (const Because& b : verdict.because) {
        out += "\n    ";
        out += clause_text(b.clause).id;
        out += ": " + print_evidence(b.evidence);
    }
    return out;
}

TEST(Examples, AreCallsThatCanBeRead) {
    for (const ClauseText& c : clauses()) {
        if (c.example_call.empty()) continue;
        Query query;
        TextError error;
        EXPECT_TRUE(parse_call(c.example_call, query, error))
            << c.id << ": " << c.example_call << "\n  at " << error.at << ": " << error.message;
    }
}

TEST(Examples, GetTheVerdictThatTheirClauseStates) {
    std::size_t judged = 0;
    for (const ClauseText& c : clauses()) {
        Query query;
        TextError error;
        if (c.example_call.empty() || !parse_call(c.example_call, query, error)) continue;
        const Verdict verdict = expect(query, World{}, teaching(query.version));
        EXPECT_EQ(name(verdict.kind), c.example_expect) << c.id << ": " << c.example_call << chain(verdict);
        ++judged;
    }
    EXPECT_GT(judged, 100U) << "the examples are gone";
}

TEST(Examples, OfMatchClausesAreHeldForTheVersionsOfTheClause) {
    for (const ClauseText& c : clauses()) {
        Query query;
        TextError error;
        const bool call_rule = c.judges == Judges::Query || c.judges == Judges::Match;
        if (!call_rule || c.example_call.empty() || !parse_call(c.example_call, query, error)) continue;
        EXPECT_TRUE(c.since <= query.version && query.version <= c.until) << c.id << ": " << c.example_call;
    }
}

// The clauses that an answer breaks if an offer comes for a call, both as text.
std::vector<std::string> broken_by(const Breach& breach) {
    Query query;
    Info offer;
    TextError error;
    EXPECT_TRUE(parse_call(breach.call, query, error)) << breach.call << ": " << error.message;
    EXPECT_TRUE(parse_hints(breach.offer, offer, error)) << breach.offer << ": " << error.message;
    Tally tally;
    std::vector<Because> because;
    judge(query, World{}, {.ret = 0, .list_null = false, .offers = {offer}}, nullptr, tally, because);
    std::vector<std::string> out;
    for (const Because& b : because)
        if (!b.supporting) out.emplace_back(clause_text(b.clause).id);
    return out;
}

TEST(Examples, TheOfferOfABreachBreaksItsClause) {
    for (const Breach& b : breaches()) {
        const auto broken = broken_by(b);
        EXPECT_TRUE(std::ranges::find(broken, clause_text(b.clause).id) != broken.end())
            << clause_text(b.clause).id << ": " << b.call << " with {" << b.offer << "}";
    }
}

TEST(Examples, EveryClauseOnOffersHasABreach) {
    for (const ClauseText& c : clauses()) {
        // An object that was opened is no text.
        if (c.judges != Judges::Offer || c.id == "getinfo.addresses.pep-handle-kept") continue;
        EXPECT_NE(find_breach(c.clause), nullptr) << c.id << " has no breach in spec/breaches.toml";
    }
}

TEST(Examples, EveryClauseOnCallsHasAnExample) {
    // What they speak of is no text either: an object that was opened, a handle.
    const std::set<std::string_view> of_objects = {
        "getinfo.addresses.handle-null", "getinfo.addresses.instance-narrows", "getinfo.addresses.other-handle"};
    for (const ClauseText& c : clauses()) {
        if ((c.judges != Judges::Query && c.judges != Judges::Match) || of_objects.contains(c.id)) continue;
        EXPECT_FALSE(c.example_call.empty()) << c.id << " has no example";
    }
}

}  // namespace
}  // namespace selvage::model
