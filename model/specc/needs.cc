#include "model/specc/needs.h"

#include <algorithm>
#include <array>
#include <sstream>
#include <string_view>

#include "model/specc/cxx_text.h"
#include "model/value/field_table.h"

namespace selvage::specc {
namespace {

struct FieldName {
    std::string_view path, name, form, family;
};
constexpr FieldName kFields[] = {
#define X(name, path, part, structure, abi, member, form, family, hint) {path, #name, #form, #family},
    SELVAGE_NUMBER_FIELDS(X)
#undef X
};

constexpr std::array kConditions = {"nic",     "connectionless", "connected", "sockets",
                                    "layered", "names-itself",   "override",  "shortage"};
constexpr std::array kClasses = {"eq", "cq", "cntr", "av", "mr", "ep", "pep", "srx"};

// A need, taken apart.  Of the fields only those are set that its kind has.
struct Parts {
    std::string kind;   // as spec/ writes it
    std::string field;  // a path
    std::string value;  // number, words, class or id
    std::string text;
};

bool is_verb(const std::string& s) {
    return s == "above" || s == "has" || s == "lacks" || s == "is" || s == "insists on";
}

Parts take_apart(const std::string& need) {
    Parts p;
    std::istringstream in(need);
    std::string first;
    in >> first >> p.kind;
    if (p.kind == "insists") {
        std::string on;
        in >> on;
        p.kind += " " + on;
    }
    if (is_verb(p.kind)) {
        p.field = first;
        std::getline(in >> std::ws, p.value);
        return p;
    }
    p.kind = first;
    if (need.size() > first.size()) p.value = need.substr(first.size() + 1);
    if (p.kind == "until" || p.kind == "once") {
        const auto colon = p.value.find(": ");
        if (colon != std::string::npos) p.text = p.value.substr(colon + 2);
        p.value = p.value.substr(0, colon);
    }
    return p;
}

const FieldName* find_field(const std::string& path) {
    const auto* const at =
        std::find_if(std::begin(kFields), std::end(kFields), [&](auto& f) { return f.path == path; });
    return at == std::end(kFields) ? nullptr : at;
}

std::string unknown_word(const Spec& spec, const FieldName& field, const std::string& words) {
    const auto family = std::find_if(spec.families.begin(), spec.families.end(),
                                     [&](const WordFamily& f) { return f.name == field.family; });
    std::istringstream in(words);
    for (std::string word; std::getline(in, word, '|');) {
        if (family == spec.families.end() ||
            std::none_of(family->words.begin(), family->words.end(), [&](const Word& w) { return w.name == word; }))
            return "'" + word + "' is no word of " + std::string(field.path);
    }
    return {};
}

std::string field_problem(const Spec& spec, const Parts& p) {
    const auto* const field = find_field(p.field);
    if (field == nullptr) return "'" + p.field + "' is no field of numbers";
    if (p.kind == "above") {
        const bool number = !p.value.empty() && p.value.find_first_not_of("0123456789") == std::string::npos;
        return field->family == "none" && number ? "" : "'above' takes a field of numbers and a number";
    }
    if (p.kind == "insists on" && p.field != "mode" && p.field != "domain_attr.mr_mode")
        return "an offer insists on bits of mode or domain_attr.mr_mode alone";
    const std::string form = p.kind == "is" ? "Enum" : "Bits";
    if (field->form != form) return "'" + p.kind + "' takes a field of " + (form == "Enum" ? "one word" : "bits");
    if (p.value == "any" && p.kind != "is") return {};
    return p.value.empty() ? "names no word" : unknown_word(spec, *field, p.value);
}

std::string value_of(const Parts& p) {
    if (p.kind == "above") return p.value;
    if (p.value == "any") return "~std::uint64_t{0}";
    return "std::uint64_t{" + p.value + "}";
}

}  // namespace

std::string need_problem(const Spec& spec, const std::string& need) {
    const Parts p = take_apart(need);
    const auto one_of = [](const auto& list, const std::string& s) {
        return std::any_of(list.begin(), list.end(), [&](const char* l) { return s == l; });
    };
    if (is_verb(p.kind)) return field_problem(spec, p);
    if (p.kind == "opens") return one_of(kClasses, p.value) ? "" : "'" + p.value + "' is no class of objects";
    const bool reason = p.kind == "until" || p.kind == "once";
    if (reason || p.kind == "kept" || p.kind == "granted") {
        const bool known = std::any_of(spec.clauses.begin(), spec.clauses.end(),
                                       [&](const Clause& c) { return c.id == p.value && c.judges != "none"; });
        if (!known) return "'" + p.value + "' is no clause that is judged";
        return reason && p.text.empty() ? "gives no reason" : "";
    }
    return one_of(kConditions, need) ? "" : "says nothing that is known";
}

std::string need_row(const std::string& need) {
    const Parts p = take_apart(need);
    const auto kind = "{.kind = NeedKind::";
    if (is_verb(p.kind))
        return kind + capital(p.kind.substr(0, p.kind.find(' '))) +
               ", .field = Field::" + std::string(find_field(p.field)->name) + ", .value = " + value_of(p) + "}";
    if (p.kind == "opens") return kind + std::string("Opens, .object = ObjectClass::") + capital(p.value) + "}";
    if (p.value.empty()) return kind + capital(need) + "}";
    return kind + capital(p.kind) + ", .other = Clause::" + identifier(p.value) + ", .text = " + quoted(p.text) + "}";
}

}  // namespace selvage::specc
