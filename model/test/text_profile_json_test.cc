// Profiles as JSON: what is read is what TOML says, and what is wrong is reported with its line.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "model/specc/toml.h"
#include "model/text/profile_text.h"

namespace selvage::model {
namespace {

namespace fs = std::filesystem;

std::string slurp(const fs::path& file) {
    std::ifstream in(file);
    std::stringstream all;
    all << in.rdbuf();
    return all.str();
}

std::vector<fs::path> profile_files() {
    std::vector<fs::path> out{SELVAGE_SPEC_DIR "/profiles/teaching.toml"};
    for (const auto& file : fs::recursive_directory_iterator(SELVAGE_SOURCE_DIR "/impl/transport"))
        if (file.path().extension() == ".toml") out.push_back(file.path());
    return out;
}

// toml++ writes it: a converter that knows nothing of profiles.
std::string as_json(const std::string& toml) {
    std::stringstream out;
    const toml::table table = toml::parse(toml);
    out << toml::json_formatter(table);
    return out.str();
}

Profile profile(const std::string& text) {
    Profile out;
    std::string error;
    EXPECT_TRUE(parse_profile(text, Version(1, 17), out, error)) << error << "\n" << text;
    return out;
}

std::string refusal(const std::string& text) {
    Profile out;
    std::string error;
    EXPECT_FALSE(parse_profile(text, Version(1, 17), out, error)) << text;
    EXPECT_EQ(error.find('\n'), std::string::npos) << error;
    return error;
}

TEST(ProfileJson, SaysWhatTheSameProfileSaysAsToml) {
    ASSERT_GT(profile_files().size(), 4U);
    for (const auto& file : profile_files()) {
        const auto toml = slurp(file);
        EXPECT_EQ(print_profile(profile(as_json(toml))), print_profile(profile(toml))) << file;
    }
}

TEST(ProfileJson, NumbersAboveThoseOfTomlAreRead) {
    const auto p = profile(R"({"provider": "x", "entry": [{"ep_attr": {"max_msg_size": 18446744073709551615}}]})");
    EXPECT_EQ(p.entries.at(0).offer.ep.max_msg_size, ~std::uint64_t{0});
}

TEST(ProfileJson, AnErrorNamesLineFieldValueAndRemedy) {
    const std::string head = "{\n\"provider\": \"x\",\n\"entry\": [{\n";
    const std::string tail = "\n}]}";
    for (const auto& [text, reason] : std::vector<std::pair<std::string, std::string>>{
             {"\"caps\": [\"FI_MSG\",\n \"FI_MGS\"]", "line 5: caps: unknown word 'FI_MGS'"},
             {"\"tx_attr\": {\"size\": true}",
              "line 4: tx_attr.size is a number, or a string such as \"max\" or \"0xff\", not true"},
             {"\"tx_attr\": {\"size\": -1\n}", "line 4: tx_attr.size can't be negative, as -1 is"},
             {"\"tx_attr\": {\"size\": 1.5\n}",
              "line 4: tx_attr.size is a number, or a string such as \"max\" or \"0xff\", not the fraction 1.5"},
             {"\"caps\": \"FI_MSG\"", "line 4: caps is a list of names of caps, not 'FI_MSG'"},
             {"\"mode\": null", "line 4: null is no value of a profile; leave 'mode' out"},
             {"\"caps\": [],\n\"caps\": []", "line 5: 'caps' is given twice"},
             {"\"tx_attr\": {\"sise\": 1}", "line 4: unknown key 'tx_attr.sise'; the nearest: tx_attr.size"},
             {"\"domain_attr\": []", "line 4: domain_attr is a table of fields, not a list"}}) {
        const auto error = refusal(head + text + tail);
        EXPECT_EQ(error.substr(0, reason.size()), reason) << error;
    }
}

TEST(ProfileJson, WhatIsNoJsonIsRefusedInOneLine) {
    for (const auto& [text, reason] : std::vector<std::pair<std::string, std::string>>{
             {"{", "line 1: this is no JSON: syntax error while parsing object key - unexpected end of input"},
             {"{\n\"provider\": \"x\",\n", "line 3: this is no JSON: syntax error while parsing object key"},
             {"{\"provider\": \"\xff\"}", "line 1: this is no JSON: syntax error while parsing value - invalid string"},
             {"{\"provider\": 1e999}", "line 1: this is no JSON: number overflow parsing '1e999'"},
             {"{} {}", "line 1: this is no JSON: syntax error while parsing value - unexpected '{'"}})
        EXPECT_EQ(refusal(text).substr(0, reason.size()), reason);
    EXPECT_NE(refusal("{\"a\":" + std::string(100000, '[')).find("nested deeper"), std::string::npos);
}

RC_GTEST_PROP(ProfileJson, NoMutatedProfileIsRefusedWithoutReason, ()) {
    static const auto kText = as_json(slurp(SELVAGE_SPEC_DIR "/profiles/teaching.toml"));
    auto text = kText;
    for (int n = *rc::gen::inRange(1, 4); n > 0; --n) {
        const auto at = *rc::gen::inRange<std::size_t>(1, text.size());
        if (*rc::gen::inRange(0, 2) == 0)
            text.erase(at, *rc::gen::inRange<std::size_t>(1, 8));
        else
            text[at] = *rc::gen::arbitrary<char>();
    }
    Profile out;
    std::string error;
    if (!parse_profile(text, Version(1, 17), out, error)) RC_ASSERT(error.starts_with("line "));
}

}  // namespace
}  // namespace selvage::model
