// Reading the strings of fi_tostr.  See tostr_text.h.
#include "model/chapters/tostr_text.h"

#include <algorithm>
#include <charconv>
#include <cstdint>

namespace selvage::model::rules {
namespace {

bool is_name_char(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// Takes the next identifier or number off the front of `text`; empty at the end.
std::string_view next_token(std::string_view& text) {
    const auto* begin = std::find_if(text.begin(), text.end(), is_name_char);
    const auto* end = std::find_if_not(begin, text.end(), is_name_char);
    const std::string_view token(begin, static_cast<std::size_t>(end - begin));
    text.remove_prefix(static_cast<std::size_t>(end - text.begin()));
    return token;
}

bool same_loosely(std::string_view token, std::string_view name) {
    return std::equal(token.begin(), token.end(), name.begin(), name.end(),
                      [](char a, char b) { return lower(a) == lower(b); });
}

// "WARN" of FI_LOG_WARN.
std::string_view short_name(std::string_view name) {
    constexpr std::string_view kPrefix = "FI_LOG_";
    return name.starts_with(kPrefix) ? name.substr(kPrefix.size()) : name;
}

bool is_field_name(std::string_view token) {
    const auto is_it = [&](const FieldRow& r) { return leaf(r) == token; };
    return std::ranges::any_of(number_fields(), is_it) || std::ranges::any_of(text_fields(), is_it);
}

// What stands between a field's name and the next one, taken off the front of `text`.
std::string_view next_value(std::string_view& text) {
    const char* begin = text.data();
    for (;;) {
        const auto rest = text;
        const auto token = next_token(text);
        if (token.empty() || is_field_name(token)) {
            const char* end = token.empty() ? text.data() + text.size() : token.data();
            text = token.empty() ? text : rest;
            return {begin, static_cast<std::size_t>(end - begin)};
        }
    }
}

// fi_getinfo(3) has a capability FI_XPU; the headers have its bit as FI_XPU_TRIGGER, which no page has. A name that no
// program can write is not required.
bool no_header_has(const Word& word, Family family) { return family == Family::caps && word.value == FI_XPU; }

// Any word of the same value will do: FI_ATOMIC and FI_ATOMICS are one.
bool names_value(std::string_view text, Family family, std::uint64_t value) {
    return std::ranges::any_of(words(family),
                               [&](const Word& w) { return w.value == value && has_name(text, w.name); });
}

bool says_number(std::string_view text, const FieldRow& field, std::uint64_t value) {
    if (has_number(text, value)) return true;
    // "No limit" may be said in words, and versions as major.minor.
    if (value == ~std::uint64_t{0} || value == UINT32_MAX) return true;
    const bool is_version = field.field == Field::fabric_prov_version || field.field == Field::fabric_api_version;
    return is_version && has_number(text, value >> 16) && has_number(text, value & 0xFFFF);
}

bool says_value(std::string_view text, const FieldRow& field, std::uint64_t value, Version library,
                std::string& absent_value) {
    if (field.form == Form::Object) return true;
    // A traffic class may be a label, a mark or the provider's own: its number says as much as a name.
    const bool by_name = (field.form == Form::Bits || field.form == Form::Enum) && field.family != Family::tclass;
    std::string_view absent;
    if (by_name && names_all(text, field.family, value, library, absent)) return true;
    if (!by_name && (field.family == Family::tclass || says_number(text, field, value))) return true;
    absent_value = by_name ? std::string(absent) : std::to_string(value);
    return false;
}

}  // namespace

bool has_name(std::string_view text, std::string_view name) {
    for (auto token = next_token(text); !token.empty(); token = next_token(text))
        if (token == name) return true;
    return false;
}

bool has_number(std::string_view text, std::uint64_t value) {
    for (auto token = next_token(text); !token.empty(); token = next_token(text)) {
        const bool hex = token.starts_with("0x") || token.starts_with("0X");
        if (hex) token.remove_prefix(2);
        std::uint64_t number = 0;
        const auto* end = token.data() + token.size();
        const auto [last, error] = std::from_chars(token.data(), end, number, hex ? 16 : 10);
        if (error == std::errc() && last == end && number == value) return true;
    }
    return false;
}

bool is_named(Family family, std::uint64_t value) {
    if (!is_bits(family)) return std::ranges::any_of(words(family), [&](const Word& w) { return w.value == value; });
    for (const Word& w : words(family))
        if ((value & w.value) == w.value) value &= ~w.value;
    return value == 0;
}

bool names_all(std::string_view text, Family family, std::uint64_t value, Version library, std::string_view& absent) {
    const bool bits = is_bits(family);
    for (const Word& w : words(family)) {
        const bool is_set = bits ? w.value != 0 && (value & w.value) == w.value : w.value == value;
        if (!is_set || w.alias || w.since > library || no_header_has(w, family)) continue;
        if (names_value(text, family, w.value)) continue;
        absent = w.name;
        return false;
    }
    return true;
}

std::string_view foreign_name(std::string_view text, Family family, std::uint64_t value) {
    const bool bits = is_bits(family);
    for (const Word& w : words(family)) {
        const bool is_absent = bits ? (value & w.value) == 0 && w.value != 0 : w.value != value;
        if (is_absent && has_name(text, w.name)) return w.name;
    }
    return {};
}

bool names_loosely(std::string_view text, Family family, std::uint64_t value, std::string_view& absent) {
    for (const Word& w : words(family)) {
        if (w.value != value) continue;
        absent = w.name;
        auto rest = text;
        for (auto token = next_token(rest); !token.empty(); token = next_token(rest))
            if (same_loosely(token, w.name) || same_loosely(token, short_name(w.name))) return true;
    }
    return absent.empty();
}

bool is_printable(std::string_view text) {
    return std::ranges::all_of(text, [](char c) {
        const auto byte = static_cast<unsigned char>(c);
        return (byte >= 0x20 && byte != 0x7F) || (byte >= '\t' && byte <= '\r');
    });
}

std::string_view leaf(const FieldRow& field) {
    const auto dot = field.path.rfind('.');
    return dot == std::string_view::npos ? field.path : field.path.substr(dot + 1);
}

Evidence lacking(std::string_view text, std::string_view expected, std::string note) {
    if (text.find(expected) == std::string_view::npos)
        return texts(Field::string, Relation::TextContains, std::string(expected), std::string(text), std::move(note));
    note = "does not say " + std::string(expected) + (note.empty() ? "" : ", " + note);
    return texts(Field::string, Relation::Happens, std::nullopt, std::string(text), std::move(note));
}

bool says_field(std::string_view text, const Info& info, const FieldRow& field, Version library, Evidence& why) {
    const auto value = get(info, field.field);
    std::string absent;
    bool named = false;
    auto rest = text;
    // Several structures have fields of one name; any of them will do, since no layout says which is which.
    for (auto token = next_token(rest); !token.empty(); token = next_token(rest)) {
        if (token != leaf(field)) continue;
        named = true;
        const auto said = next_value(rest);
        std::string missing;
        if (is_text(field.field) || says_value(said, field, value, library, missing)) return true;
        if (absent.empty() || text.find(missing) == std::string_view::npos) absent = missing;
    }
    why = named ? lacking(text, absent, "the value of " + std::string(field.path))
                : lacking(text, leaf(field), "the name of " + std::string(field.path));
    return false;
}

}  // namespace selvage::model::rules
