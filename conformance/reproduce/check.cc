// See check.h.
#include "conformance/reproduce/check.h"

#include "conformance/reproduce/c_text.h"
#include "model/text/call_text.h"

namespace selvage::conformance {
namespace {

using model::Evidence;
using model::Field;
using model::Form;
using model::Relation;

bool is_part(Field f) { return model::part_of(f) != nullptr; }

std::string path(Field f) { return std::string(model::row(f).path); }

bool by_pointer(const Evidence& e) {
    return is_part(e.field) || model::is_text(e.field) || model::row(e.field).form == Form::Object;
}

// The value of a field of `o` as an expression of unsigned long long, or of a pointer.
std::string expression(Field f) {
    if (is_part(f)) return "o->" + path(f);
    return c::member("o", f);
}

void emit_seen_number(Program& p, Field f) {
    const std::string cast = model::row(f).form == Form::Object ? "(uintptr_t)" : "";
    p.helper("static unsigned long long seen(const struct fi_info *o)\n{\n\treturn (unsigned long long)" + cast +
             expression(f) + ";\n}\n");
}

void emit_kept(Program& p, const std::string& condition) {
    p.helper("static int kept(const struct fi_info *o)\n{\n\treturn " + condition + ";\n}\n");
}

// A relation between two numbers as C: what is compared, and by which operator it holds and is broken.
struct Comparison {
    std::string left;
    const char* holds;
    const char* broken;
    std::string right;
};

Comparison comparison(Relation r, const std::string& seen, const std::string& expected) {
    switch (r) {
        case Relation::Differs:
            return {seen, " != ", " == ", expected};
        case Relation::Contains:
            return {"(" + seen + " & " + expected + ")", " == ", " != ", expected};
        case Relation::Within:
            return {"(" + seen + " & ~" + expected + ")", " == ", " != ", "0"};
        case Relation::Meets:
            return {"(" + seen + " & " + expected + ")", " != ", " == ", "0"};
        case Relation::Lacks:
            return {"(" + seen + " & " + expected + ")", " == ", " != ", "0"};
        case Relation::AtLeast:
            return {seen, " >= ", " < ", expected};
        case Relation::AtMost:
            return {seen, " <= ", " > ", expected};
        case Relation::MultipleOf:
            return {"(" + expected + " ? " + seen + " % " + expected + " : " + seen + ")", " == ", " != ", "0"};
        default:
            return {seen, " == ", " != ", expected};
    }
}

std::string number_condition(Relation r, const std::string& seen, const std::string& expected) {
    const Comparison c = comparison(r, seen, expected);
    return c.left + c.holds + c.right;
}

std::string_view verb(Relation r) {
    switch (r) {
        case Relation::Equals:
        case Relation::TextEquals:
            return "must be";
        case Relation::Differs:
            return "must not be";
        case Relation::Contains:
        case Relation::TextContains:
            return "must contain";
        case Relation::Within:
            return "must be within";
        case Relation::Meets:
            return "must hold one of";
        case Relation::Lacks:
            return "must not hold";
        case Relation::AtLeast:
            return "must be at least";
        case Relation::AtMost:
            return "must be at most";
        case Relation::MultipleOf:
            return "must be a multiple of";
        case Relation::IsNull:
            return "must be NULL";
        case Relation::NotNull:
            return "must not be NULL";
        case Relation::Happens:
            return "must not be";
    }
    return "must be";
}

std::string number_check(Program& p, const Evidence& e) {
    emit_seen_number(p, e.field);
    const bool happens = e.relation == Relation::Happens;
    std::string expected = "wanted(o)";
    std::string note = "";
    if (e.expected_field != Field::subject) {
        // Of bits that the other field has, those that the promise speaks of.
        const bool some = e.relation == Relation::Contains && e.expected != 0;
        const auto bits = c::value(model::row(e.expected_field).family, e.expected);
        p.helper("static unsigned long long wanted(const struct fi_info *o)\n{\n\treturn (unsigned long long)" +
                 (some ? "(" + expression(e.expected_field) + ") & " + bits : expression(e.expected_field)) + ";\n}\n");
        note = " (" + path(e.expected_field) + " of the same entry)";
    } else {
        const auto operand = happens ? e.actual : e.expected;
        p.helper("static unsigned long long wanted(const struct fi_info *o)\n{\n\t(void)o;\n\treturn " +
                 c::value(model::row(e.field).family, operand) + ";\n}\n");
        if (model::row(e.field).family != model::Family::none)
            note = " (" + model::print_value(model::row(e.field).family, operand) + ")";
    }
    emit_kept(p, number_condition(happens ? Relation::Differs : e.relation, "seen(o)", expected));
    return "printf(\"broken: promised: " + path(e.field) + " " + std::string(verb(e.relation)) + " %#llx" +
           c::for_printf(note) + "; seen: %#llx in entry %d of the answer\\n\", wanted(o), seen(o), n);";
}

std::string null_check(Program& p, const Evidence& e) {
    const bool null = e.relation == Relation::IsNull;
    emit_kept(p, expression(e.field) + (null ? " == NULL" : " != NULL"));
    return "printf(\"broken: promised: " + path(e.field) + " " + std::string(verb(e.relation)) +
           "; seen: " + (null ? "not NULL" : "NULL") + " in entry %d of the answer\\n\", n);";
}

// The bytes of a field of `o` are these.
std::string is_bytes(Field f, const std::string& raw) {
    const std::string member = c::plain_member("o", f);
    const std::string size = std::to_string(raw.size());
    return c::part_guard("o", f) + member + " &&\n\t       " + c::plain_member("o", c::length_of(f)) + " == " + size +
           " && memcmp(" + member + ", " + c::string(raw) + ", " + size + ") == 0";
}

// Bytes that must not be there may be named together with those of another field.
std::string bytes_check(Program& p, const Evidence& e, const model::Text& operand, bool equal) {
    const std::string raw = operand.value_or("");
    const std::string member = c::plain_member("o", e.field);
    std::string condition = is_bytes(e.field, raw);
    if (!equal && e.expected_field != Field::subject)
        condition += " &&\n\t       " + is_bytes(e.expected_field, e.expected_text.value_or(""));
    emit_kept(p, equal ? condition : "!(" + condition + ")");
    return "printf(\"broken: promised: " + path(e.field) + " " + std::string(verb(e.relation)) + " the " +
           std::to_string(raw.size()) + " bytes " + (equal ? "asked for" : "of the report") +
           "; seen: %s in entry %d of the answer\\n\",\n\t\t\t       " + c::part_guard("o", e.field) + member +
           " ? \"" + (equal ? "others" : "they") + "\" : \"none\", n);";
}

std::string text_check(Program& p, const Evidence& e) {
    const bool negative = e.relation == Relation::Happens || e.relation == Relation::Differs;
    const model::Text operand = e.relation == Relation::Happens ? e.actual_text : e.expected_text;
    if (e.expected_field == Field::subject && !operand) {
        Evidence null = e;
        null.relation = negative ? Relation::NotNull : Relation::IsNull;
        return null_check(p, null);
    }
    if (model::row(e.field).form == Form::Bytes) return bytes_check(p, e, operand, !negative);
    p.helper("static const char *seen(const struct fi_info *o)\n{\n\treturn " + expression(e.field) + ";\n}\n");
    const std::string expected = e.expected_field != Field::subject ? expression(e.expected_field) : c::string(operand);
    std::string condition = "seen(o) && strcmp(seen(o), " + expected + ") == 0";
    if (e.relation == Relation::TextContains) condition = "seen(o) && strstr(seen(o), " + expected + ")";
    emit_kept(p, negative ? "!(" + condition + ")" : condition);
    const std::string shown = e.expected_field != Field::subject ? path(e.expected_field) : *operand;
    return "printf(\"broken: promised: " + path(e.field) + " " + std::string(verb(e.relation)) + " '" +
           c::for_printf(shown) +
           "'; seen: '%s' in entry %d of the answer\\n\",\n\t\t\t       seen(o) ? seen(o) : \"NULL\", n);";
}

}  // namespace

std::string broken_number(Relation r, const std::string& seen, const std::string& expected) {
    const Comparison c = comparison(r, seen, expected);
    return c.left + c.broken + c.right;
}

bool speaks_of_offers(const Evidence& e) {
    return model::is_number(e.field) || model::is_text(e.field) || is_part(e.field);
}

std::string offer_check(Program& p, const Evidence& e) {
    if (by_pointer(e) && (e.relation == Relation::IsNull || e.relation == Relation::NotNull)) return null_check(p, e);
    if (is_part(e.field)) {
        Evidence null = e;
        null.relation = e.actual != 0 || e.expected == 0 ? Relation::IsNull : Relation::NotNull;
        return null_check(p, null);
    }
    return model::is_text(e.field) ? text_check(p, e) : number_check(p, e);
}

std::string int_condition(const Evidence& e, const std::string& value, bool is_return) {
    const bool happens = e.relation == Relation::Happens;
    const auto operand = static_cast<int>(static_cast<std::int64_t>(happens ? e.actual : e.expected));
    const std::string expected = is_return ? c::error(operand) : std::to_string(operand);
    return number_condition(happens ? Relation::Differs : e.relation, value, expected);
}

std::string promised(const Evidence& e) {
    if (e.relation == Relation::Happens && !e.note.empty()) return e.note;
    const bool is_return = e.field == Field::call_return;
    const auto operand =
        static_cast<int>(static_cast<std::int64_t>(e.relation == Relation::Happens ? e.actual : e.expected));
    const std::string what = is_return ? "the return value" : e.field == Field::call_list ? "the list" : "entries";
    std::string out = what + " " + std::string(verb(e.relation));
    if (e.relation == Relation::IsNull || e.relation == Relation::NotNull) return out;
    return out + " " + (is_return ? c::error(operand) : std::to_string(operand));
}

std::string each_offer(const std::string& entries, const std::string& report) {
    return "\tfor (o = " + entries + "; o; o = o->next, n++) {\n\t\tif (of_provider(o) && !kept(o)) {\n\t\t\t" +
           report + "\n\t\t\treturn 1;\n\t\t}\n\t}\n";
}

}  // namespace selvage::conformance
