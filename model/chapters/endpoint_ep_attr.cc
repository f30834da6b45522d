// The endpoint attributes: spec/clauses/endpoint_ep_attr.toml, and the counts of endpoint_context.toml.
#include <array>
#include <bit>

#include "model/chapters/endpoint_context.h"

namespace selvage::model::clause {

using namespace rules;

namespace {

constexpr std::array kOrderSizes = {Field::ep_max_order_raw_size, Field::ep_max_order_war_size,
                                    Field::ep_max_order_waw_size};

// The upper bit of a protocol says that it is the provider's own.
constexpr std::uint64_t kOwnProtocol = 1ULL << 31;

bool is_named_protocol(std::uint64_t value) {
    for (const Word& w : words(Family::protocol))
        if (w.value == value) return true;
    return false;
}

// The sizes of the fields of a tag format, the highest field first.
struct TagFields {
    std::array<int, 64> bits{};
    std::size_t count = 0;
};

TagFields tag_fields(std::uint64_t format) {
    TagFields out;
    bool last = false;
    for (auto i = std::bit_width(format); i-- > 0;) {
        const bool bit = (format >> i & 1U) != 0;
        if (out.count == 0 || bit != last) ++out.count;
        ++out.bits[out.count - 1];
        last = bit;
    }
    return out;
}

// Does a format have room for the fields of another, in their order?  Neighbours serve together as one field.
bool supports_tags(std::uint64_t offered, std::uint64_t expected) {
    const TagFields have = tag_fields(offered);
    const TagFields want = tag_fields(expected);
    std::size_t next = 0;
    for (std::size_t i = 0; i < want.count; ++i) {
        int room = 0;
        while (room < want.bits[i] && next < have.count) room += have.bits[next++];
        if (room < want.bits[i]) return false;
    }
    return true;
}

// The number of contexts of one side, and what limits it.
struct Count {
    Field count, most, shared;
    std::uint64_t uses;  ///< an endpoint with one of these has such a context
};
constexpr Count kTxCount = {Field::ep_tx_ctx_cnt, Field::domain_max_ep_tx_ctx, Field::domain_max_ep_stx_ctx,
                            FI_SEND | FI_READ | FI_WRITE};
constexpr Count kRxCount = {Field::ep_rx_ctx_cnt, Field::domain_max_ep_rx_ctx, Field::domain_max_ep_srx_ctx,
                            FI_RECV | FI_REMOTE_READ | FI_REMOTE_WRITE};
// FI_SHARED_CONTEXT as an Info holds it: 64 bits wide, also where the model runs and a size_t has fewer.
constexpr std::uint64_t kShared = ~std::uint64_t{0};
static_assert(static_cast<std::size_t>(kShared) == FI_SHARED_CONTEXT);

std::uint64_t most_contexts(const MatchCase& c, const Count& k) {
    // What is declared of the count itself comes first.
    const auto declared = c.profile.origin == Origin::Declared ? get(c.entry.most, k.count) : 0;
    if (declared != 0) return declared;
    auto most = get(c.entry.offer, k.most);
    const auto keep = [&](std::uint64_t n) {
        if (n != kShared && n > most) most = n;
    };
    keep(get(c.entry.offer, k.count));
    if (c.profile.origin == Origin::Declared) keep(get(c.entry.most, k.most));
    return most;
}

Ruling count_default(const OfferCase& c, const Count& k) {
    if (requested(c.query, k.count) != 0 || names_only(c.query)) return Ruling::not_applicable();
    if ((implied(c.offer.caps) & k.uses) == 0) return Ruling::not_applicable();
    return offer_to_value(c, k.count, Relation::Equals, 1);
}

Fit count_granted(const MatchCase& c, const Count& k) {
    const auto expected = requested(c.query, k.count);
    if (expected == 0 || expected == kShared) return Fit::not_requested();
    const auto most = most_contexts(c, k);
    if (expected <= most) return Fit::fits();
    const auto evidence = number(k.count, Relation::AtMost, expected, most);
    return c.profile.origin == Origin::Declared ? Fit::no(evidence) : Fit::may(evidence);
}

Ruling count_returned(const OfferCase& c, const Count& k) {
    if (names_only(c.query)) return Ruling::not_applicable();
    const auto expected = requested(c.query, k.count);
    if (expected == kShared) return offer_to_value(c, k.count, Relation::Equals, kShared);
    if (expected != 0 && get(c.offer, k.count) == kShared)
        return offer_to_value(c, k.count, Relation::Differs, kShared);
    return offer_to_hint(c, k.count, Relation::AtLeast);
}

Fit count_shared(const MatchCase& c, const Count& k) {
    if (requested(c.query, k.count) != kShared) return Fit::not_requested();
    if (get(c.entry.offer, k.shared) != 0) return Fit::fits();
    const auto evidence = number(k.shared, Relation::AtLeast, 1, 0);
    if (c.profile.origin == Origin::Inferred) return Fit::may(evidence);
    // That a number may be asked for does not say what becomes of it.
    return get(c.entry.most, k.shared) != 0 ? Fit::may(evidence) : Fit::no(evidence);
}

// A key with the size that its length field says; hostile hints may hold another.
bool requests_key(const Query& q) {
    if (!q.hints) return false;
    const EpAttr& ep = q.hints->ep;
    return ep.auth_key && ep.auth_key_size != 0 && ep.auth_key->size() == ep.auth_key_size;
}

}  // namespace

Fit endpoint_type_granted(const MatchCase& c) { return fit_equal(c, Field::ep_type); }
Ruling endpoint_type_returned(const OfferCase& c) { return offer_to_hint(c, Field::ep_type, Relation::Equals); }
Ruling endpoint_type_named(const OfferCase& c) {
    if (names_only(c.query) || !c.offer.has(Part::Ep)) return Ruling::not_applicable();
    return offer_to_value(c, Field::ep_type, Relation::Differs, FI_EP_UNSPEC);
}

Fit endpoint_protocol_granted(const MatchCase& c) { return fit_choice(c, Field::ep_protocol); }
Ruling endpoint_protocol_returned(const OfferCase& c) { return offer_to_hint(c, Field::ep_protocol, Relation::Equals); }
Ruling endpoint_protocol_known(const OfferCase& c) {
    const auto actual = get(c.offer, Field::ep_protocol);
    if (names_only(c.query) || !c.offer.has(Part::Ep)) return Ruling::not_applicable();
    if (is_named_protocol(actual) || (actual & kOwnProtocol) != 0) return Ruling::holds();
    // A library that is newer than the spec may name more.
    if (c.world.library > kNewest) return Ruling::not_applicable();
    return Ruling::broken(at(
        number(Field::ep_protocol, Relation::Contains, kOwnProtocol, actual, "no protocol has this number"), c.index));
}

Fit endpoint_protocol_version_granted(const MatchCase& c) { return fit_size(c, Field::ep_protocol_version); }
Ruling endpoint_protocol_version_returned(const OfferCase& c) {
    return offer_to_hint(c, Field::ep_protocol_version, Relation::AtLeast);
}

Fit endpoint_max_msg_size_granted(const MatchCase& c) { return fit_size(c, Field::ep_max_msg_size); }
Ruling endpoint_max_msg_size_returned(const OfferCase& c) {
    return offer_to_hint(c, Field::ep_max_msg_size, Relation::AtLeast);
}

Ruling endpoint_prefix_size_zero_without_mode(const OfferCase& c) {
    const auto mode = c.offer.mode | c.offer.tx.mode | c.offer.rx.mode;
    if (names_only(c.query) || !c.offer.has(Part::Ep) || (mode & FI_MSG_PREFIX) != 0) return Ruling::not_applicable();
    return offer_to_value(c, Field::ep_msg_prefix_size, Relation::Equals, 0);
}

Ruling endpoint_prefix_size_multiple_of_8(const OfferCase& c) {
    if (names_only(c.query) || c.offer.ep.msg_prefix_size == 0) return Ruling::not_applicable();
    return offer_to_value(c, Field::ep_msg_prefix_size, Relation::MultipleOf, 8);
}

Fit endpoint_prefix_size_hint(const MatchCase& c) {
    const auto expected = requested(c.query, Field::ep_msg_prefix_size);
    if (expected == 0) return Fit::not_requested();
    if (expected == get(c.entry.offer, Field::ep_msg_prefix_size)) return Fit::fits();
    return Fit::may(hint_and_offer(c, Field::ep_msg_prefix_size, Relation::Equals));
}

Fit endpoint_order_size_granted(const MatchCase& c) {
    Fit all = Fit::not_requested();
    for (const Field f : kOrderSizes)
        all = worst(std::move(all), if_requested(c, FI_RMA | FI_ATOMIC, f, fit_size(c, f)));
    return all;
}

Ruling endpoint_order_size_returned(const OfferCase& c) {
    // Without remote reads and writes there is nothing to keep in order.
    if ((c.offer.caps & (FI_RMA | FI_ATOMIC)) == 0) return Ruling::not_applicable();
    Ruling all = Ruling::not_applicable();
    for (const Field f : kOrderSizes) {
        Ruling one = offer_to_hint(c, f, Relation::AtLeast);
        if (one.is_broken()) return one;
        if (one.outcome() == Outcome::Holds) all = std::move(one);
    }
    return all;
}

Fit endpoint_tag_format_granted(const MatchCase& c) {
    const auto expected = requested(c.query, Field::ep_mem_tag_format);
    if (expected == 0) return Fit::not_requested();
    const auto evidence = hint_and_offer(c, Field::ep_mem_tag_format, Relation::AtLeast);
    if (supports_tags(c.entry.offer.ep.mem_tag_format, expected))
        return if_requested(c, FI_TAGGED, Field::ep_mem_tag_format, Fit::fits());
    if (c.profile.origin == Origin::Inferred) return Fit::may(evidence);
    return supports_tags(c.entry.most.ep.mem_tag_format, expected) ? Fit::fits() : Fit::no(evidence);
}

Ruling endpoint_tag_format_returned(const OfferCase& c) {
    const auto expected = requested(c.query, Field::ep_mem_tag_format);
    const auto actual = get(c.offer, Field::ep_mem_tag_format);
    if (expected == 0 || names_only(c.query) || (c.offer.caps & FI_TAGGED) == 0) return Ruling::not_applicable();
    return Ruling::check(supports_tags(actual, expected), [&] {
        // A format with as many bits may still have too few fields; no comparison of numbers shows it, so name the
        // culprit.
        if (actual < expected)
            return at(number(Field::ep_mem_tag_format, Relation::AtLeast, expected, actual), c.index);
        return at(
            number(Field::ep_mem_tag_format, Relation::Differs, actual, actual, "lacks fields that were asked for"),
            c.index);
    });
}

Ruling endpoint_tag_format_tagged_has_bits(const OfferCase& c) {
    if (names_only(c.query) || (c.offer.caps & FI_TAGGED) == 0) return Ruling::not_applicable();
    return offer_to_value(c, Field::ep_mem_tag_format, Relation::Differs, 0);
}

Ruling endpoint_tx_count_default(const OfferCase& c) { return count_default(c, kTxCount); }
Fit endpoint_tx_count_granted(const MatchCase& c) { return count_granted(c, kTxCount); }
Ruling endpoint_tx_count_returned(const OfferCase& c) { return count_returned(c, kTxCount); }
Fit endpoint_tx_count_shared(const MatchCase& c) { return count_shared(c, kTxCount); }

Ruling endpoint_rx_count_default(const OfferCase& c) { return count_default(c, kRxCount); }
Fit endpoint_rx_count_granted(const MatchCase& c) { return count_granted(c, kRxCount); }
Ruling endpoint_rx_count_returned(const OfferCase& c) { return count_returned(c, kRxCount); }
Fit endpoint_rx_count_shared(const MatchCase& c) { return count_shared(c, kRxCount); }

Fit endpoint_auth_key_before_1_5(const MatchCase& c) {
    const bool requests = c.hints() != nullptr && (c.hints()->ep.auth_key || c.hints()->ep.auth_key_size != 0);
    return requests ? Fit::fits() : Fit::not_requested();
}

Fit endpoint_auth_key_granted(const MatchCase& c) {
    const auto expected = requested(c.query, Field::ep_auth_key_size);
    if (expected == 0) return Fit::not_requested();
    const auto evidence = hint_and_offer(c, Field::ep_auth_key_size, Relation::Equals);
    const bool has_keys = c.entry.offer.ep.auth_key_size != 0 || c.entry.offer.domain.auth_key_size != 0 ||
                          c.entry.most.ep.auth_key_size != 0 || c.entry.most.domain.auth_key_size != 0;
    const auto most = c.entry.most.ep.auth_key_size;
    if (c.profile.origin == Origin::Declared && most != 0 && expected > most)
        return Fit::no(number(Field::ep_auth_key_size, Relation::AtMost, most, expected));
    // Even a provider with keys may not like this one.
    return has_keys || c.profile.origin == Origin::Inferred ? Fit::may(evidence) : Fit::no(evidence);
}

Ruling endpoint_auth_key_returned(const OfferCase& c) {
    if (!requests_key(c.query) || names_only(c.query)) return Ruling::not_applicable();
    const EpAttr& expected = c.hints()->ep;
    if (c.offer.ep.auth_key_size != expected.auth_key_size)
        return offer_to_value(c, Field::ep_auth_key_size, Relation::Equals, expected.auth_key_size);
    return Ruling::check(c.offer.ep.auth_key == expected.auth_key, [&] {
        return at(texts(Field::ep_auth_key, Relation::TextEquals, expected.auth_key, c.offer.ep.auth_key), c.index);
    });
}

Ruling endpoint_auth_key_size_with_key(const OfferCase& c) {
    if (names_only(c.query) || !c.offer.has(Part::Ep)) return Ruling::not_applicable();
    if (c.offer.ep.auth_key) return Ruling::holds();
    return offer_to_value(c, Field::ep_auth_key_size, Relation::Equals, 0);
}

}  // namespace selvage::model::clause
