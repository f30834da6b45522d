// Prints calls, hints and single fields.  Every number field is visited once, so printing is linear in the text.
#include "model/text/address_text.h"
#include "model/text/value_text.h"

namespace selvage::model {
namespace {

// What a number field holds if it is not written: a length the size of its bytes.
std::uint64_t implied(const Info& info, const FieldRow& r) {
    const Text* const bytes = r.hint == Hint::Length ? &text(info, r.partner) : nullptr;
    return bytes != nullptr && *bytes ? (*bytes)->size() : 0;
}

bool all_present(const Info& info) { return (info.present & kAllParts) == kAllParts; }

void add(std::string& out, std::string_view name, std::string_view value) {
    if (!out.empty()) out += ", ";
    out += name;
    out += '=';
    out += value;
}

// One part: its fields that are not zero, or its name where nothing else would tell that it is there.
void print_part(const Info& info, Part part, std::string_view name, std::string& out) {
    bool written = part == Part::Info || !info.has(part) || (part != Part::Nic && all_present(info));
    for (const auto& r : number_fields()) {
        if (r.part != part || get(info, r.field) == implied(info, r)) continue;
        add(out, r.path, print_field(info, r.field));
        written = true;
    }
    for (const auto& r : text_fields()) {
        if (r.part != part || !text(info, r.field)) continue;
        add(out, r.path, print_field(info, r.field));
        written = true;
    }
    if (!written) add(out, name, "present");
}

std::string inside(const Info& hints) {
    std::string out;
    print_part(hints, Part::Info, "", out);
    for (const auto& p : parts()) print_part(hints, p.part, p.path, out);
    return out;
}

}  // namespace

std::string print_call(const Query& query) {
    std::string out = "version=" + query.version.str();
    if (query.node) out += " node=" + quote(*query.node);
    if (query.service) out += " service=" + quote(*query.service);
    if (query.flags != 0) out += " flags=" + print_value(Family::getinfo_flags, query.flags);
    if (query.hints)
        out += std::string(" hints=") + (all_present(*query.hints) ? "" : "bare") + '{' + inside(*query.hints) + '}';
    return out;
}

std::string print_hints(const Info& hints) {
    return all_present(hints) ? inside(hints) : "bare{" + inside(hints) + '}';
}

std::string print_field(const Info& info, Field field) {
    if (is_number(field)) return print_number(field, get(info, field));
    if (const auto* p = part_of(field)) return info.has(p->part) ? "present" : "NULL";
    const auto& value = text(info, field);
    if (!value) return "NULL";
    if (row(field).form == Form::String) return quote(*value);
    return row(field).part == Part::Info ? print_address(*value, info.addr_format) : print_bytes(*value);
}

}  // namespace selvage::model
