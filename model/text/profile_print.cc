// Prints profiles as TOML.  The readers are profile_parse.cc and people: fields stand in the order of the structure.
#include <map>

#include "model/text/address_text.h"
#include "model/text/profile_text.h"
#include "model/text/value_text.h"

namespace selvage::model {
namespace {

// The length of the UTF-8 sequence at the start of `bytes`; 0 if there is none that TOML allows.
std::size_t sequence_length(std::string_view bytes) {
    const auto byte = [&](std::size_t i) { return i < bytes.size() ? static_cast<std::uint8_t>(bytes[i]) : 0U; };
    const unsigned first = byte(0);
    if (first < 0x80) return 1;
    const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    if (first < 0xc2 || first > 0xf4) return 0;
    for (std::size_t i = 1; i < length; ++i)
        if ((byte(i) & 0xc0U) != 0x80) return 0;
    const bool overlong = (first == 0xe0 && byte(1) < 0xa0) || (first == 0xf0 && byte(1) < 0x90);
    const bool surrogate = first == 0xed && byte(1) >= 0xa0;
    const bool too_large = first == 0xf4 && byte(1) >= 0x90;
    return overlong || surrogate || too_large ? 0 : length;
}

bool is_utf8(std::string_view bytes) {
    while (!bytes.empty()) {
        const auto length = sequence_length(bytes);
        if (length == 0) return false;
        bytes.remove_prefix(length);
    }
    return true;
}

std::string toml_string(std::string_view value) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    std::string out = "\"";
    for (const char c : value) {
        const auto byte = static_cast<std::uint8_t>(c);
        if (c == '"' || c == '\\')
            out += std::string{'\\', c};
        else if (byte < 0x20 || byte == 0x7f)
            out += std::string("\\u00") + kDigits[byte >> 4U] + kDigits[byte & 15U];
        else
            out += c;
    }
    return out + '"';
}

std::string toml_text(const std::string& value) {
    return is_utf8(value) ? toml_string(value) : "{ bytes = \"" + print_bytes(value) + "\" }";
}

// Names in brackets; a list that passes the 120th column has lines of its own.
std::string toml_list(const std::vector<std::string>& names, std::size_t indent) {
    std::string flat;
    std::string block;
    std::size_t column = 120;
    for (const auto& name : names) {
        const auto item = '"' + name + '"';
        flat += (flat.empty() ? "" : ", ") + item;
        const bool fits = column + item.size() + 2 <= 120;
        block += (fits ? " " : "\n    ") + item + ',';
        column = (fits ? column + 1 : 4) + item.size() + 1;
    }
    return indent + flat.size() + 2 <= 120 ? '[' + flat + ']' : '[' + block + "\n]";
}

std::vector<std::string> split_bits(Family family, std::uint64_t bits) {
    std::vector<std::string> out;
    if (bits == 0) return out;
    const auto joined = print_value(family, bits);
    for (std::size_t start = 0; start <= joined.size();) {
        const auto bar = std::min(joined.find('|', start), joined.size());
        out.push_back(joined.substr(start, bar - start));
        start = bar + 1;
    }
    return out;
}

std::vector<std::string> split_choices(Family family, std::uint64_t set) {
    std::vector<std::string> out;
    for (const auto& w : words(family))
        if (!w.alias && (choice_bit(family, w.value) & set) != 0) out.emplace_back(w.name);
    if ((set & kAnyChoice) != 0) out.emplace_back("any");
    return out;
}

// Integers of TOML end at 2^63 - 1; what is larger is a string.
std::string toml_number(Field field, std::uint64_t value) {
    const auto spelt = print_number(field, value);
    const bool digits = spelt.find_first_not_of("0123456789") == std::string::npos;
    return digits && value >> 63U == 0 ? spelt : '"' + spelt + '"';
}

std::string toml_field(const Info& info, const FieldRow& r, std::size_t indent) {
    if (r.form == Form::String) return toml_text(*text(info, r.field));
    const auto value = get(info, r.field);
    return r.form == Form::Bits ? toml_list(split_bits(r.family, value), indent) : toml_number(r.field, value);
}

bool is_open(const Entry& entry, Field f) {
    return (f == Field::domain_name && entry.any_domain) || (f == Field::fabric_name && entry.any_fabric);
}

void print_fields(const Entry& entry, Part part, std::string& out) {
    const Info& offer = entry.offer;
    const auto line = [&](const FieldRow& r) {
        const auto dot = r.path.find('.');
        const auto name = std::string(dot == std::string_view::npos ? r.path : r.path.substr(dot + 1)) + " = ";
        out += name + toml_field(offer, r, name.size()) + '\n';
    };
    for (const auto& r : number_fields())
        if (r.part == part && !is_of_the_call(r) && (get(offer, r.field) != 0 || r.form == Form::Bits)) line(r);
    for (const auto& r : text_fields())
        if (r.part == part && is_open(entry, r.field))
            out += "name = { any = true }\n";
        else if (r.part == part && !is_of_the_call(r) && text(offer, r.field))
            line(r);
}

void print_needs(const Entry& entry, std::string& out) {
    if (entry.needed_mode == entry.offer.mode && entry.needed_mr_mode == entry.offer.domain.mr_mode) return;
    out += "\n[entry.needs]\n";
    out += "mode = " + toml_list(split_bits(Family::mode, entry.needed_mode), 7) + '\n';
    out += "mr_mode = " + toml_list(split_bits(Family::mr_mode, entry.needed_mr_mode), 10) + '\n';
}

std::string limit_value(const FieldRow& r, std::uint64_t value, std::size_t indent) {
    if (r.form == Form::Bits) return toml_list(split_bits(r.family, value), indent);
    if (r.form == Form::Enum) return toml_list(split_choices(r.family, value), indent);
    return toml_number(r.field, value);
}

void print_limits(const Entry& entry, std::string& out) {
    std::string lines;
    for (const auto& r : number_fields()) {
        const auto value = r.field == Field::caps ? entry.also_caps : get(entry.most, r.field);
        if (value == 0 || is_of_the_call(r)) continue;
        const auto name = '"' + std::string(r.path) + "\" = ";
        lines += name + limit_value(r, value, name.size()) + '\n';
    }
    if (!lines.empty()) out += "\n[entry.limits]\n" + lines;
}

// A short name for people: the endpoint type in lower case, numbered where it comes again.
std::string entry_name(const Info& offer, std::map<std::string, int>& used) {
    auto name = print_value(Family::ep_type, offer.ep.type);
    if (name.starts_with("FI_EP_")) name = name.substr(6);
    for (auto& c : name) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    const int place = ++used[name];
    return place == 1 ? name : name + '-' + std::to_string(place);
}

}  // namespace

std::uint64_t choice_bit(Family family, std::uint64_t value) {
    std::uint64_t bit = 1;
    for (const auto& w : words(family)) {
        if (w.value == value && !w.alias) return bit;
        bit <<= 1U;
    }
    return 0;
}

bool is_choice(const Info& most, Field field, std::uint64_t value) {
    return (get(most, field) & (choice_bit(row(field).family, value) | kAnyChoice)) != 0;
}

std::string print_profile(const Profile& profile) {
    std::string out = "# For callers of version " + profile.version.str() +
                      (profile.origin == Origin::Inferred ? ", inferred from answers\n" : "\n");
    out += "provider = " + toml_text(profile.provider) + '\n';
    if (profile.only) out += "api = \"" + profile.only->str() + "\"\n";
    std::map<std::string, int> names;
    for (const auto& entry : profile.entries) {
        out += "\n[[entry]]\nname = \"" + entry_name(entry.offer, names) + "\"\n";
        print_fields(entry, Part::Info, out);
        for (const auto& attr : attributes()) {
            out += "\n[entry." + std::string(attr.path) + "]\n";
            print_fields(entry, attr.part, out);
        }
        print_needs(entry, out);
        print_limits(entry, out);
    }
    return out;
}

}  // namespace selvage::model
