#include "model/explain/explain.h"

#include <algorithm>
#include <set>

#include "model/text/call_text.h"

namespace selvage::model {
namespace {

std::string shown(const Query& q, Field f) {
    if (f == Field::call_node) return q.node.value_or("NULL");
    if (f == Field::call_service) return q.service.value_or("NULL");
    if (f == Field::call_flags) return print_value(Family::getinfo_flags, q.flags);
    return q.hints ? print_field(*q.hints, f) : "NULL hints";
}

// The change to one field that brings the call to an entry: bits that are not offered go, bits that are needed come, a
// number becomes the offered one, a name the offered name.
bool mend(Query& q, Field f, const Entry& entry) {
    const auto before = q;
    if (f == Field::call_node) q.node.reset();
    if (f == Field::call_service) q.service.reset();
    if (f == Field::call_flags) q.flags = 0;
    if (q.hints && is_text(f)) {
        text(*q.hints, f) = f == Field::src_addr || f == Field::dest_addr ? Text{} : text(entry.offer, f);
        if (f == Field::src_addr) q.hints->src_addrlen = 0;
        if (f == Field::dest_addr) q.hints->dest_addrlen = 0;
    }
    if (q.hints && is_number(f)) {
        const auto& r = row(f);
        if (r.part != Part::Info) q.hints->add(r.part);
        const auto requested = get(*q.hints, f);
        const auto offered = get(entry.offer, f);
        if (f == Field::mode || f == Field::domain_mr_mode) {
            const auto needed = f == Field::mode ? entry.needed_mode : entry.needed_mr_mode;
            set(*q.hints, f, (requested | offered | needed) & ~std::uint64_t{f == Field::domain_mr_mode ? 3U : 0U});
        } else if (r.form == Form::Bits) {
            set(*q.hints, f, requested & (offered | entry.also_caps));
        } else {
            set(*q.hints, f, offered);
        }
    }
    return !(q == before);
}

// Drops a field altogether, where mending alone does not help.
bool forget(Query& q, Field f) {
    const auto before = q;
    if (q.hints && is_number(f)) set(*q.hints, f, 0);
    if (q.hints && is_text(f)) text(*q.hints, f).reset();
    return !(q == before);
}

// Fields that refuse, mended one after the other until the model is content or nothing helps.
std::set<Field> mend_all(Query& q, const World& world, const Profile& profile, const Entry& entry) {
    std::set<Field> changed;
    for (int round = 0; round < 24; ++round) {
        const Matching m = match(q, world, profile, entry);
        if (m.refuses.empty() && m.leaves_open.empty()) break;
        bool any = false;
        std::set<Field> seen;  // two clauses may speak of one field
        for (const auto* list : {&m.refuses, &m.leaves_open}) {
            for (const auto& b : *list) {
                const Field f = b.evidence.field;
                if (!seen.insert(f).second) continue;
                const bool again = changed.contains(f);
                if (again ? forget(q, f) : mend(q, f, entry)) {
                    changed.insert(f);
                    any = true;
                }
            }
        }
        if (!any) break;
    }
    return changed;
}

void restore(Query& q, const Query& from, Field f) {
    if (f == Field::call_node) q.node = from.node;
    if (f == Field::call_service) q.service = from.service;
    if (f == Field::call_flags) q.flags = from.flags;
    if (!q.hints || !from.hints) return;
    if (is_number(f)) set(*q.hints, f, get(*from.hints, f));
    if (is_text(f)) {
        text(*q.hints, f) = text(*from.hints, f);
        if (f == Field::src_addr) q.hints->src_addrlen = from.hints->src_addrlen;
        if (f == Field::dest_addr) q.hints->dest_addrlen = from.hints->dest_addrlen;
    }
}

// Bits of mode and mr_mode that were added, but are not needed one by one.
void take_back_bits(Query& q, const Query& from, const std::set<Field>& changed,
                    const std::function<bool(const Query&)>& granted) {
    for (const Field f : {Field::mode, Field::domain_mr_mode}) {
        if (!changed.contains(f) || !q.hints || !from.hints) continue;
        const auto added = get(*q.hints, f) & ~get(*from.hints, f);
        for (std::uint64_t bit = 1; bit != 0; bit <<= 1) {
            if ((added & bit) == 0) continue;
            Query without = q;
            set(*without.hints, f, get(*q.hints, f) & ~bit);
            if (granted(without)) q = without;
        }
    }
}

}  // namespace

std::vector<Explained> explain(const Query& query, const World& world, const Profile& profile) {
    std::vector<Explained> out;
    for (const auto& e : profile.entries) {
        out.push_back({profile.provider, e, match(query, world, profile, e)});
    }
    return out;
}

std::vector<Proposal> propose(const Query& query, const World& world, const std::vector<Explained>& entries,
                              const TryIt& try_it, std::size_t most) {
    std::vector<Proposal> out;
    for (const auto& e : entries) {
        const Profile profile{
            .provider = e.provider, .version = query.version, .origin = Origin::Inferred, .entries = {e.entry}};
        Query q = query;
        auto changed = mend_all(q, world, profile, e.entry);
        if (changed.empty() || !try_it(q, e.provider)) continue;
        // A change that the library does not need is taken back.
        for (auto it = changed.begin(); it != changed.end();) {
            Query without = q;
            restore(without, query, *it);
            if (try_it(without, e.provider)) {
                q = without;
                it = changed.erase(it);
            } else {
                ++it;
            }
        }
        take_back_bits(q, query, changed, [&](const Query& smaller) { return try_it(smaller, e.provider); });
        // The change of type may have been taken back: then another entry grants it.
        const Info& granting = q.hints && q.hints->ep.type != 0 ? *q.hints : e.entry.offer;
        Proposal p{.query = q, .changes = {}, .granted_by = e.provider + " " + print_field(granting, Field::ep_type)};
        for (const Field f : changed) p.changes.push_back({f, shown(query, f), shown(q, f)});
        const bool known = std::any_of(out.begin(), out.end(), [&](const Proposal& o) { return o.query == p.query; });
        if (!known) out.push_back(std::move(p));
    }
    std::stable_sort(out.begin(), out.end(),
                     [](const auto& a, const auto& b) { return a.changes.size() < b.changes.size(); });
    if (out.size() > most) out.resize(most);
    return out;
}

}  // namespace selvage::model
