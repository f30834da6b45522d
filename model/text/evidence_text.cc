// Evidence as half a sentence for the reader of a report: what a field is, what it must be, and which bits make the
// difference.
#include <bit>

#include "model/text/address_text.h"
#include "model/text/value_text.h"

namespace selvage::model {
namespace {

// The arguments and results that are text, though the field table counts them as neither number nor text.
bool is_text_like(Field f) {
    return is_text(f) || f == Field::call_node || f == Field::call_service || f == Field::string;
}

bool is_pointer_like(Field f) { return f == Field::call_hints || f == Field::call_list || part_of(f) != nullptr; }

bool is_bit_field(Field f) { return row(f).form == Form::Bits || f == Field::call_flags; }

// A rule that forbids a few bits is printed as those bits, not by the long list of all that it allows.
bool allows_nearly_all(const Evidence& e) {
    return e.relation == Relation::Within && is_bit_field(e.field) && e.expected_field == Field::subject &&
           std::popcount(e.expected) > 8 && (e.actual & ~e.expected) != 0;
}

std::string show_text(Field f, const Text& value) {
    if (!value) return "NULL";
    if (row(f).form == Form::Bytes) return row(f).part == Part::Info ? print_address(*value, 0) : print_bytes(*value);
    return quote(*value);
}

std::string show_actual(const Evidence& e) {
    if (e.actual_text) return show_text(e.field, e.actual_text);
    if (e.relation == Relation::IsNull && (is_text_like(e.field) || is_pointer_like(e.field))) return "not NULL";
    if (e.relation == Relation::NotNull || is_text_like(e.field)) return "NULL";
    return print_number(e.field, e.actual);
}

// The operand: a text, another field (with its value, where the evidence holds it) or a number.
std::string show_expected(const Evidence& e) {
    if (e.expected_field != Field::subject) {
        std::string out(row(e.expected_field).path);
        if (e.expected_text) return out + " (" + show_text(e.field, e.expected_text) + ')';
        return e.expected == 0 ? out : out + " (" + print_number(e.field, e.expected) + ')';
    }
    if (e.expected_text || is_text_like(e.field)) return show_text(e.field, e.expected_text);
    return print_number(e.field, e.expected);
}

std::string requirement(const Evidence& e) {
    switch (e.relation) {
        case Relation::Equals:
        case Relation::TextEquals:
            return "must be " + show_expected(e);
        case Relation::Differs:
            return "must not be " + show_expected(e);
        case Relation::Contains:
        case Relation::TextContains:
            return "must contain " + show_expected(e);
        case Relation::Within:
            if (allows_nearly_all(e)) return "must not hold " + print_number(e.field, e.actual & ~e.expected);
            return "must be within " + show_expected(e);
        case Relation::Meets:
            return "must hold one of " + show_expected(e);
        case Relation::Lacks:
            return "must not hold " + show_expected(e);
        case Relation::AtLeast:
            return "must be at least " + show_expected(e);
        case Relation::AtMost:
            return "must be at most " + show_expected(e);
        case Relation::MultipleOf:
            return "must be a multiple of " + show_expected(e);
        case Relation::IsNull:
            return "must be NULL";
        case Relation::NotNull:
            return "must not be NULL";
        case Relation::Happens:
            break;
    }
    return {};
}

void add_bits(std::string& out, Field f, std::uint64_t bits, std::string_view what) {
    if (bits == 0) return;
    const auto names = print_number(f, bits);
    out += out.empty() ? ": " : ", ";
    out += names + (names.find('|') == std::string::npos ? " is " : " are ") + std::string(what);
}

// Which bits make the difference.  A wanted field whose value the evidence lacks shows nothing.
std::string differing_bits(const Evidence& e) {
    if (allows_nearly_all(e) || !is_bit_field(e.field) || (e.expected_field != Field::subject && e.expected == 0))
        return {};
    std::string out;
    if (e.relation == Relation::Contains || e.relation == Relation::Equals)
        add_bits(out, e.field, e.expected & ~e.actual, "missing");
    if (e.relation == Relation::Within || e.relation == Relation::Equals)
        add_bits(out, e.field, e.actual & ~e.expected, "too many");
    return out;
}

}  // namespace

std::string print_evidence(const Evidence& evidence) {
    const auto& e = evidence;
    std::string subject(row(e.field).path);
    if (e.offer >= 0) subject += " of offer " + std::to_string(e.offer);
    if (is_crash(e)) return e.note + std::string(text_of(e.crash));
    // Bytes of a transfer are no number: the note says which stand to which.
    if (e.relation == Relation::Happens || e.field == Field::operation)
        return e.note.empty() ? subject + " does what it must not" : e.note;
    auto out = subject + " is " + show_actual(e) + ", " + requirement(e) + differing_bits(e);
    if (!e.note.empty()) out += " (" + e.note + ')';
    return out;
}

}  // namespace selvage::model
