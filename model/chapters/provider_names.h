// Names of providers: one word each, or the words of its layers joined by a semicolon; and the filter FI_PROVIDER.
// Shared by fabric_attr.cc and fabric_names.cc.
#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

namespace selvage::model::rules {

inline std::vector<std::string_view> split(std::string_view text, char delimiter) {
    std::vector<std::string_view> out;
    while (true) {
        const auto cut = text.find(delimiter);
        out.push_back(text.substr(0, cut));
        if (cut == std::string_view::npos) return out;
        text.remove_prefix(cut + 1);
    }
}

inline bool contains(const std::vector<std::string_view>& words, std::string_view word) {
    return std::find(words.begin(), words.end(), word) != words.end();
}

inline bool is_layered(std::string_view name) { return name.find(';') != std::string_view::npos; }

/// The same letters, in whatever case.
inline bool same_letters(std::string_view a, std::string_view b) {
    const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](char x, char y) { return lower(x) == lower(y); });
}

/// Is `word` the name, or one of its layers?
inline bool has_layer(std::string_view name, std::string_view word) {
    if (!is_layered(name)) return name == word;
    return contains(split(name, ';'), word);
}

/// Do both consist of the same layers, in any order?
inline bool same_layers(std::string_view a, std::string_view b) {
    if (a == b) return true;
    if (a.size() != b.size()) return false;
    auto x = split(a, ';');
    auto y = split(b, ';');
    std::sort(x.begin(), x.end());
    std::sort(y.begin(), y.end());
    return x == y;
}

/// Providers that only work over others are named so.
inline bool is_utility(std::string_view name) { return name.substr(0, 4) == "ofi_"; }

/// A value of FI_PROVIDER: names to let in, or after a caret names to keep out.  The page does not say whether their
/// case counts, so a name in another case may be one or not.
struct Filter {
    bool excludes = false;
    std::vector<std::string_view> names;

    explicit Filter(std::string_view value) {
        excludes = value.substr(0, 1) == "^";
        if (excludes) value.remove_prefix(1);
        names = split(value, ',');
    }
    [[nodiscard]] bool names_layer_of(std::string_view provider) const {
        const auto layers = split(provider, ';');
        return std::any_of(layers.begin(), layers.end(), [&](std::string_view l) { return contains(names, l); });
    }
    [[nodiscard]] bool may_name_layer_of(std::string_view provider) const {
        const auto layers = split(provider, ';');
        return std::any_of(layers.begin(), layers.end(), [&](std::string_view l) {
            return std::any_of(names.begin(), names.end(), [&](std::string_view n) { return same_letters(n, l); });
        });
    }
    [[nodiscard]] bool names_all_of(std::string_view provider) const {
        const auto layers = split(provider, ';');
        return std::all_of(layers.begin(), layers.end(), [&](std::string_view l) { return contains(names, l); });
    }
    /// Must the provider stay away?  A caret list keeps away what has a named layer.  A plain list keeps away what has
    /// none, but for utility providers, which may follow what they work over.
    [[nodiscard]] bool keeps_out(std::string_view provider) const {
        return excludes ? names_layer_of(provider) : !may_name_layer_of(provider) && !is_utility(provider);
    }
};

}  // namespace selvage::model::rules
