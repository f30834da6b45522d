#include "conformance/ask/relate.h"

#include <rdma/fabric.h>

#include <vector>

#include "conformance/ask/values.h"

namespace selvage::conformance {
namespace {

using namespace model;

// Fields whose zero is no wildcard, or whose relaxing is a kinship of its own.
bool is_relaxable(Field f) {
    switch (f) {
        case Field::mode:
        case Field::tx_mode:
        case Field::rx_mode:
        case Field::domain_mode:
        case Field::domain_mr_mode:
        case Field::src_addrlen:
        case Field::dest_addrlen:
        case Field::ep_auth_key_size:
        case Field::domain_auth_key_size:
        case Field::handle:
            return false;
        default:
            return true;
    }
}

std::vector<Field> asked_fields(const Info& hints) {
    std::vector<Field> out;
    for (const auto& r : number_fields()) {
        if (is_relaxable(r.field) && get(hints, r.field) != 0) out.push_back(r.field);
    }
    for (const auto& r : text_fields()) {
        if (r.field != Field::fabric_prov_name && text(hints, r.field)) out.push_back(r.field);
    }
    return out;
}

void forget(Info& hints, Field f) {
    if (is_number(f)) {
        set(hints, f, 0);
        return;
    }
    text(hints, f).reset();
    if (f == Field::src_addr) hints.src_addrlen = 0;
    if (f == Field::dest_addr) hints.dest_addrlen = 0;
    if (f == Field::ep_auth_key) hints.ep.auth_key_size = 0;
    if (f == Field::domain_auth_key) hints.domain.auth_key_size = 0;
}

bool relax(Query& q, Rng& rng) {
    if (!q.hints) return false;
    const auto fields = asked_fields(*q.hints);
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

}  // namespace

std::optional<Case> relate(const Query& first, const Answer& answer, Kinship kinship, Rng& rng) {
    Case c;
    c.kind = Case::Kind::Pair;
    c.kinship = kinship;
    c.first = first;
    c.second = first;
    bool made = true;
    switch (kinship) {
        case Kinship::Repeated:
        case Kinship::Reordered:
            break;
        case Kinship::Relaxed:
            made = relax(c.second, rng);
            break;
        case Kinship::MoreModes:
            made = add_modes(c.second, rng);
            break;
        case Kinship::MoreMrModes:
            made = add_mr_modes(c.second, rng);
            break;
        case Kinship::FedBack: {
            made = !answer.offers.empty() && (first.flags & FI_PROV_ATTR_ONLY) == 0;
            if (!made) break;
            c.fed_back = static_cast<int>(rng.below(answer.offers.size()));
            c.second = Query{.version = first.version, .node = {}, .service = {}, .flags = 0,
                             .hints = answer.offers[static_cast<std::size_t>(c.fed_back)]};
            break;
        }
        case Kinship::NullVersusEmpty:
            made = !first.hints;
            if (!made) break;
            c.second.hints.emplace();
            c.second.hints->present = kAllParts;
            c.second.hints->mode = all_bits(Family::mode);
            if (first.version >= Version(1, 5)) {
                c.second.hints->domain.mr_mode = all_bits(Family::mr_mode) & ~std::uint64_t{FI_MR_BASIC | FI_MR_SCALABLE};
            }
            break;
    }
    if (!made) return std::nullopt;
    return c;
}

}  // namespace selvage::conformance
