// fi_getinfo(3): src_addr, dest_addr, their lengths and the handle.  The order is that of spec/clauses/.
#include "model/chapters/addresses.h"
#include "model/chapters/alike.h"

namespace selvage::model::clause {
namespace {

using namespace rules;

Demand needs_length(bool counts, Field length, std::uint64_t value) {
    if (!counts) return Demand::not_requested();
    if (value > 0) return Demand::nothing();
    return Demand::must_refuse({FI_EINVAL, FI_ENODATA}, number(length, Relation::AtLeast, 1, 0));
}

// pair: the calls differ in the hint's address or length alone, and that counts for nothing.
Ruling counts_for_nothing(const PairCase& c, Field address, Field length, bool ignored) {
    if (!ignored || !c.first.hints || !c.second.hints || c.first == c.second || !both_answered(c)) {
        return Ruling::not_applicable();
    }
    const bool alike = alike_after(c, [&](Query& q) {
        if (!q.hints) return;
        text(*q.hints, address) = text(*c.second.hints, address);
        set(*q.hints, length, get(*c.second.hints, length));
    });
    if (!alike) return Ruling::not_applicable();
    return same_endpoints(c, address, "is ignored in this call, yet changed which endpoints are found");
}

// offer: an address of the hints comes back; a zero port may be filled in.
Ruling kept(const OfferCase& c, const Text& hint, Field field) {
    const Text& actual = text(c.offer, field);
    const Host requested = host_of(hint);
    if (requested.empty() || is_any(requested)) return Ruling::not_applicable();
    // Another family may tell the same host in another form (IPv4 mapped into IPv6).
    if (actual && family_of(actual) != family_of(hint)) return Ruling::not_applicable();
    const bool same =
        is_ip(actual) && host_of(actual) == requested && (port_of(hint) == 0 || port_of(actual) == port_of(hint));
    return Ruling::check(same, [&] {
        Text expected = hint;
        if (is_ip(actual)) {
            expected = with_host(actual, requested);
            if (port_of(hint) != 0) expected = with_port(expected, port_of(hint));
        }
        return at(texts(field, Relation::TextEquals, expected, actual), c.index);
    });
}

Ruling length_told(const OfferCase& c, Field address, Field length) {
    if (!text(c.offer, address) || names_only(c.query) || hint_is_malformed(c.query, address)) {
        return Ruling::not_applicable();
    }
    return offer_to_value(c, length, Relation::AtLeast, 1);
}

const World::Opened* opened(const World& world, Handle h) {
    return h > 0 && h <= world.opened.size() ? &world.opened[h - 1] : nullptr;
}

bool is_passive_endpoint(const World& world, Handle h) {
    const auto* object = opened(world, h);
    return object != nullptr && object->kind == World::Opened::Kind::Pep;
}

}  // namespace

Demand getinfo_addresses_src_hint_needs_length(const QueryCase& c) {
    return needs_length(src_counts(c.query), Field::src_addrlen, requested(c.query, Field::src_addrlen));
}

Demand getinfo_addresses_dest_hint_needs_length(const QueryCase& c) {
    return needs_length(dest_counts(c.query), Field::dest_addrlen, requested(c.query, Field::dest_addrlen));
}

Ruling getinfo_addresses_src_ignored_with_source(const PairCase& c) {
    return counts_for_nothing(c, Field::src_addr, Field::src_addrlen, (c.first.flags & FI_SOURCE) != 0);
}

Ruling getinfo_addresses_src_length_alone(const PairCase& c) {
    const bool none = c.first.hints && !c.first.hints->src_addr && c.second.hints && !c.second.hints->src_addr;
    return counts_for_nothing(c, Field::src_addr, Field::src_addrlen, none && (c.first.flags & FI_SOURCE) == 0);
}

Ruling getinfo_addresses_dest_ignored_with_node(const PairCase& c) {
    const bool ignored = (c.first.node || c.first.service) && (c.first.flags & FI_SOURCE) == 0;
    return counts_for_nothing(c, Field::dest_addr, Field::dest_addrlen, ignored);
}

Ruling getinfo_addresses_dest_length_alone(const PairCase& c) {
    const bool none = c.first.hints && !c.first.hints->dest_addr && c.second.hints && !c.second.hints->dest_addr;
    const bool would_count = (!c.first.node && !c.first.service) || (c.first.flags & FI_SOURCE) != 0;
    return counts_for_nothing(c, Field::dest_addr, Field::dest_addrlen, none && would_count);
}

Fit getinfo_addresses_src_hint_fits(const MatchCase& c) {
    if (!src_counts(c.query)) return Fit::not_requested();
    const Evidence e = c.granted != nullptr
                           ? texts(Field::src_addr, Relation::Differs, c.granted->src_addr, c.granted->src_addr)
                           : texts(Field::src_addr, Relation::TextEquals, c.hints()->src_addr, c.entry.offer.src_addr);
    if (on_other_links(src_hint(c.query), c.entry.offer.src_addr)) return Fit::may(e);
    return fit_local(c, host_of(src_hint(c.query)), e);
}

Fit getinfo_addresses_dest_hint_fits(const MatchCase& c) {
    if (!dest_counts(c.query)) return Fit::not_requested();
    Evidence e = texts(Field::dest_addr, Relation::TextEquals, c.hints()->dest_addr, c.entry.offer.src_addr,
                       "whether it can be reached is not known");
    if (on_other_links(dest_hint(c.query), c.entry.offer.src_addr)) return Fit::may(std::move(e));
    return fit_remote(c, host_of(dest_hint(c.query)), std::move(e));
}

Ruling getinfo_addresses_src_hint_kept(const OfferCase& c) {
    return src_counts(c.query) ? kept(c, src_hint(c.query), Field::src_addr) : Ruling::not_applicable();
}

Ruling getinfo_addresses_dest_hint_kept(const OfferCase& c) {
    return dest_counts(c.query) ? kept(c, dest_hint(c.query), Field::dest_addr) : Ruling::not_applicable();
}

Ruling getinfo_addresses_src_returned(const OfferCase& c) {
    if (names_only(c.query) || some_hint_is_malformed(c.query)) return Ruling::not_applicable();
    return Ruling::check(c.offer.src_addr.has_value(),
                         [&] { return at(texts(Field::src_addr, Relation::NotNull, {}, {}), c.index); });
}

Ruling getinfo_addresses_src_corresponds(const OfferCase& c) {
    if (names_only(c.query) || !is_ip(c.offer.src_addr) || !is_ip(c.offer.dest_addr)) return Ruling::not_applicable();
    return Ruling::check(family_of(c.offer.src_addr) == family_of(c.offer.dest_addr), [&] {
        Evidence e = reported(Field::src_addr, "is of another address family than dest_addr");
        e.actual_text = c.offer.src_addr;
        e.expected_field = Field::dest_addr;
        e.expected_text = c.offer.dest_addr;
        return at(std::move(e), c.index);
    });
}

Ruling getinfo_addresses_dest_returned(const OfferCase& c) {
    if (!c.query.node || (c.query.flags & FI_SOURCE) != 0 || names_only(c.query)) return Ruling::not_applicable();
    return Ruling::check(c.offer.dest_addr.has_value(),
                         [&] { return at(texts(Field::dest_addr, Relation::NotNull, {}, {}), c.index); });
}

Ruling getinfo_addresses_dest_corresponds(const OfferCase& c) {
    if ((c.query.flags & FI_SOURCE) != 0 || names_only(c.query)) return Ruling::not_applicable();
    const Node node = read_node(c.query.node);
    const Host host = host_of(c.offer.dest_addr);
    // A node of another family than the answer may have been mapped.
    if (node.kind != NodeKind::Numeric || host.size() != node.host.size() || is_any(node.host))
        return Ruling::not_applicable();
    return Ruling::check(host == node.host, [&] {
        return at(
            texts(Field::dest_addr, Relation::TextEquals, with_host(c.offer.dest_addr, node.host), c.offer.dest_addr),
            c.index);
    });
}

Ruling getinfo_addresses_dest_absent_without_target(const OfferCase& c) {
    const bool hinted = c.query.hints && c.query.hints->dest_addr;
    if (c.query.node || c.query.service || hinted || names_only(c.query)) return Ruling::not_applicable();
    return Ruling::check(!c.offer.dest_addr,
                         [&] { return at(texts(Field::dest_addr, Relation::IsNull, {}, c.offer.dest_addr), c.index); });
}

Ruling getinfo_addresses_src_length_told(const OfferCase& c) {
    return length_told(c, Field::src_addr, Field::src_addrlen);
}

Ruling getinfo_addresses_dest_length_told(const OfferCase& c) {
    return length_told(c, Field::dest_addr, Field::dest_addrlen);
}

Ruling getinfo_addresses_no_length_without_address(const OfferCase& c) {
    if (names_only(c.query) || (c.offer.src_addr && c.offer.dest_addr)) return Ruling::not_applicable();
    if (!c.offer.src_addr && c.offer.src_addrlen != 0)
        return offer_to_value(c, Field::src_addrlen, Relation::Equals, 0);
    if (!c.offer.dest_addr) return offer_to_value(c, Field::dest_addrlen, Relation::Equals, 0);
    return Ruling::holds();
}

Ruling getinfo_addresses_format_told(const OfferCase& c) {
    if (names_only(c.query) || (!c.offer.src_addr && !c.offer.dest_addr)) return Ruling::not_applicable();
    if (some_hint_is_malformed(c.query)) return Ruling::not_applicable();
    return offer_to_value(c, Field::addr_format, Relation::Differs, FI_FORMAT_UNSPEC);
}

Demand getinfo_addresses_hint_format_agrees(const QueryCase& c) {
    const bool src = src_counts(c.query);
    const bool dest = dest_counts(c.query);
    if (!src && !dest) return Demand::not_requested();
    const auto format = c.query.hints->addr_format;
    if (src && !agrees(src_hint(c.query), format)) {
        return Demand::may_refuse(reported(Field::src_addr, "is not in the format that addr_format names"));
    }
    if (dest && !agrees(dest_hint(c.query), format)) {
        return Demand::may_refuse(reported(Field::dest_addr, "is not in the format that addr_format names"));
    }
    return Demand::nothing();
}

Ruling getinfo_addresses_pep_handle_kept(const OfferCase& c) {
    const auto handle = requested(c.query, Field::handle);
    if (!is_passive_endpoint(c.world, handle)) return Ruling::not_applicable();
    return offer_to_hint(c, Field::handle, Relation::Equals);
}

Demand getinfo_addresses_other_handle(const QueryCase& c) {
    const auto handle = requested(c.query, Field::handle);
    if (handle == 0 || is_passive_endpoint(c.world, handle)) return Demand::not_requested();
    return Demand::may_refuse(
        number(Field::handle, Relation::Equals, 0, handle, "an object narrows the answer in the provider's own way"));
}

Demand getinfo_addresses_instance_narrows(const QueryCase& c) {
    for (const Field f : {Field::domain_domain, Field::fabric_fabric}) {
        const auto handle = requested(c.query, f);
        if (handle == 0) continue;
        return Demand::may_refuse(
            number(f, Relation::Equals, 0, handle, "an object narrows the answer in the provider's own way"));
    }
    return Demand::not_requested();
}

Demand getinfo_addresses_handle_null(const QueryCase& c) {
    const auto handle = requested(c.query, Field::handle);
    if (handle == 0) return Demand::not_requested();
    return Demand::may_refuse(number(Field::handle, Relation::Equals, 0, handle));
}

}  // namespace selvage::model::clause
