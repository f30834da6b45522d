// Every clause has an example.  A call has a verdict on the teaching provider and an answer breaks its clause: here
// they are judged.  Case files are run by conformance/test/examples_test.cc.
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

// A call, a case file or an answer that breaks it; what nobody can see has the reason instead.
TEST(Examples, EveryClauseHasOneOrSaysWhyNot) {
    const std::set<std::string_view> without = {
        // They speak of an object that was opened, which no call as text holds.
        "getinfo.addresses.handle-null", "getinfo.addresses.instance-narrows", "getinfo.addresses.other-handle",
        // The bundled library has no datagrams, no limit of messages, no memory override, and takes no more
        // values in one atomic than may be injected.
        "domain.rm.overrun-datagram", "domain.rm.target-datagram", "msg.length.limit", "rma.length.limit",
        "domain.set-ops.hmem-null", "domain.set-ops.hmem-size", "atomic.inject.limit",
        // No mutant swallows the event of a registration.
        "domain.bind.mr-async",
        // The header's own fi_domain2 calls fi_domain: no library is asked.
        "domain.open.flags-zero"};
    for (const ClauseText& c : clauses()) {
        const bool has = !c.example_call.empty() || !c.example_case.empty() || find_breach(c.clause) != nullptr;
        EXPECT_TRUE(has || !c.unseen.empty() || without.contains(c.id)) << c.id << " has no example";
        EXPECT_FALSE(has && without.contains(c.id)) << c.id << " has an example";
    }
}

}  // namespace
}  // namespace selvage::model
