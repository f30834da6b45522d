#include "model/text/value_text.h"

#include <charconv>
#include <limits>

namespace selvage::model {
namespace {

constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();
constexpr std::string_view kNumberHint = "write a decimal number, or 0x and hexadecimal digits, of at most 64 bits";

bool looks_like_number(std::string_view token) {
    return !token.empty() && ((token[0] >= '0' && token[0] <= '9') || token[0] == '-' || token[0] == '+');
}

// A traffic class may be FI_TC_DSCP with a code in the low byte, so this enum can be joined like bits.
bool is_joined(Family family) { return is_bits(family) || family == Family::tclass; }

bool is_version(Field f) {
    return f == Field::fabric_prov_version || f == Field::fabric_api_version || f == Field::call_version;
}

bool is_context_count(Field f) {
    return f == Field::ep_tx_ctx_cnt || f == Field::ep_rx_ctx_cnt || f == Field::domain_tx_ctx_cnt ||
           f == Field::domain_rx_ctx_cnt;
}

// fi_getinfo takes flags that other calls define, if only to refuse them: their names can be written too.
const Word* find_flag(Family family, std::string_view name) {
    const auto* word = find_word(family, name);
    if (word == nullptr && family == Family::getinfo_flags) word = find_word(Family::op_flags, name);
    return word;
}

// The other families that know the name: "mode", "cq_event_flags, op_flags".
std::string other_families(Family family, std::string_view name) {
    std::string out;
    for (unsigned i = 1; i <= static_cast<unsigned>(Family::wait_obj); ++i) {
        const auto other = static_cast<Family>(i);
        if (other == family || find_word(other, name) == nullptr) continue;
        out += (out.empty() ? "" : ", ") + std::string(family_name(other));
    }
    return out;
}

bool unknown_word(Scanner& in, std::size_t at, Family family, std::string_view token) {
    std::vector<std::string_view> names;
    for (const auto& w : words(family)) names.push_back(w.name);
    const auto kind = std::string(family_name(family));
    std::string message = "unknown word " + shown(token) + " of " + kind;
    if (const auto others = other_families(family, token); !others.empty())
        message = shown(token) + " is a word of " + others + ", not of " + kind;
    return in.fail(at, message + "; the nearest of " + kind + ": " + nearest(token, names));
}

bool read_atom(Scanner& in, Family family, std::uint64_t& out) {
    const auto at = in.at();
    const auto token = in.word();
    const auto kind = is_bits(family) ? "words of " : "a word of ";
    if (token.empty())
        return in.expected("here stand " + std::string(kind) + std::string(family_name(family)) + " or a number");
    if (looks_like_number(token))
        return parse_plain(token, out) || in.fail(at, shown(token) + " is no number; " + std::string(kNumberHint));
    if (is_bits(family) && token == "none") {
        out = 0;
        return true;
    }
    const auto* word = find_flag(family, token);
    if (word == nullptr) return unknown_word(in, at, family, token);
    out = word->value;
    return true;
}

bool read_plain(Scanner& in, std::uint64_t& out) {
    const auto at = in.at();
    const auto token = in.word();
    if (token.empty()) return in.expected("here stands a number or max");
    if (token == "max") {
        out = kMax;
        return true;
    }
    return parse_plain(token, out) ||
           in.fail(at, shown(token) + " is no number; " + std::string(kNumberHint) + ", or max");
}

bool read_handle(Scanner& in, std::uint64_t& out) {
    const auto at = in.at();
    const bool numbered = in.take('#');
    const auto token = in.word();
    out = 0;
    if (!numbered && (token == "NULL" || token == "0")) return true;
    if (numbered && token == "foreign") {
        out = kForeign;
        return true;
    }
    if (numbered && parse_plain(token, out) && out != 0) return true;
    return in.fail(at, shown((numbered ? "#" : "") + std::string(token)) +
                           " is no object; write #1 for the first that was opened, #foreign or NULL");
}

bool read_counted(Scanner& in, const FieldRow& field, std::uint64_t& out) {
    Scanner ahead = in;
    const auto token = ahead.word();
    if (is_context_count(field.field) && token == "FI_SHARED_CONTEXT") {
        out = kMax;
        in = ahead;
        return true;
    }
    Version version;
    if (is_version(field.field) && token.find('.') != std::string_view::npos) {
        if (!read_version(in, version)) return false;
        out = version.packed;
        return true;
    }
    return read_plain(in, out);
}

std::string print_enum(Family family, std::uint64_t value) {
    const Word* dscp = family == Family::tclass ? find_word(family, "FI_TC_DSCP") : nullptr;
    for (const auto& w : words(family))
        if (!w.alias && w.value == value) return std::string(w.name);
    if (dscp != nullptr && (value & ~std::uint64_t{0xff}) == dscp->value)
        return std::string(dscp->name) + '|' + print_hex(value & 0xff);
    return value < 0x10000 ? std::to_string(value) : print_hex(value);
}

std::string print_bits(Family family, std::uint64_t value) {
    std::string out;
    std::uint64_t left = value;
    for (const auto& w : words(family)) {
        if (w.alias || w.value == 0 || (value & w.value) != w.value || (left & w.value) == 0) continue;
        out += (out.empty() ? "" : "|") + std::string(w.name);
        left &= ~w.value;
    }
    if (left != 0) out += (out.empty() ? "" : "|") + print_hex(left);
    return out.empty() ? "none" : out;
}

std::string print_handle(Handle value) {
    if (value == 0) return "NULL";
    return value == kForeign ? "#foreign" : '#' + std::to_string(value);
}

}  // namespace

const Word* find_word(Family family, std::string_view name) {
    for (const auto& w : words(family))
        if (w.name == name) return &w;
    return nullptr;
}

bool parse_plain(std::string_view text, std::uint64_t& out) {
    int base = 10;
    if (text.starts_with("0x") || text.starts_with("0X")) {
        text.remove_prefix(2);
        base = 16;
    }
    if (text.empty()) return false;
    const auto* last = text.data() + text.size();
    const auto read = std::from_chars(text.data(), last, out, base);
    return read.ec == std::errc{} && read.ptr == last;
}

std::string print_hex(std::uint64_t value) {
    char digits[16];
    const auto written = std::to_chars(digits, digits + sizeof digits, value, 16);
    return "0x" + std::string(digits, written.ptr);
}

bool read_value(Scanner& in, Family family, std::uint64_t& out) {
    if (family == Family::none) return read_plain(in, out);
    if (!read_atom(in, family, out)) return false;
    for (;;) {
        Scanner ahead = in;
        ahead.skip_space();
        if (!ahead.take('|')) return true;
        if (!is_joined(family)) {
            in.skip_space();
            return in.expected("a field of " + std::string(family_name(family)) + " holds one value");
        }
        ahead.skip_space();
        in = ahead;
        std::uint64_t more = 0;
        if (!read_atom(in, family, more)) return false;
        out |= more;
    }
}

bool read_number(Scanner& in, const FieldRow& field, std::uint64_t& out) {
    switch (field.form) {
        case Form::Object:
            return read_handle(in, out);
        case Form::Bits:
        case Form::Enum:
            return read_value(in, field.family, out);
        default:
            return read_counted(in, field, out);
    }
}

bool parse_version(std::string_view text, Version& out) {
    const auto dot = text.find('.');
    std::uint64_t major_part = 0;
    std::uint64_t minor_part = 0;
    if (dot == std::string_view::npos) {
        if (!text.starts_with("0x") || !parse_plain(text, major_part) || major_part > 0xffffffffU) return false;
        out = Version(static_cast<std::uint32_t>(major_part));
        return true;
    }
    const auto before = text.substr(0, dot);
    const auto after = text.substr(dot + 1);
    if (before.starts_with("0x") || after.starts_with("0x")) return false;
    if (!parse_plain(before, major_part) || !parse_plain(after, minor_part)) return false;
    if (major_part > 0xffff || minor_part > 0xffff) return false;
    out = Version(static_cast<unsigned>(major_part), static_cast<unsigned>(minor_part));
    return true;
}

bool read_version(Scanner& in, Version& out) {
    const auto at = in.at();
    const auto token = in.word();
    if (parse_version(token, out)) return true;
    if (token.empty()) return in.expected("here stands a version, such as 1.17");
    return in.fail(at, shown(token) + " is no version; write 1.17, or the packed number in hexadecimal: 0x10011");
}

bool parse_value(Family family, std::string_view text, std::uint64_t& out, TextError& error) {
    Scanner in(text);
    std::uint64_t value = 0;
    if (!read_value(in, family, value) || (!in.end() && !in.expected("the value ends before it"))) {
        error = in.error();
        return false;
    }
    out = value;
    return true;
}

bool parse_value(Family family, std::string_view text, std::uint64_t& out) {
    TextError ignored;
    return parse_value(family, text, out, ignored);
}

std::string print_value(Family family, std::uint64_t value) {
    if (family == Family::none) return value == kMax ? "max" : std::to_string(value);
    return is_bits(family) ? print_bits(family, value) : print_enum(family, value);
}

// A call returns errors as negative numbers; a positive one is none.
static std::string print_return(std::int64_t value) {
    return value > 0 ? std::to_string(value) : print_error(static_cast<int>(value));
}

std::string print_number(Field field, std::uint64_t value) {
    const auto& r = row(field);
    if (r.form == Form::Object) return print_handle(value);
    if (field == Field::call_flags) return print_value(Family::getinfo_flags, value);
    if (field == Field::call_return) return print_return(static_cast<std::int64_t>(value));
    if (field == Field::ep_mem_tag_format) return print_hex(value);
    if (is_version(field) && value >= 0x10000 && value <= 0xffffffffU)
        return Version(static_cast<std::uint32_t>(value)).str();
    if ((field == Field::ep_tx_ctx_cnt || field == Field::ep_rx_ctx_cnt) && value == kMax) return "FI_SHARED_CONTEXT";
    return print_value(r.family, value);
}

std::string print_error(int error) {
    const auto number = error < 0 ? -static_cast<std::int64_t>(error) : error;
    for (const auto& w : words(Family::error))
        if (!w.alias && w.value == static_cast<std::uint64_t>(number)) return std::string(w.name);
    return std::to_string(error);
}

}  // namespace selvage::model
