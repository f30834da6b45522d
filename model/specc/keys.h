// How specc reads a TOML table: every unknown key is an error, so that a misspelt one cannot be silently lost.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "model/specc/toml.h"

namespace selvage::specc {

/// Throws std::runtime_error: "FILE:LINE: WHAT".
[[noreturn]] inline void fail(const std::filesystem::path& file, const toml::node& at, const std::string& what) {
    std::ostringstream out;
    out << file.string() << ':' << at.source().begin.line << ": " << what;
    throw std::runtime_error(out.str());
}

/// A table whose keys are taken one by one; what is left over when it is done is an error.
class Keys {
public:
    Keys(const std::filesystem::path& file, const toml::table& table) : file_(file), table_(table) {}

    std::string text(std::string_view key, bool required = false) {
        seen_.emplace(key);
        const auto* node = table_.get(key);
        if (node == nullptr) {
            if (required) fail(file_, table_, "needs the key '" + std::string(key) + "'");
            return {};
        }
        const auto value = node->value<std::string>();
        if (!value) fail(file_, *node, "'" + std::string(key) + "' must be a string");
        return *value;
    }
    std::vector<std::string> texts(std::string_view key) {
        seen_.emplace(key);
        std::vector<std::string> out;
        const auto* node = table_.get(key);
        if (node == nullptr) return out;
        const auto* array = node->as_array();
        if (array == nullptr) fail(file_, *node, "'" + std::string(key) + "' must be a list of strings");
        for (const auto& item : *array) {
            const auto value = item.value<std::string>();
            if (!value) fail(file_, item, "'" + std::string(key) + "' must be a list of strings");
            out.push_back(*value);
        }
        return out;
    }
    std::optional<std::int64_t> number(std::string_view key) {
        seen_.emplace(key);
        const auto* node = table_.get(key);
        if (node == nullptr) return std::nullopt;
        const auto value = node->value<std::int64_t>();
        if (!value) fail(file_, *node, "'" + std::string(key) + "' must be a number");
        return value;
    }
    bool flag(std::string_view key) {
        seen_.emplace(key);
        return table_[key].value_or(false);
    }
    const toml::table* table(std::string_view key) {
        seen_.emplace(key);
        const auto* node = table_.get(key);
        return node == nullptr ? nullptr : node->as_table();
    }
    std::vector<const toml::table*> tables(std::string_view key) {
        seen_.emplace(key);
        std::vector<const toml::table*> out;
        const auto* node = table_.get(key);
        if (node == nullptr) return out;
        const auto* array = node->as_array();
        if (array == nullptr) fail(file_, *node, "'" + std::string(key) + "' must be a list of tables");
        for (const auto& item : *array) {
            if (!item.is_table()) fail(file_, item, "'" + std::string(key) + "' must be a list of tables");
            out.push_back(item.as_table());
        }
        return out;
    }
    /// The keys that nobody has taken, which must be strings.
    std::map<std::string, std::string> rest() {
        std::map<std::string, std::string> out;
        for (const auto& [key, node] : table_) {
            if (!seen_.contains(std::string(key.str()))) out[std::string(key.str())] = text(key.str());
        }
        return out;
    }
    const toml::node* node(std::string_view key) {
        seen_.emplace(key);
        return table_.get(key);
    }
    void done() const {
        for (const auto& [key, node] : table_) {
            if (!seen_.contains(std::string(key.str())))
                fail(file_, node, "unknown key '" + std::string(key.str()) + "'");
        }
    }

private:
    const std::filesystem::path& file_;
    const toml::table& table_;
    std::set<std::string> seen_;
};

}  // namespace selvage::specc
