// The playground's answers: what the form is made of, verdicts, changes that are granted, and what can't be read.
#include "model/playground/answer.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "model/judge/judge.h"
#include "model/spec/clause.h"
#include "model/text/call_text.h"
#include "model/text/profile_text.h"

namespace selvage::model::playground {
namespace {

using Json = nlohmann::json;

std::string teaching() {
    std::ifstream file(SELVAGE_SPEC_DIR "/profiles/teaching.toml");
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
}

Json ask(const Json& request) { return Json::parse(answer(request.dump())); }

Json ask_teaching(const std::string& call) { return ask({{"profiles", {teaching()}}, {"call", call}}); }

TEST(Playground, TheExamplesOfAllClausesGetTheVerdictThatTheirClauseStates) {
    std::size_t judged = 0;
    for (const ClauseText& c : clauses()) {
        if (c.example_call.empty()) continue;
        const Json a = ask_teaching(std::string(c.example_call));
        ASSERT_TRUE(a.contains("profiles")) << c.id << ": " << a.dump();
        EXPECT_EQ(a["profiles"][0]["verdict"], std::string(c.example_expect)) << c.id << ": " << c.example_call;
        ++judged;
    }
    EXPECT_GT(judged, 100U);
}

TEST(Playground, AChangeThatItProposesIsGranted) {
    std::size_t proposed = 0;
    for (const ClauseText& c : clauses()) {
        if (c.example_call.empty()) continue;
        const Json a = ask_teaching(std::string(c.example_call));
        for (const auto& p : a["profiles"][0]["proposals"]) {
            EXPECT_FALSE(p["changes"].empty()) << c.example_call;
            const Json again = ask_teaching(p["call"]);
            EXPECT_EQ(again["profiles"][0]["verdict"], "granted") << p.dump();
            ++proposed;
        }
    }
    EXPECT_GT(proposed, 30U);
}

TEST(Playground, EachClauseThatIsNamedIsTold) {
    const Json a = ask_teaching("version=1.17 hints={caps=FI_MSG|FI_COLLECTIVE, ep_attr.type=FI_EP_DGRAM}");
    std::size_t links = 0;
    for (const auto& entry : a["profiles"][0]["entries"]) {
        for (const auto& link : entry["refuses"]) {
            const std::string id = link["clause"];
            ASSERT_NE(find_clause(id), nullptr);
            EXPECT_EQ(a["clauses"][id]["promise"], std::string(find_clause(id)->promise));
            ++links;
        }
    }
    EXPECT_GT(links, 0U);
}

TEST(Playground, ANameThatAProfileLeavesOpenIsGiven) {
    const std::string open =
        "provider = \"p\"\n[[entry]]\ncaps = [\"FI_MSG\"]\n[entry.ep_attr]\ntype = \"FI_EP_MSG\"\n"
        "[entry.domain_attr]\nname = { any = true }\n";
    const Json a = ask({{"profiles", {open}}, {"call", "version=1.17 hints={domain_attr.name=\"eth0\"}"}});
    EXPECT_EQ(a["profiles"][0]["verdict"], "granted") << a.dump(2);
    EXPECT_EQ(a["hints"]["domain_attr.name"], "eth0");
}

TEST(Playground, AProfileOfOneVersionSaysNothingOfOthers) {
    const Json request = {{"profiles", {"api = \"1.17\"\n" + teaching()}},
                          {"call", "version=1.18 hints={caps=FI_MSG}"}};
    const Json other = ask(request)["profiles"][0];
    EXPECT_EQ(other["verdict"], "unspecified");
    EXPECT_EQ(other["only"], "1.17");
    Json its_own = request;
    its_own["call"] = "version=1.17 hints={caps=FI_MSG}";
    EXPECT_EQ(ask(its_own)["profiles"][0]["verdict"], "granted");
}

TEST(Playground, WhatCannotBeReadIsAnErrorWithItsPlace) {
    const Json call = ask_teaching("version=1.17 hints={caps=FI_MGS}");
    EXPECT_EQ(call["where"], "call");
    EXPECT_EQ(call["at"], 25);
    EXPECT_NE(call["error"].get<std::string>().find("FI_MSG"), std::string::npos) << call;
    const Json profile = ask({{"profiles", {teaching(), "provider = 1"}}, {"call", "version=1.17"}});
    EXPECT_EQ(profile["where"], "profile 1");
    for (const char* request :
         {"", "[]", "{", "{}", R"({"ask": 1})", R"({"profiles": "x", "call": "y"})",
          R"({"profiles": [1], "call": "version=1.17"})", "\xff\xfe", R"({"call": "version=1.17"})"})
        EXPECT_TRUE(Json::parse(answer(request)).contains("error")) << request;
}

TEST(Playground, TheVocabularyHasTheClassOfEachCapability) {
    const Json v = ask({{"ask", "vocabulary"}});
    std::size_t primary = 0;
    for (const auto& w : v["families"]["caps"]["words"]) primary += w.value("class", "") == "primary" ? 1 : 0;
    EXPECT_GE(primary, 6U);
    for (const auto& f : v["fields"]) EXPECT_NE(find_field(f["path"].get<std::string>()), nullptr) << f;
}

}  // namespace
}  // namespace selvage::model::playground
