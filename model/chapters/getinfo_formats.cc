// fi_getinfo(3): address formats.  The order is that of spec/clauses/.
#include <algorithm>

#include "model/chapters/addresses.h"

namespace selvage::model::clause {
namespace {

using namespace rules;

constexpr Field kAddresses[] = {Field::src_addr, Field::dest_addr};

bool counts(const OfferCase& c, Field address) { return text(c.offer, address) && !some_hint_is_malformed(c.query); }

bool has_addresses(const OfferCase& c, std::uint64_t format) {
    return c.offer.addr_format == format && !names_only(c.query) &&
           (counts(c, Field::src_addr) || counts(c, Field::dest_addr));
}

// offer: one address begins with the family and has the length of that family.
Ruling shape(const OfferCase& c, Field address, unsigned family) {
    const Text& bytes = text(c.offer, address);
    Ruling length = offer_to_value(c, row(address).partner, Relation::Equals, length_of_family(family));
    if (length.is_broken() || family_of(bytes) == family) return length;
    return Ruling::broken(at(
        texts(address, Relation::TextEquals, with_family(bytes, family), bytes, "begins with another address family"),
        c.index));
}

Ruling shapes(const OfferCase& c, std::uint64_t format, unsigned family) {
    if (!has_addresses(c, format)) return Ruling::not_applicable();
    for (const Field address : kAddresses) {
        if (!counts(c, address)) continue;
        Ruling r = shape(c, address, family);
        if (r.is_broken()) return r;
    }
    return Ruling::holds();
}

// The form of a URI: a name, then nothing or "://" and the rest.
bool is_uri(std::string_view s) {
    const auto name_end = std::find_if(s.begin(), s.end(), [](char ch) {
        return !(ch == '_' || ch == '+' || ch == '-' || ch == '.' || (ch >= '0' && ch <= '9') ||
                 ((ch | 0x20) >= 'a' && (ch | 0x20) <= 'z'));
    });
    const auto rest = s.substr(static_cast<std::size_t>(name_end - s.begin()));
    return name_end != s.begin() && (rest.empty() || rest.starts_with("://"));
}

}  // namespace

Fit getinfo_formats_hint_fits(const MatchCase& c) {
    const auto expected = names_only(c.query) ? 0 : requested(c.query, Field::addr_format);
    if (expected == 0) return Fit::not_requested();
    const auto offered = c.entry.offer.addr_format;
    if (offered == expected || (expected == FI_SOCKADDR && is_socket_format(offered))) return Fit::fits();
    if (c.profile.origin == Origin::Declared && is_choice(c.entry.most, Field::addr_format, expected))
        return Fit::fits();
    Evidence e = hint_and_offer(c, Field::addr_format, Relation::Equals);
    // One that offers the general format may serve each special one; an inferred provider may know more formats.
    const bool open = c.profile.origin == Origin::Inferred || (offered == FI_SOCKADDR && is_socket_format(expected));
    return open ? Fit::may(std::move(e)) : Fit::no(std::move(e));
}

Ruling getinfo_formats_hint_honoured(const OfferCase& c) {
    if (requested(c.query, Field::addr_format) == FI_SOCKADDR) return Ruling::not_applicable();
    return offer_to_hint(c, Field::addr_format, Relation::Equals);
}

Ruling getinfo_formats_sockaddr_honoured(const OfferCase& c) {
    if (requested(c.query, Field::addr_format) != FI_SOCKADDR || names_only(c.query)) return Ruling::not_applicable();
    if (is_socket_format(c.offer.addr_format)) return Ruling::holds();
    return offer_to_hint(c, Field::addr_format, Relation::Equals);
}

Ruling getinfo_formats_answer_known(const OfferCase& c) {
    if (names_only(c.query)) return Ruling::not_applicable();
    constexpr std::uint64_t kProviderSpecific = 1U << 31;
    std::uint64_t last = 0;
    for (const Word& w : words(Family::addr_format)) last = std::max(last, w.value);
    if ((c.offer.addr_format & kProviderSpecific) != 0) return Ruling::holds();
    return offer_to_value(c, Field::addr_format, Relation::AtMost, last);
}

Ruling getinfo_formats_sockaddr_family(const OfferCase& c) {
    if (!has_addresses(c, FI_SOCKADDR)) return Ruling::not_applicable();
    for (const Field address : kAddresses) {
        const Text& bytes = text(c.offer, address);
        if (!counts(c, address)) continue;
        const auto length = length_of_family(family_of(bytes));
        if (length == 0)
            return Ruling::broken(at(reported(address, "begins with no family of socket addresses"), c.index));
        Ruling r = offer_to_value(c, row(address).partner, Relation::Equals, length);
        if (r.is_broken()) return r;
    }
    return Ruling::holds();
}

Ruling getinfo_formats_in_shape(const OfferCase& c) { return shapes(c, FI_SOCKADDR_IN, AF_INET); }

Ruling getinfo_formats_in6_shape(const OfferCase& c) { return shapes(c, FI_SOCKADDR_IN6, AF_INET6); }

Ruling getinfo_formats_ib_shape(const OfferCase& c) { return shapes(c, FI_SOCKADDR_IB, kInfinibandFamily); }

Ruling getinfo_formats_str_terminated(const OfferCase& c) {
    if (!has_addresses(c, FI_ADDR_STR)) return Ruling::not_applicable();
    for (const Field address : kAddresses) {
        const Text& bytes = text(c.offer, address);
        if (counts(c, address) && bytes->find('\0') == std::string::npos) {
            return Ruling::broken(at(texts(address, Relation::TextContains, Text(std::string(1, '\0')), bytes,
                                           "has no zero byte within its length"),
                                     c.index));
        }
    }
    return Ruling::holds();
}

Ruling getinfo_formats_str_uri(const OfferCase& c) {
    if (!has_addresses(c, FI_ADDR_STR)) return Ruling::not_applicable();
    for (const Field address : kAddresses) {
        const Text& bytes = text(c.offer, address);
        if (counts(c, address) && !is_uri(std::string_view(*bytes).substr(0, bytes->find('\0')))) {
            return Ruling::broken(
                at(texts(address, Relation::TextContains, Text("://"), bytes, "has not the form of a URI"), c.index));
        }
    }
    return Ruling::holds();
}

}  // namespace selvage::model::clause
