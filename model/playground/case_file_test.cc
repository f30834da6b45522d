// Case files on the page's second tab: the history that they tell, and what is wrong with those that tell none.
#include "model/playground/case_file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "model/playground/history.h"

namespace selvage::model::playground {
namespace {

std::string slurp(const std::filesystem::path& path) {
    std::ifstream file(path);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
}

Json profiles() { return {{"teaching", slurp(SELVAGE_SPEC_DIR "/profiles/teaching.toml")}}; }

Json show(const std::string& text) { return answer_case({{"case", text}, {"profiles", profiles()}}); }

const std::string kHead =
    "selvage-case 1\nkind = lifecycle\nprovider = \"teaching\"\ncall = version=1.17 hints={ep_attr.type=FI_EP_MSG}\n";
const std::string kDomain = kHead + "fabric1 = open fabric offer=0\ndomain2 = open domain fabric1\n";

TEST(PlaygroundCase, AFileIsShownOnTheEntryThatItsCallIsGranted) {
    const Json a = show("selvage-case 1\n# a queue is open\nclause = domain.close.busy-cq\n" + kDomain.substr(15) +
                        "cq3 = open cq domain2\nclose domain2\n");
    EXPECT_EQ(a["profile"], "teaching") << a.dump();
    EXPECT_EQ(a["entry"], 1) << "the second one is FI_EP_MSG";
    EXPECT_EQ(a["steps"].size(), 4U);
    EXPECT_EQ(a["steps"][3], "close domain2");
    EXPECT_FALSE(a.contains("note"));
}

TEST(PlaygroundCase, WhatThePageWritesItReadsAgain) {
    const Json profile = profiles()["teaching"];
    const Json steps = {"fabric1 = open fabric offer=0",
                        "domain2 = open domain fabric1",
                        "ep3 = open ep domain2",
                        "!cq4 = open cq domain2",
                        "av5 = open av domain2 flags=0x2",
                        "ep-bind ep3 av5",
                        "close domain2"};
    for (unsigned entry = 0; entry < 3; ++entry) {
        const Json written = answer_history({{"profile", profile}, {"entry", entry}, {"steps", steps}});
        ASSERT_TRUE(written.contains("case")) << written.dump();
        const Json read = show(written["case"]);
        EXPECT_EQ(read["entry"], entry) << read.dump();
        EXPECT_EQ(read["steps"], steps);
    }
}

TEST(PlaygroundCase, StepsThatThePageDoesNotListAreShownToo) {
    const Json a = show(kHead +
                        "fabric1 = open fabric offer=0\ndomain2 = open domain2 fabric1 flags=0x1\n"
                        "ep3 = open ep domain2\ncq4 = open cq domain2\nep-bind ep3 cq4 flags=0x20000000000400\n");
    ASSERT_TRUE(a.contains("steps")) << a.dump();
    const Json shown = answer_history({{"profile", profiles()["teaching"]}, {"entry", 1U}, {"steps", a["steps"]}});
    EXPECT_EQ(shown["steps"][1]["call"], "fi_domain2(fabric1, 0x1)");
    EXPECT_EQ(shown["steps"][4]["call"], "fi_ep_bind(ep3, cq4, 0x20000000000400)");
}

TEST(PlaygroundCase, AnEntryOfALargerMachineIsShownWithTheLastThatFits) {
    const Json a = show(kHead + "fabric1 = open fabric offer=9\n");
    EXPECT_EQ(a["entry"], 1) << a.dump();
    EXPECT_EQ(a["steps"][0], "fabric1 = open fabric offer=0");
    EXPECT_NE(a["note"].get<std::string>().find("entry 9"), std::string::npos);
}

TEST(PlaygroundCase, ABadFileIsOneLineThatSaysWhere) {
    const struct {
        std::string text;
        std::string where;
        std::string error;
    } files[] = {
        {"", "line 1", "a case file begins with \"selvage-case 1\""},
        {"\x7f\x45LF", "line 1", "a case file begins with \"selvage-case 1\", not with"},
        {"selvage-case 1\n", "line 1", "it ends without \"kind = lifecycle\""},
        {"selvage-case 1\nkind = traffic\n", "line 2",
         "the page shows cases of the kind lifecycle; this one is \"traffic\""},
        {"selvage-case 1\nkind = lifecycle\ncall = version=1.17 hints={caps=FI_MGS}\n", "line 3", "call, at byte "},
        {"selvage-case 1\nkind = lifecycle\n", "line 2", "it ends without a call"},
        {"selvage-case 1\nprovider = tcp\n", "line 2", "provider is a string in double quotes, not \"tcp\""},
        {"selvage-case 1\ncolour = red\n", "line 2", "unknown key \"colour\""},
        {kHead, "line 4", "it ends without an action"},
        {kHead + "\ndance domain2\n", "line 6", "\"dance domain2\" is nothing that can be done here"},
        {kDomain + "close cq3\n", "line 7", "\"close cq3\" is nothing that can be done here: there is no cq3 here"},
        {kDomain + "enable domain2\n", "line 7",
         "\"enable domain2\" is nothing that can be done here: domain2 is no ep"},
        {kDomain + "cq4 = open cq domain2\n", "line 7",
         "\"cq4 = open cq domain2\" is nothing that can be done here: objects are numbered"},
        {kDomain + "close domain2\nclose domain2\n", "line 8",
         "\"close domain2\" is nothing that can be done here: domain2 is not open here"},
        {kDomain + "query domain2\n", "line 7",
         "\"query domain2\" is nothing that can be done here: the page has no library"},
        {kDomain + "cq3 = open cq domain2 argument=2\n", "line 7",
         "\"cq3 = open cq domain2 argument=2\" is nothing that can be done here: the page does not know argument=2"},
        {"selvage-case 1\nkind = lifecycle\nprovider = \"none\"\ncall = version=1.17\nfabric1 = open fabric offer=0\n",
         "line 4", "there is no profile of provider \"none\" on this page"},
        {"selvage-case 1\nkind = lifecycle\nprovider = \"teaching\"\ncall = version=1.17 "
         "hints={ep_attr.type=FI_EP_SOCK_STREAM}\nfabric1 = open fabric offer=0\n",
         "line 4", "no entry of the profile of provider \"teaching\" fits this call"},
    };
    for (const auto& f : files) {
        const Json a = show(f.text);
        EXPECT_EQ(a.value("where", ""), f.where) << f.text << a.dump();
        const std::string error = a.value("error", "");
        EXPECT_EQ(error.substr(0, f.error.size()), f.error) << f.text;
        EXPECT_EQ(error.find('\n'), std::string::npos) << error;
    }
    EXPECT_EQ(answer_case({{"case", 1}})["where"], "request");
    EXPECT_EQ(show(kHead + std::string(200000, 'x')).value("error", ""),
              "a case file that the page shows has at most 100000 bytes");
}

// Those that ask the library, or open with names of their own, are left to selvage replay.
TEST(PlaygroundCase, TheLifecyclesAmongTheExamplesAreShown) {
    const Json with = {{"shm", slurp(SELVAGE_SPEC_DIR "/../impl/transport/shm/shm.toml")},
                       {"tcp", slurp(SELVAGE_SPEC_DIR "/../impl/transport/tcp/tcp.toml")},
                       {"udp", slurp(SELVAGE_SPEC_DIR "/../impl/transport/udp/udp.toml")}};
    const std::string head = "selvage-case 1\n";
    int shown = 0, left = 0;
    for (const auto& file : std::filesystem::directory_iterator(SELVAGE_SPEC_DIR "/examples")) {
        const std::string text = slurp(file.path());
        for (auto at = text.find(head), next = at; at != std::string::npos; at = next) {
            next = text.find(head, at + 1);
            const std::string one = text.substr(at, next - at);
            if (one.find("kind = lifecycle\n") == std::string::npos) continue;
            const Json a = answer_case({{"case", one}, {"profiles", with}});
            (a.contains("steps") ? shown : left) += 1;
            const std::string error = a.value("error", "selvage replay runs it");
            // Of a layered provider the reader adds a profile.
            const bool layered = one.find("provider = \"tcp;ofi_rxm\"") != std::string::npos;
            EXPECT_NE(error.find(layered ? "add one on the first tab" : "selvage replay runs it"), std::string::npos)
                << one << error;
        }
    }
    EXPECT_GT(shown, left) << "of " << shown + left;
}

}  // namespace
}  // namespace selvage::model::playground
