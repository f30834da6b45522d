// Differences between what a provider declares and what it was seen to do.
//
// Only what both sides can know is compared: an inferred profile has no limit where none was found, and what depends on
// the call (addresses, objects, keys, the caller's own api_version) is left out.
#include <optional>

#include "model/text/profile_text.h"
#include "model/text/value_text.h"

namespace selvage::model {
namespace {

std::string label(const Info& offer) {
    return print_value(Family::ep_type, offer.ep.type) + ' ' + print_value(Family::protocol, offer.ep.protocol) + ' ' +
           print_value(Family::addr_format, offer.addr_format) + ' ' + print_field(offer, Field::domain_name);
}

bool are_paired(const Info& a, const Info& b) {
    return a.ep.type == b.ep.type && a.ep.protocol == b.ep.protocol && a.addr_format == b.addr_format &&
           a.domain.name == b.domain.name;
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

bool is_compared(const FieldRow& r) {
    return r.form != Form::Object && r.form != Form::Bytes && r.field != Field::src_addrlen &&
           r.field != Field::dest_addrlen && r.field != Field::fabric_api_version;
}

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
    for (const auto& r : text_fields())
        if (is_compared(r))
            lines.values(r.path, print_field(declared.offer, r.field), print_field(seen.offer, r.field));
}

// The largest size that is granted: the limit, or the value itself where there is none.
std::uint64_t largest(const Entry& entry, Field f) {
    const auto limit = get(entry.most, f);
    return limit != 0 ? limit : get(entry.offer, f);
}

void diff_limits(const Entry& declared, const Entry& seen, Lines& lines) {
    for (const auto& r : number_fields()) {
        if (r.form != Form::Size || get(seen.most, r.field) == 0) continue;
        const auto a = largest(declared, r.field);
        const auto b = largest(seen, r.field);
        if (a != b)
            lines.add(r.path, "is declared to be granted up to " + print_number(r.field, a) + ", seen granted up to " +
                                  print_number(r.field, b));
    }
}

void diff_entries(const Entry& declared, const Entry& seen, std::vector<std::string>& out) {
    Lines lines(label(declared.offer), out);
    lines.bits("caps", Family::caps, declared.offer.caps | declared.also_caps, seen.offer.caps | seen.also_caps);
    diff_offers(declared, seen, lines);
    lines.bits("needs.mode", Family::mode, declared.needed_mode, seen.needed_mode);
    lines.bits("needs.mr_mode", Family::mr_mode, declared.needed_mr_mode, seen.needed_mr_mode);
    diff_limits(declared, seen, lines);
}

}  // namespace

std::vector<std::string> diff_profiles(const Profile& declared, const Profile& seen) {
    std::vector<std::string> out;
    if (declared.provider != seen.provider)
        out.push_back("provider is declared as " + quote(declared.provider) + ", seen as " + quote(seen.provider));
    std::vector<bool> taken(seen.entries.size(), false);
    for (const auto& entry : declared.entries) {
        std::optional<std::size_t> match;
        for (std::size_t i = 0; i < taken.size() && !match; ++i)
            if (!taken[i] && are_paired(entry.offer, seen.entries[i].offer)) match = i;
        if (match) {
            taken[*match] = true;
            diff_entries(entry, seen.entries[*match], out);
        } else {
            out.push_back(label(entry.offer) + ": declared, not seen");
        }
    }
    for (std::size_t i = 0; i < taken.size(); ++i)
        if (!taken[i]) out.push_back(label(seen.entries[i].offer) + ": seen, not declared");
    return out;
}

}  // namespace selvage::model
