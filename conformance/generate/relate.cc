#include "conformance/generate/relate.h"

#include <rdma/fabric.h>

#include <algorithm>
#include <vector>

#include "conformance/generate/queries.h"
#include "conformance/generate/values.h"
#include "model/judge/judge.h"

namespace selvage::conformance {
namespace {

using namespace model;

// Zero is no wildcard in the others, or relaxing them is a relation of its own.
bool is_relaxable(const FieldRow& r) { return r.hint == Hint::Request && r.field != Field::handle; }

std::vector<Field> requested_fields(const Info& hints) {
    std::vector<Field> out;
    for (const auto& r : number_fields()) {
        if (is_relaxable(r) && get(hints, r.field) != 0) out.push_back(r.field);
    }
    for (const auto& r : text_fields()) {
        if (r.field != Field::fabric_prov_name && text(hints, r.field)) out.push_back(r.field);
    }
    return out;
}

bool relax(Query& q, Rng& rng) {
    if (!q.hints) return false;
    const auto fields = requested_fields(*q.hints);
    if (fields.empty()) return false;
    const Field f = fields[rng.below(fields.size())];
    const auto& r = row(f);
    const auto v = is_number(f) ? get(*q.hints, f) : 0;
    if (r.form == Form::Size && v > 1 && rng.chance(40)) {
        set(*q.hints, f, v / 2);
    } else {
        forget(*q.hints, f);
    }
    return true;
}

bool add_modes(Query& q, Rng& rng) {
    if (!q.hints) return false;
    const auto before = q.hints->mode;
    q.hints->mode |= rng.chance(50) ? all_bits(Family::mode) : all_bits(Family::mode) & rng.next();
    return q.hints->mode != before;
}

bool add_mr_modes(Query& q, Rng& rng) {
    constexpr std::uint64_t kOld = FI_MR_BASIC | FI_MR_SCALABLE;
    if (!q.hints || q.version < Version(1, 5) || (q.hints->domain.mr_mode & kOld) != 0) return false;
    const auto bits = all_bits(Family::mr_mode) & ~kOld;
    const auto before = q.hints->domain.mr_mode;
    q.hints->add(Part::Domain);
    q.hints->domain.mr_mode |= rng.chance(50) ? bits : bits & rng.next();
    return q.hints->domain.mr_mode != before;
}

// The ways to say the same in other words.  Each changes `a`, `b` or both so that they ask for one thing, or leaves
// them.
using Rewording = bool (*)(Query& a, Query& b);

bool numeric_flag(Query& a, Query& b) {
    a.node = b.node = "127.0.0.1";
    a.flags &= ~std::uint64_t{FI_NUMERICHOST};
    b.flags = a.flags | FI_NUMERICHOST;
    return true;
}

bool names_against_list(Query& a, Query& b) {
    a = Query{.version = a.version, .node = {}, .service = {}, .flags = 0, .hints = {}};
    b = a;
    b.flags = FI_PROV_ATTR_ONLY;
    return true;
}

bool source_address_that_is_ignored(Query& a, Query& b) {
    if (!a.hints) return false;
    a.node = "127.0.0.1";
    a.service = "7471";
    a.flags |= FI_SOURCE;
    forget(*a.hints, Field::src_addr);
    b = a;
    b.hints->addr_format = a.hints->addr_format = FI_SOCKADDR_IN;
    request(*b.hints, Field::src_addr, std::string("\x02\0\x1d\x2f\xc0\0\x02\x4d\0\0\0\0\0\0\0\0", 16));
    return true;
}

bool destination_that_is_ignored(Query& a, Query& b) {
    if (!a.hints) return false;
    a.node = "127.0.0.1";
    a.flags &= ~std::uint64_t{FI_SOURCE};
    forget(*a.hints, Field::dest_addr);
    b = a;
    b.hints->addr_format = a.hints->addr_format = FI_SOCKADDR_IN;
    request(*b.hints, Field::dest_addr, std::string("\x02\0\x1d\x2f\xc0\0\x02\x4d\0\0\0\0\0\0\0\0", 16));
    return true;
}

bool source_length_alone(Query& a, Query& b) {
    if (!a.hints) return false;
    forget(*a.hints, Field::src_addr);
    b = a;
    b.hints->src_addrlen = 16;
    return true;
}

bool destination_length_alone(Query& a, Query& b) {
    if (!a.hints) return false;
    forget(*a.hints, Field::dest_addr);
    b = a;
    b.hints->dest_addrlen = 16;
    return true;
}

// Every modifier of the capabilities asked for, spelt out.
bool all_modifiers(Query& a, Query& b) {
    if (!a.hints) return false;
    std::uint64_t modifiers = 0;
    std::uint64_t all = 0;
    for (const auto& w : words(Family::caps)) {
        if (w.word_class != WordClass::Modifier) continue;
        all |= w.value;
        if ((w.modifies & a.hints->caps) != 0) modifiers |= w.value;
    }
    if (modifiers == 0) return false;
    a.hints->caps &= ~all;
    b = a;
    b.hints->caps |= modifiers;
    return true;
}

bool some_modifier(Query& a, Query& b) {
    if (!all_modifiers(a, b)) return false;
    for (const auto& w : words(Family::caps)) {
        if (w.word_class == WordClass::Modifier && (b.hints->caps & w.value) != 0) {
            b.hints->caps = a.hints->caps | w.value;
            return true;
        }
    }
    return false;
}

bool part_of_zeros(Query& a, Query& b) {
    if (!a.hints) return false;
    for (const Part p : {Part::Tx, Part::Rx, Part::Ep, Part::Domain}) {
        if (a.hints->has(p)) continue;
        b = a;
        b.hints->add(p);
        return true;
    }
    return false;
}

bool layers_in_the_other_order(Query& a, Query& b) {
    if (!a.hints || !a.hints->fabric.prov_name) return false;
    const std::string name = *a.hints->fabric.prov_name;
    const auto cut = name.find(';');
    if (cut == std::string::npos) return false;
    b = a;
    b.hints->fabric.prov_name = name.substr(cut + 1) + ";" + name.substr(0, cut);
    return true;
}

bool basic_and_its_bits(Query& a, Query& b) {
    if (!a.hints || a.version < Version(1, 5)) return false;
    a.hints->add(Part::Domain);
    a.hints->mode &= ~std::uint64_t{FI_LOCAL_MR};
    a.hints->domain.mr_mode = FI_MR_BASIC;
    b = a;
    b.hints->domain.mr_mode = FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
    return true;
}

bool local_mr_mode(Query& a, Query& b) {
    if (!a.hints) return false;
    b = a;
    b.hints->mode ^= FI_LOCAL_MR;
    return true;
}

bool key_before_there_were_keys(Query& a, Query& b) {
    if (!a.hints) return false;
    a.version = Version(1, a.version.minor_part() % 5);
    a.hints->add(Part::Domain);
    a.hints->domain.mr_mode = FI_MR_UNSPEC;
    forget(*a.hints, Field::domain_auth_key);
    b = a;
    request(*b.hints, Field::domain_auth_key, std::string("0123456789abcdef"));
    return true;
}

// What a context may carry of the capabilities asked for, spelt out.
bool spelt_out(Query& a, Query& b, bool transmit) {
    if (!a.hints || a.hints->caps == 0) return false;
    std::uint64_t own = 0;
    for (const auto& w : words(Family::caps)) {
        if ((transmit ? w.tx : w.rx) && w.since <= a.version) own |= w.value;
    }
    b = a;
    a.hints->add(transmit ? Part::Tx : Part::Rx);
    b.hints->add(transmit ? Part::Tx : Part::Rx);
    (transmit ? a.hints->tx.caps : a.hints->rx.caps) = a.hints->caps & own;
    (transmit ? b.hints->tx.caps : b.hints->rx.caps) = 0;
    return true;
}
bool transmit_caps_spelt_out(Query& a, Query& b) { return spelt_out(a, b, true); }
bool receive_caps_spelt_out(Query& a, Query& b) { return spelt_out(a, b, false); }

// The widest query against one that asks for a capability: zero means all that is supported.
bool caps_against_none(Query& a, Query& b) {
    if (!a.hints || a.hints->caps == 0) return false;
    b = a;
    b.hints->caps = 0;
    return true;
}

// One secondary capability more: which one follows from the call, so that many calls meet them all.
bool one_secondary_more(Query& a, Query& b) {
    if (!a.hints || a.hints->caps == 0) return false;
    std::vector<std::uint64_t> all;
    for (const auto& w : words(Family::caps)) {
        if (w.word_class == WordClass::Secondary && !w.alias && (a.hints->caps & w.value) == 0) all.push_back(w.value);
    }
    if (all.empty()) return false;
    b = a;
    Rng which(a.hints->caps + a.version.packed);
    b.hints->caps |= all[which.below(all.size())];
    return true;
}

constexpr Rewording kRewordings[] = {
    numeric_flag,
    names_against_list,
    source_address_that_is_ignored,
    destination_that_is_ignored,
    source_length_alone,
    destination_length_alone,
    all_modifiers,
    some_modifier,
    part_of_zeros,
    layers_in_the_other_order,
    basic_and_its_bits,
    local_mr_mode,
    key_before_there_were_keys,
    transmit_caps_spelt_out,
    receive_caps_spelt_out,
    caps_against_none,
    one_secondary_more,
};

// Rewordings that their clauses know as something else than rewording.
MetamorphicRelation relation_of(Rewording r) {
    return r == transmit_caps_spelt_out || r == receive_caps_spelt_out || r == caps_against_none
               ? MetamorphicRelation::Relaxed
               : MetamorphicRelation::Reworded;
}

// Where in an answer the offers of a provider are.
std::vector<int> offers_of(const Answer& answer, const std::string& provider) {
    std::vector<int> out;
    for (std::size_t i = 0; i < answer.offers.size(); ++i)
        if (offer_is_of(answer.offers[i], provider)) out.push_back(static_cast<int>(i));
    return out;
}

}  // namespace

Query feed_back(const Query& first, const Info& offer) {
    Info hints = offer;
    for (const Field f : {Field::src_addr, Field::dest_addr}) forget(hints, f);
    hints.handle = 0;
    hints.drop(Part::Nic);
    return {.version = first.version, .node = {}, .service = {}, .flags = 0, .hints = std::move(hints)};
}

namespace {

// Asks for all that an offer does, by its primary capabilities, and nothing else.
Query primaries_of(const Profile& profile, const Entry& entry) {
    Query q = base_call(profile);
    for (const auto& w : words(Family::caps))
        if (w.word_class == WordClass::Primary) q.hints->caps |= entry.offer.caps & w.value;
    request(*q.hints, Field::ep_type, entry.offer.ep.type);
    return q;
}

void add_pointed_pairs(const Query& plain, const Entry& entry, std::vector<Case>& out) {
    Case c;
    c.kind = Case::Kind::Pair;
    for (const Rewording r : kRewordings) {
        c.metamorphic = relation_of(r);
        c.first = c.second = plain;
        if (r(c.first, c.second)) out.push_back(c);
    }
    c.metamorphic = MetamorphicRelation::Reworded;
    for (const auto& w : words(Family::caps)) {
        if (w.word_class != WordClass::Secondary || w.alias || (entry.offer.caps & w.value) == 0) continue;
        c.first = c.second = plain;
        c.second.hints->caps |= w.value;
        out.push_back(c);
    }
}

}  // namespace

std::vector<Case> pointed_pairs(const Profile& profile) {
    std::vector<Case> out;
    std::vector<std::uint64_t> types;
    for (const Entry& e : profile.entries) {
        if (std::find(types.begin(), types.end(), e.offer.ep.type) != types.end()) continue;
        types.push_back(e.offer.ep.type);
        add_pointed_pairs(primaries_of(profile, e), e, out);
    }
    return out;
}

std::optional<Case> relate(const Query& first, const Answer& answer, MetamorphicRelation metamorphic,
                           const std::string& provider, Rng& rng) {
    Case c;
    c.kind = Case::Kind::Pair;
    c.metamorphic = metamorphic;
    c.first = first;
    c.second = first;
    bool made = true;
    switch (metamorphic) {
        case MetamorphicRelation::Repeated:
        case MetamorphicRelation::Reordered:
            break;
        case MetamorphicRelation::Relaxed:
            made = relax(c.second, rng);
            break;
        case MetamorphicRelation::MoreModes:
            made = add_modes(c.second, rng);
            break;
        case MetamorphicRelation::MoreMrModes:
            made = add_mr_modes(c.second, rng);
            break;
        case MetamorphicRelation::FedBack: {
            const auto own = offers_of(answer, provider);
            made = !own.empty() && (first.flags & FI_PROV_ATTR_ONLY) == 0;
            if (!made) break;
            c.fed_back = own[rng.below(own.size())];
            c.second = feed_back(first, answer.offers[static_cast<std::size_t>(c.fed_back)]);
            break;
        }
        case MetamorphicRelation::Reworded: {
            const Rewording r = kRewordings[rng.below(std::size(kRewordings))];
            c.metamorphic = relation_of(r);
            made = r(c.first, c.second);
            break;
        }
        case MetamorphicRelation::NullVersusEmpty:
            made = !first.hints;
            if (!made) break;
            c.second.hints.emplace();
            c.second.hints->present = kAllParts;
            c.second.hints->mode = all_bits(Family::mode);
            if (first.version >= Version(1, 5)) {
                c.second.hints->domain.mr_mode =
                    all_bits(Family::mr_mode) & ~std::uint64_t{FI_MR_BASIC | FI_MR_SCALABLE};
            }
            break;
    }
    if (!made) return std::nullopt;
    return c;
}

}  // namespace selvage::conformance
