// Histories of objects as the page shows them: what must succeed, what must fail and with what, what is open.
#include "model/playground/history.h"

#include <gtest/gtest.h>

#include <fstream>
#include <random>
#include <sstream>

#include "model/spec/clause.h"

namespace selvage::model::playground {
namespace {

std::string teaching() {
    std::ifstream file(SELVAGE_SPEC_DIR "/profiles/teaching.toml");
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
}

// What follows `steps` on the first entry of the teaching profile, reliable datagrams, or another.
Json follow(const std::vector<std::string>& steps, unsigned entry = 0) {
    return answer_history({{"profile", teaching()}, {"entry", entry}, {"steps", steps}});
}

Json move(const Json& answer, const std::string& step) {
    for (const auto& m : answer["moves"])
        if (m["step"] == step) return m;
    ADD_FAILURE() << "no move " << step << " in " << answer.dump(1);
    return {{"words", ""}, {"clauses", Json::array()}};
}

std::string words(const Json& answer, const std::string& step) { return move(answer, step)["words"]; }

const std::vector<std::string> kDomain = {"fabric1 = open fabric offer=0", "domain2 = open domain fabric1"};
const std::vector<std::string> kEndpoint = {"fabric1 = open fabric offer=0", "domain2 = open domain fabric1",
                                            "ep3 = open ep domain2", "cq4 = open cq domain2", "av5 = open av domain2"};

std::vector<std::string> and_then(std::vector<std::string> steps, const std::vector<std::string>& more) {
    steps.insert(steps.end(), more.begin(), more.end());
    return steps;
}

TEST(PlaygroundHistory, WhatIsOpenedWithAnOfferMustSucceed) {
    EXPECT_EQ(words(follow({}), "fabric1 = open fabric offer=0"), "must succeed");
    const Json a = follow(kDomain);
    EXPECT_EQ(a["steps"][1]["clauses"], Json({"domain.open.each-answer"}));
    EXPECT_EQ(a["objects"][1]["parent"], 1);
    EXPECT_EQ(words(a, "close domain2"), "must succeed");
}

TEST(PlaygroundHistory, WhatIsInUseIsNotClosed) {
    const Json a = follow(and_then(kDomain, {"cq3 = open cq domain2"}));
    EXPECT_EQ(words(a, "close fabric1"), "must fail with FI_EBUSY");
    const Json close = move(a, "close domain2");
    EXPECT_EQ(close["words"], "must fail with FI_EBUSY");
    EXPECT_EQ(close["clauses"], Json({"domain.close.busy-cq"}));
    EXPECT_EQ(a["clauses"]["domain.close.busy-cq"]["promise"],
              std::string(find_clause("domain.close.busy-cq")->promise));
}

TEST(PlaygroundHistory, AfterARefusedCloseOnePromiseCounts) {
    const Json a = follow(and_then(kDomain, {"cq3 = open cq domain2", "close domain2"}));
    EXPECT_EQ(a["steps"][3]["ret"], "-FI_EBUSY");
    EXPECT_EQ(a["refused"], "domain2");
    EXPECT_EQ(move(a, "close cq3")["clauses"], Json({"domain.close.whole-after-busy"}));
    EXPECT_EQ(
        words(follow(and_then(kDomain, {"cq3 = open cq domain2", "close domain2", "close cq3"})), "close domain2"),
        "must succeed");
}

TEST(PlaygroundHistory, AnEndpointIsEnabledOnceItHasWhatItNeeds) {
    const Json bare = follow(kEndpoint);
    EXPECT_EQ(words(bare, "enable ep3"), "must fail");
    EXPECT_EQ(words(bare, "ep-bind ep3 cq4 flags=0xc00"), "must succeed");
    const auto bound = and_then(kEndpoint, {"ep-bind ep3 cq4 flags=0xc00", "ep-bind ep3 av5"});
    const Json tied = follow(bound);
    EXPECT_EQ(words(tied, "enable ep3"), "must succeed");
    EXPECT_EQ(tied["objects"][2]["bound"], Json({"cq4", "av5"}));
    EXPECT_EQ(words(tied, "close cq4"), "must fail with FI_EBUSY");
    const Json enabled = follow(and_then(bound, {"enable ep3"}));
    EXPECT_EQ(enabled["objects"][2]["enabled"], true);
}

TEST(PlaygroundHistory, ASecondAddressVectorShouldBeRefused) {
    const Json a = follow(and_then(kEndpoint, {"ep-bind ep3 av5", "av6 = open av domain2"}));
    EXPECT_EQ(words(a, "ep-bind ep3 av6"), "should fail");
}

TEST(PlaygroundHistory, WhatNoClauseDecidesIsTakenAsTheReaderSays) {
    EXPECT_EQ(words(follow(kDomain), "cq3 = open cq domain2"), "no lifecycle clause decides it");
    EXPECT_EQ(follow(and_then(kDomain, {"cq3 = open cq domain2"}))["objects"][2]["state"], "open");
    EXPECT_EQ(follow(and_then(kDomain, {"!cq3 = open cq domain2"}))["objects"][2]["state"], "failed");
    EXPECT_EQ(follow({"!fabric1 = open fabric offer=0"})["where"], "step 1") << "that must succeed";
}

TEST(PlaygroundHistory, RegionsKeepTheKeysThatTheDomainsModePromises) {
    const Json a = follow(and_then(kDomain, {"mr3 = open mr domain2 flags=0x3"}));
    EXPECT_EQ(a["objects"][2]["state"], "open");
    move(a, "mr4 = open mr domain2 flags=0x4");
    move(a, "mr4 = open mr domain2 flags=0x3");
}

TEST(PlaygroundHistory, TheCaseFileNamesTheEntryAndSaysWhatIsPromised) {
    const std::string text = follow(kDomain, 1)["case"];
    EXPECT_TRUE(text.starts_with("selvage-case 1\nkind = lifecycle\nprovider = \"teaching\"\ncall = version=1.17 "));
    EXPECT_NE(text.find("ep_attr.type=FI_EP_MSG"), std::string::npos) << text;
    EXPECT_TRUE(text.ends_with("# must succeed\ndomain2 = open domain fabric1\n")) << text;
}

TEST(PlaygroundHistory, WhatCannotBeDoneIsAnErrorWithItsPlace) {
    EXPECT_EQ(follow({"fabric1 = open fabric offer=0", "close domain2"})["where"], "step 2");
    EXPECT_EQ(follow({}, 3)["where"], "request");
    EXPECT_FALSE(answer_history({{"profile", teaching()}, {"steps", Json::array()}}).contains("error")) << "entry 0";
    EXPECT_EQ(answer_history({{"profile", "provider = 1"}, {"steps", Json::array()}})["where"], "profile 0");
    EXPECT_EQ(answer_history({{"profile", teaching()}, {"steps", "x"}})["where"], "request");
    EXPECT_EQ(answer_history({{"profile", teaching()}, {"steps", Json::array({1})}})["where"], "step 1");
    EXPECT_EQ(answer_history({{"profile", teaching()}, {"steps", std::vector<int>(101)}})["where"], "request");
}

TEST(PlaygroundHistory, SomeResultKeepsAllPromisesWhereverAWalkLeads) {
    std::mt19937 random(7);
    std::size_t must = 0, left_open = 0;
    for (int walk = 0; walk < 60; ++walk) {
        std::vector<std::string> steps;
        for (int i = 0; i < 16; ++i) {
            const Json a = follow(steps, static_cast<unsigned>(walk % 3));
            ASSERT_TRUE(a.contains("moves")) << a.dump(1);
            for (const auto& m : a["moves"]) {
                const bool decided = m["verdict"] != "open";
                EXPECT_EQ(decided, !m["clauses"].empty()) << m.dump();
                (decided ? must : left_open) += 1;
            }
            steps.push_back(a["moves"][random() % a["moves"].size()]["step"]);
        }
    }
    EXPECT_GT(must, 1000U);
    EXPECT_GT(left_open, 1000U);
}

}  // namespace
}  // namespace selvage::model::playground
