#include "conformance/explain/summary.h"

#include <fmt/format.h>

#include <algorithm>

#include "conformance/reproduce/c_text.h"
#include "model/spec/clause.h"
#include "model/text/call_text.h"

namespace selvage::conformance {
namespace {

using namespace model;

// A set of bits that is asked for and only partly offered, or needed and not set.
std::string bits_conflict(const Query& q, const Entry& entry, const FieldRow& r) {
    const auto requested = get(*q.hints, r.field);
    const bool modes = r.field == Field::mode || r.field == Field::domain_mr_mode;
    if (modes) {
        const auto needed = (r.field == Field::mode ? entry.needed_mode : entry.needed_mr_mode) & ~requested;
        return needed ? fmt::format("{}: {} is needed, and not set", r.path, print_value(r.family, needed))
                      : std::string();
    }
    const auto missing = requested & ~(get(entry.offer, r.field) | (r.field == Field::caps ? entry.also_caps : 0));
    if (missing) return fmt::format("{}: {} is not offered", r.path, print_value(r.family, missing));
    return fmt::format("{}: {} are not offered together", r.path, print_value(r.family, requested));
}

std::string conflict(const Query& q, const Entry& entry, const Because& because) {
    const Field f = because.evidence.field;
    if (!q.hints || (!is_number(f) && !is_text(f))) return print_evidence(because.evidence);
    const FieldRow& r = row(f);
    if (r.form == Form::Bits) {
        if (auto text = bits_conflict(q, entry, r); !text.empty()) return text;
    }
    const auto most = is_number(f) ? get(entry.most, f) : 0;
    if (r.form == Form::Size && most && get(*q.hints, f) > most)
        return fmt::format("{}: asked {}, at most {}", r.path, print_field(*q.hints, f), most);
    return fmt::format("{}: asked {}, offered {}", r.path, print_field(*q.hints, f), print_field(entry.offer, f));
}

// Capabilities that the entry lacks and an entry for endpoints of another type has: it is the type that stands in the
// way of them.
bool is_of_another_type(const Query& q, const Entry& entry, const std::vector<Explained>& entries) {
    const auto missing = q.hints->caps & ~(entry.offer.caps | entry.also_caps);
    return missing != 0 && std::any_of(entries.begin(), entries.end(), [&](const Explained& e) {
               return e.entry.offer.ep.type != entry.offer.ep.type && (missing & ~e.entry.offer.caps) == 0;
           });
}

// The sides of the link differ, so that a change of the field could help.
bool sides_differ(const Query& q, const Entry& entry, const Because& because) {
    const Field f = because.evidence.field;
    if (!q.hints || (!is_number(f) && !is_text(f))) return true;
    return print_field(*q.hints, f) != print_field(entry.offer, f);
}

// Of what the text leaves open: what the proposal changes.  One that leads to another entry changes none of it.
std::vector<const Because*> open_links(const Query& query, const Explained& nearest, const Proposal* proposal) {
    std::vector<const Because*> changed, differing;
    for (const auto& b : nearest.matching.leaves_open) {
        const auto changes = [&](const Change& c) { return c.field == b.evidence.field; };
        if (!proposal || std::any_of(proposal->changes.begin(), proposal->changes.end(), changes))
            changed.push_back(&b);
        if (sides_differ(query, nearest.entry, b)) differing.push_back(&b);
    }
    return changed.empty() ? differing : changed;
}

bool nearer(const Explained& a, const Explained& b) {
    const auto conflicts = [](const Explained& e) {
        return std::pair(e.matching.refuses.size(), e.matching.leaves_open.size());
    };
    return conflicts(a) < conflicts(b);
}

}  // namespace

std::vector<std::string> obstacles(const Query& query, const std::vector<Explained>& entries,
                                   const Proposal* proposal) {
    std::vector<std::string> out;
    const auto nearest = std::min_element(entries.begin(), entries.end(), nearer);
    if (nearest == entries.end()) return out;
    std::vector<const Because*> links;
    for (const auto& b : nearest->matching.refuses) links.push_back(&b);
    if (links.empty()) links = open_links(query, *nearest, proposal);
    for (const Because* b : links) {
        auto line = conflict(query, nearest->entry, *b);
        if (query.hints && b->evidence.field == Field::caps && is_of_another_type(query, nearest->entry, entries))
            line += " with " + print_field(nearest->entry.offer, Field::ep_type);
        if (std::find(out.begin(), out.end(), line) == out.end()) out.push_back(std::move(line));
    }
    return out;
}

std::string unrequested_capabilities(const Query& query, const std::vector<Info>& offers) {
    const auto requested = query.hints ? query.hints->caps : 0;
    if (!requested || offers.empty()) return {};
    std::uint64_t unrequested = 0;
    for (const auto& o : offers) unrequested |= o.caps & ~requested;
    if (!unrequested) return {};
    std::uint64_t implied = 0, secondary = 0;
    for (const auto& w : words(Family::caps)) {
        if (w.alias || !(unrequested & w.value)) continue;
        (w.word_class == WordClass::Secondary ? secondary : implied) |= w.value;
    }
    std::string out;
    if (implied) out += print_value(Family::caps, implied) + " (implied)";
    if (secondary) out += (out.empty() ? "" : ", ") + print_value(Family::caps, secondary) + " (secondary)";
    return out;
}

std::string c_statement(const Query& query, Field f) {
    if (f == Field::call_node) return fmt::format("node = {};", c::string(query.node));
    if (f == Field::call_service) return fmt::format("service = {};", c::string(query.service));
    if (f == Field::call_flags) return fmt::format("flags = {};", c::value(Family::getinfo_flags, query.flags));
    if (!query.hints || (!is_number(f) && !is_text(f))) return {};
    const auto member = c::plain_member("hints", f);
    if (is_number(f)) return fmt::format("{} = {};", member, c::value(row(f).family, get(*query.hints, f)));
    const Text& value = text(*query.hints, f);
    if (!value) return fmt::format("{} = NULL;", member);
    return row(f).form == Form::String ? fmt::format("{} = strdup({});", member, c::string(value)) : std::string();
}

}  // namespace selvage::conformance
