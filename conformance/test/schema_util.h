// The part of JSON Schema that the schemas of docs/ use, as an expectation of a test.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

namespace selvage::conformance {

/// Expects `value` to be what `schema` says; `at` is its path, for messages.
inline void validate(const nlohmann::json& schema, const nlohmann::json& value, const std::string& at) {
    using nlohmann::json;
    static const std::map<std::string, bool (*)(const json&)> kTypes = {
        {"object", [](const json& v) { return v.is_object(); }},
        {"array", [](const json& v) { return v.is_array(); }},
        {"string", [](const json& v) { return v.is_string(); }},
        {"integer", [](const json& v) { return v.is_number_integer(); }},
        {"number", [](const json& v) { return v.is_number(); }},
        {"null", [](const json& v) { return v.is_null(); }},
        {"boolean", [](const json& v) { return v.is_boolean(); }},
    };
    const json types = schema.at("type").is_array() ? schema["type"] : json::array({schema.at("type")});
    EXPECT_TRUE(std::any_of(types.begin(), types.end(), [&](const json& t) { return kTypes.at(t)(value); }))
        << at << " is no " << schema.at("type");
    if (schema.contains("enum")) {
        EXPECT_NE(std::find(schema["enum"].begin(), schema["enum"].end(), value), schema["enum"].end())
            << at << " is " << value;
    }
    for (const auto& name : schema.value("required", json::array()))
        EXPECT_TRUE(value.contains(name.get<std::string>())) << at << " lacks " << name;
    if (schema.at("type") == "array") {
        for (std::size_t i = 0; i < value.size(); ++i)
            validate(schema.at("items"), value[i], at + "[" + std::to_string(i) + "]");
    }
    if (schema.at("type") != "object") return;
    for (const auto& [key, member] : value.items()) {
        const bool known = schema.at("properties").contains(key);
        EXPECT_TRUE(known) << at << "." << key << " is not in the schema";
        if (known) validate(schema["properties"][key], member, at + "." + key);
    }
}

}  // namespace selvage::conformance
