// Differences between what a provider declares and what it was seen to do.
//
// Only what both sides can know is compared: an inferred profile has no limit where none was looked for, and what
// depends on the call (addresses, objects, keys, the caller's own api_version) is left out.  Limits are compared in
// full with a profile that was read, since whoever wrote it looked for all of them.
#include <algorithm>

#include "model/text/profile_pairs.h"
#include "model/text/profile_text.h"
#include "model/text/value_text.h"

namespace selvage::model {
namespace {

std::string label(const Entry& entry) {
    const Info& offer = entry.offer;
    return print_value(Family::ep_type, offer.ep.type) + ' ' + print_value(Family::protocol, offer.ep.protocol) + ' ' +
           print_value(Family::addr_format, offer.addr_format) + ' ' +
           (entry.any_domain ? "any domain" : print_field(offer, Field::domain_name));
}

// Collects the lines that speak of one pair of entries.
class Lines {
public:
    Lines(std::string label, std::vector<std::string>& out) : label_(std::move(label)), out_(out) {}

    void add(std::string_view path, const std::string& what) {
        out_.push_back(label_ + ": " + std::string(path) + ' ' + what);
    }
    void bits(std::string_view path, Family family, std::uint64_t declared, std::uint64_t seen) {
        if (const auto gone = declared & ~seen; gone != 0)
            add(path, "declares " + print_value(family, gone) + ", not seen");
        if (const auto extra = seen & ~declared; extra != 0)
            add(path, "has " + print_value(family, extra) + ", not declared");
    }
    void values(std::string_view path, const std::string& declared, const std::string& seen) {
        if (declared != seen) add(path, "is declared as " + declared + ", seen as " + seen);
    }

private:
    std::string label_;
    std::vector<std::string>& out_;
};

bool is_compared(const FieldRow& r) { return !is_of_the_call(r) && r.field != Field::fabric_api_version; }

void diff_offers(const Entry& declared, const Entry& seen, Lines& lines) {
    for (const auto& r : number_fields()) {
        if (!is_compared(r) || r.field == Field::caps) continue;
        const auto a = get(declared.offer, r.field);
        const auto b = get(seen.offer, r.field);
        if (r.form == Form::Bits)
            lines.bits(r.path, r.family, a, b);
        else
            lines.values(r.path, print_number(r.field, a), print_number(r.field, b));
    }
    for (const auto& r : text_fields()) {
        const bool left_open = (r.field == Field::domain_name && declared.any_domain) ||
                               (r.field == Field::fabric_name && declared.any_fabric);
        if (is_compared(r) && !left_open)
            lines.values(r.path, print_field(declared.offer, r.field), print_field(seen.offer, r.field));
    }
}

// The largest size that is granted: the limit, or the value itself where there is none.
std::uint64_t largest(const Entry& entry, Field f) {
    const auto limit = get(entry.most, f);
    return limit != 0 ? limit : get(entry.offer, f);
}

void diff_largest(const Entry& declared, const Entry& seen, const FieldRow& r, Lines& lines) {
    const auto a = largest(declared, r.field);
    const auto b = largest(seen, r.field);
    if (a == b) return;
    lines.add(r.path, "is declared to be granted up to " + print_number(r.field, a) + ", seen granted up to " +
                          print_number(r.field, b));
}

// Values that one side grants when they are asked for and the other does not; what an entry shows, it grants.
void diff_choices(const Entry& declared, const Entry& seen, const FieldRow& r, Lines& lines) {
    const auto granted = [&](const Entry& e, std::uint64_t value) {
        return get(e.offer, r.field) == value || is_choice(e.most, r.field, value);
    };
    if (((get(declared.most, r.field) ^ get(seen.most, r.field)) & kAnyChoice) != 0) {
        const bool here = (get(declared.most, r.field) & kAnyChoice) != 0;
        return lines.add(r.path, here ? "declares any to be granted, seen refused" : "is granted as any, not declared");
    }
    for (const auto& w : words(r.family)) {
        if (w.alias || granted(declared, w.value) == granted(seen, w.value)) continue;
        const bool here = granted(declared, w.value);
        lines.add(r.path, (here ? "declares " : "is granted as ") + std::string(w.name) +
                              (here ? " to be granted, seen refused" : ", not declared"));
    }
}

void diff_limits(const Entry& declared, const Entry& seen, bool in_full, Lines& lines) {
    for (const auto& r : number_fields()) {
        if (!is_compared(r) || (!in_full && (r.form != Form::Size || get(seen.most, r.field) == 0))) continue;
        if (r.form == Form::Size || r.form == Form::Number)
            diff_largest(declared, seen, r, lines);
        else if (r.form == Form::Enum)
            diff_choices(declared, seen, r, lines);
        else if (r.field != Field::caps)
            lines.bits("limits." + std::string(r.path), r.family,
                       get(declared.offer, r.field) | get(declared.most, r.field),
                       get(seen.offer, r.field) | get(seen.most, r.field));
    }
}

void diff_entries(const Entry& declared, const Entry& seen, bool in_full, std::vector<std::string>& out) {
    Lines lines(label(declared.any_domain ? seen : declared), out);
    lines.bits("caps", Family::caps, declared.offer.caps | declared.also_caps, seen.offer.caps | seen.also_caps);
    diff_offers(declared, seen, lines);
    lines.bits("needs.mode", Family::mode, declared.needed_mode, seen.needed_mode);
    lines.bits("needs.mr_mode", Family::mr_mode, declared.needed_mr_mode, seen.needed_mr_mode);
    diff_limits(declared, seen, in_full, lines);
}

}  // namespace

std::vector<std::string> diff_profiles(const Profile& declared, const Profile& seen) {
    std::vector<std::string> out;
    if (declared.provider != seen.provider)
        out.push_back("provider is declared as " + quote(declared.provider) + ", seen as " + quote(seen.provider));
    const auto pairs = pair_entries(declared, seen);
    const bool in_full = seen.origin == Origin::Declared;
    for (std::size_t k = 0; k < declared.entries.size(); ++k) {
        const Entry& entry = declared.entries[k];
        bool paired = false;
        for (const auto& p : pairs) {
            if (p.declared == k) diff_entries(entry, seen.entries[p.seen], in_full, out);
            paired = paired || p.declared == k;
        }
        // A machine may have no domain of a kind; a provider that offers nothing at all is another matter.
        const bool may_be_absent = (entry.any_domain || entry.any_fabric) && !pairs.empty();
        if (!paired && !may_be_absent) out.push_back(label(entry) + ": declared, not seen");
    }
    for (std::size_t i = 0; i < seen.entries.size(); ++i) {
        const bool paired = std::any_of(pairs.begin(), pairs.end(), [&](const Pairing& p) { return p.seen == i; });
        if (!paired) out.push_back(label(seen.entries[i]) + ": seen, not declared");
    }
    return out;
}

}  // namespace selvage::model
