// Prints calls, hints and single fields.  Every number field is visited once, so printing is linear in the text.
#include "model/text/address_text.h"
#include "model/text/value_text.h"

namespace selvage::model {
namespace {

struct PartName {
    std::string_view name;
    Part part;
};
constexpr PartName kParts[] = {{"", Part::Info},      {"tx_attr", Part::Tx},         {"rx_attr", Part::Rx},
                               {"ep_attr", Part::Ep}, {"domain_attr", Part::Domain}, {"fabric_attr", Part::Fabric},
                               {"nic", Part::Nic}};

// What a length field holds if it is not written: the size of its bytes.
std::uint64_t implied(const Info& info, Field f) {
    const auto size = [&](Field bytes) { return text(info, bytes) ? text(info, bytes)->size() : 0; };
    switch (f) {
        case Field::src_addrlen:
            return size(Field::src_addr);
        case Field::dest_addrlen:
            return size(Field::dest_addr);
        case Field::ep_auth_key_size:
            return size(Field::ep_auth_key);
        case Field::domain_auth_key_size:
            return size(Field::domain_auth_key);
        default:
            return 0;
    }
}

bool all_present(const Info& info) { return (info.present & kAllParts) == kAllParts; }

void add(std::string& out, std::string_view name, std::string_view value) {
    if (!out.empty()) out += ", ";
    out += name;
    out += '=';
    out += value;
}

// One part: its fields that are not zero, or its name where nothing else would tell that it is there.
void print_part(const Info& info, const PartName& named, std::string& out) {
    bool written = named.part == Part::Info || !info.has(named.part) || (named.part != Part::Nic && all_present(info));
    for (const auto& r : number_fields()) {
        if (r.part != named.part || get(info, r.field) == implied(info, r.field)) continue;
        add(out, r.path, print_field(info, r.field));
        written = true;
    }
    for (const auto& r : text_fields()) {
        if (r.part != named.part || !text(info, r.field)) continue;
        add(out, r.path, print_field(info, r.field));
        written = true;
    }
    if (!written) add(out, named.name, "present");
}

std::string inside(const Info& hints) {
    std::string out;
    for (const auto& part : kParts) print_part(hints, part, out);
    return out;
}

bool is_part_field(Field f, Part& part) {
    for (const auto& p : kParts)
        if (p.part != Part::Info && row(f).path == p.name) {
            part = p.part;
            return true;
        }
    return false;
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
    Part part{};
    if (is_part_field(field, part)) return info.has(part) ? "present" : "NULL";
    const auto& value = text(info, field);
    if (!value) return "NULL";
    if (row(field).form == Form::String) return quote(*value);
    return row(field).part == Part::Info ? print_address(*value, info.addr_format) : print_bytes(*value);
}

}  // namespace selvage::model
