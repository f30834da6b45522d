// See c_text.h.
#include "conformance/reproduce/c_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <vector>

#include "conformance/case/quoted.h"
#include "model/text/call_text.h"

namespace selvage::conformance::c {
namespace {

using model::Field;
using model::Form;
using model::Part;

// Names of the vocabulary that the headers of interface 1.17 do not have.
constexpr std::array<std::string_view, 2> kHeaderLacks = {"FI_XPU", "FI_TYPE_EP_CAP"};

bool header_has(std::string_view word) {
    return std::find(kHeaderLacks.begin(), kHeaderLacks.end(), word) == kHeaderLacks.end();
}

// A word of the vocabulary or a number, as C.
std::string one(model::Family family, std::string_view word) {
    if (word.empty() || word == "none") return "0";
    std::uint64_t v = 0;
    const bool known = model::parse_value(family, word, v);
    if (word.starts_with("FI_"))
        return header_has(word) ? std::string(word) : number(v) + " /* " + std::string(word) + " */";
    return known ? number(v) : std::string(word);
}

std::string literal(Field f, std::uint64_t v) {
    const auto& r = model::row(f);
    v &= r.widest;  // cut as the codec cuts it
    if (r.form == Form::Object) return "NULL /* an opened object */";
    const std::string text = value(r.family, v);
    const bool wide = f == Field::domain_mr_mode && v > 0x7FFFFFFFU;
    return wide ? "(int)(" + text + ")" : text;
}

std::string bytes(const std::string& raw) {
    std::string out = "{ ";
    for (const char c : raw) {
        char digits[4];
        const auto r = std::to_chars(digits, digits + sizeof digits, static_cast<unsigned char>(c));
        out.append(digits, r.ptr).append(", ");
    }
    if (raw.empty()) out += "0, ";
    out.resize(out.size() - 2);
    return out + " }";
}

// The name of a member inside its structure: "tx_attr.size" -> "size".
std::string_view short_name(Field f) {
    const auto path = model::row(f).path;
    const auto dot = path.find('.');
    return dot == std::string_view::npos ? path : path.substr(dot + 1);
}

struct Member {
    std::string_view name;
    std::string text;
};

// The members of one part that are not zero.
std::vector<Member> members(const model::Info& info, Part part, Memory memory) {
    const std::string constant = memory == Memory::Constant ? "const " : "";
    std::vector<Member> out;
    for (const auto& r : model::number_fields())
        if (r.part == part && model::get(info, r.field) != 0)
            out.push_back({short_name(r.field), literal(r.field, model::get(info, r.field))});
    for (const auto& r : model::text_fields()) {
        const auto& t = model::text(info, r.field);
        if (r.part != part || !t) continue;
        if (r.form == Form::String) {
            const std::string cast = memory == Memory::Constant ? "(char *)" : "";
            out.push_back({short_name(r.field), cast + "(" + constant + "char[]){ " + quote(*t) + " }"});
        } else {
            const std::string cast = memory == Memory::Constant ? "(unsigned char *)" : "";
            out.push_back({short_name(r.field), cast + "(" + constant + "unsigned char[])" + bytes(*t)});
        }
    }
    return out;
}

std::string define_part(const model::Info& info, Part part, Memory memory) {
    const std::string type = "struct fi_" + std::string(part_name(part));
    std::string out = "\t." + std::string(part_name(part)) + " = ";
    if (memory == Memory::Constant) out += "(" + type + " *)";
    out += "&(" + std::string(memory == Memory::Constant ? "const " : "") + type + "){";
    const auto list = members(info, part, memory);
    if (list.empty()) return out + " 0 },\n";
    out += "\n";
    for (const auto& m : list) out.append("\t\t.").append(m.name).append(" = ").append(m.text).append(",\n");
    return out + "\t},\n";
}

}  // namespace

std::string number(std::uint64_t v) {
    char digits[24];
    if (v <= 65535) return std::to_string(v);
    const auto r = std::to_chars(digits, digits + sizeof digits, v, 16);
    return "0x" + std::string(digits, r.ptr) + (v > 0x7FFFFFFFU ? "ULL" : "");
}

std::string value(model::Family family, std::uint64_t v) {
    if (family == model::Family::none || v == 0) return number(v);
    const std::string words = model::print_value(family, v);
    std::string out;
    for (std::size_t at = 0; at <= words.size();) {
        const auto end = std::min(words.find('|', at), words.size());
        out += (out.empty() ? "" : " | ") + one(family, std::string_view(words).substr(at, end - at));
        at = end + 1;
    }
    return out;
}

std::string string(const model::Text& text) { return text ? quote(*text) : "NULL"; }

std::string version(model::Version v) {
    return "FI_VERSION(" + std::to_string(v.major_part()) + ", " + std::to_string(v.minor_part()) + ")";
}

std::string error(int ret) {
    if (ret == 0) return "0";
    const std::string word = model::print_error(ret);
    return word.starts_with("FI_") ? (ret < 0 ? "-" : "") + word : std::to_string(ret);
}

std::string_view part_name(Part part) {
    for (const auto& p : model::parts())
        if (p.part == part) return p.path;
    return "";
}

std::string part_of(Field f) { return std::string(part_name(model::row(f).part)); }

Field length_of(Field f) { return model::row(f).partner; }

std::string member(std::string_view info, Field f) {
    const std::string part = c::part_of(f);
    const std::string base(info);
    if (part.empty()) return base + "->" + std::string(model::row(f).path);
    const bool pointer = model::is_text(f) || model::row(f).form == Form::Object;
    return "(" + base + "->" + part + " ? " + base + "->" + part + "->" + std::string(short_name(f)) + " : " +
           (pointer ? "NULL" : "0") + ")";
}

std::string plain_member(std::string_view info, Field f) {
    const std::string part = c::part_of(f);
    return std::string(info) + "->" + (part.empty() ? "" : part + "->") + std::string(short_name(f));
}

std::string part_guard(std::string_view info, Field f) {
    const std::string part = c::part_of(f);
    return part.empty() ? "" : std::string(info) + "->" + part + " && ";
}

std::string define_info(std::string_view name, const model::Info& info, Memory memory) {
    std::string out = memory == Memory::Constant ? "static const struct fi_info " : "static struct fi_info ";
    out.append(name).append(" = {\n");
    for (const auto& m : members(info, Part::Info, memory))
        out.append("\t.").append(m.name).append(" = ").append(m.text).append(",\n");
    for (const auto& p : model::attributes())
        if (info.has(p.part)) out += define_part(info, p.part, memory);
    const bool empty = out.ends_with("{\n");
    return out + (empty ? "\t0\n};\n" : "};\n");
}

std::string getinfo_arguments(const model::Query& q, std::string_view hints) {
    return version(q.version) + ", " + string(q.node) + ", " + string(q.service) + ", " +
           value(model::Family::getinfo_flags, q.flags) + ", " + (q.hints ? "&" + std::string(hints) : "NULL");
}

std::string comment(std::string_view text, std::string_view lead, std::size_t width) {
    std::string safe;
    for (const char c : text) {
        if (!safe.empty() && ((safe.back() == '*' && c == '/') || (safe.back() == '/' && c == '*')))
            safe.push_back(' ');
        const bool plain = static_cast<unsigned char>(c) >= 0x20 && static_cast<unsigned char>(c) < 0x7F;
        safe.push_back(plain || c == '\n' ? c : '.');
    }
    std::string out;
    std::string line;
    const auto flush = [&] {
        std::string whole = std::string(lead) + line;
        while (!whole.empty() && whole.back() == ' ') whole.pop_back();
        out += whole + "\n";
        line.clear();
    };
    for (std::size_t at = 0; at < safe.size();) {
        const auto end = std::min(safe.find_first_of(" \n", at), safe.size());
        const auto word = std::string_view(safe).substr(at, end - at);
        if (!line.empty() && lead.size() + line.size() + 1 + word.size() > width) flush();
        line.append(line.empty() ? "" : " ").append(word);
        if (end < safe.size() && safe[end] == '\n') flush();
        at = end + 1;
    }
    if (!line.empty()) flush();
    return out;
}

std::string for_printf(std::string_view text) {
    std::string escaped = quote(text);
    std::string out;
    for (const char c : std::string_view(escaped).substr(1, escaped.size() - 2)) {
        if (c == '%') out.push_back('%');
        out.push_back(c);
    }
    return out;
}

}  // namespace selvage::conformance::c
