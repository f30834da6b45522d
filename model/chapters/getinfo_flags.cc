// fi_getinfo(3): the flags of the call.  The order is that of spec/clauses/.
#include <set>

#include "model/chapters/addresses.h"
#include "model/chapters/alike.h"

namespace selvage::model::clause {
namespace {

using namespace rules;

bool from_source(const Query& q) { return (q.flags & FI_SOURCE) != 0 && !names_only(q); }

Evidence node_evidence(const MatchCase& c, const char* note = "") {
    return texts(Field::call_node, Relation::TextEquals, c.query.node, c.entry.offer.src_addr, note);
}

// Some letter of it stands in no numeric address, however that is spelt: "localhost", not "127.1", "0x7f000001" or
// "fe80::1"; and it is no address as text (FI_ADDR_STR), which may be the name of a format alone: "fi_sockaddr_in6".
bool is_surely_a_name(const std::string& node) {
    return !node.starts_with("fi_") && node.find('%') == std::string::npos &&
           node.find_first_not_of("0123456789abcdefABCDEFxX.:") != std::string::npos;
}

// The layers of a provider's name.
void add_layers(std::set<std::string, std::less<>>& to, const Text& name) {
    if (!name) return;
    const auto cut = name->find(';');
    to.insert(name->substr(0, cut));
    if (cut != std::string::npos) to.insert(name->substr(cut + 1));
}

}  // namespace

Demand getinfo_flags_unknown_refused(const QueryCase& c) {
    // FI_RESCAN, since release 2.0; the headers at hand lack it.
    constexpr std::uint64_t kRescan = std::uint64_t{1} << 35;
    // What a provider does with its own bits is its affair (rdma/fabric.h, Flags: 60 to 63).
    constexpr std::uint64_t kOfProviders = std::uint64_t{0xF} << 60;
    const std::uint64_t later = c.query.version >= Version{2, 0} ? kRescan : 0;
    const std::uint64_t known = FI_NUMERICHOST | FI_PROV_ATTR_ONLY | FI_SOURCE | later;
    if (c.query.flags == 0) return Demand::not_requested();
    if ((c.query.flags & ~known) == 0) return Demand::nothing();
    if ((c.query.flags & ~known & ~kOfProviders) == 0)
        return Demand::may_refuse(number(Field::call_flags, Relation::Within, known, c.query.flags));
    return Demand::must_refuse({FI_EBADFLAGS}, number(Field::call_flags, Relation::Within, known, c.query.flags));
}

Fit getinfo_flags_numeric_node_resolved(const MatchCase& c) {
    if ((c.query.flags & FI_NUMERICHOST) == 0 || (c.query.flags & FI_SOURCE) != 0 || names_only(c.query))
        return Fit::not_requested();
    const Node node = read_node(c.query.node);
    if (node.kind != NodeKind::Numeric) return Fit::not_requested();
    return fit_remote(c, node.host, node_evidence(c, "whether it can be reached is not known"));
}

Fit getinfo_flags_numeric_name_excluded(const MatchCase& c) {
    if ((c.query.flags & FI_NUMERICHOST) == 0 || names_only(c.query)) return Fit::not_requested();
    if (read_node(c.query.node).kind != NodeKind::Name) return Fit::not_requested();
    if (c.granted != nullptr && !is_surely_a_name(*c.query.node)) return Fit::fits();
    Evidence e = node_evidence(c, "is a name, not a number");
    return is_socket_format(c.entry.offer.addr_format) ? Fit::no(std::move(e)) : Fit::may(std::move(e));
}

Ruling getinfo_flags_numeric_no_lookup(const SideEffects& c) {
    const bool requests = c.query != nullptr && (c.query->flags & FI_NUMERICHOST) != 0 && c.query->node;
    const bool returned = c.crashed_signal == 0 && !c.hung && !c.exited;
    if (c.act != SideEffects::Act::GetInfo || !requests || !c.lookups_watched || !returned)
        return Ruling::not_applicable();
    return Ruling::check(c.lookups == 0, [&] {
        return observed(Observable::LookUps, number(Field::call_node, Relation::Equals, 0, c.lookups,
                                                    "had the resolver look up the node's name"));
    });
}

Ruling getinfo_flags_numeric_same_answers(const PairCase& c) {
    if ((c.first.flags ^ c.second.flags) != FI_NUMERICHOST || read_node(c.first.node).kind != NodeKind::Numeric ||
        !both_answered(c)) {
        return Ruling::not_applicable();
    }
    if (!alike_after(c, [](Query& q) { q.flags ^= FI_NUMERICHOST; })) return Ruling::not_applicable();
    return same_endpoints(c, Field::call_flags, "FI_NUMERICHOST changed the answer to a numeric node");
}

Ruling getinfo_flags_attr_only_once_each(const AnswerCase& c) {
    if (!names_only(c.query) || c.answer.ret != 0) return Ruling::not_applicable();
    // Of a provider that the hints name: what stands beside it is found where it is asked for itself.
    const auto is_requested = [&](const Info& o) {
        return c.query.hints && c.query.hints->fabric.prov_name &&
               o.fabric.prov_name == c.query.hints->fabric.prov_name;
    };
    const bool is_named = std::ranges::any_of(c.answer.offers, is_requested);
    std::set<std::string_view> seen;
    for (const Info& o : c.answer.offers) {
        if (is_named && !is_requested(o)) continue;
        if (!o.fabric.prov_name || seen.insert(*o.fabric.prov_name).second) continue;
        return Ruling::broken(
            observed(Observable::ProvidersOnce,
                     reported(Field::call_list, "names the provider " + *o.fabric.prov_name + " twice")));
    }
    return Ruling::holds();
}

Ruling getinfo_flags_attr_only_every_provider(const PairCase& c) {
    if ((c.first.flags ^ c.second.flags) != FI_PROV_ATTR_ONLY || c.first.hints || c.first.node || c.first.service ||
        !both_answered(c)) {
        return Ruling::not_applicable();
    }
    if (!alike_after(c, [](Query& q) { q.flags ^= FI_PROV_ATTR_ONLY; })) return Ruling::not_applicable();
    const bool first_lists = names_only(c.first);
    const Answer& list = first_lists ? c.first_answer : c.second_answer;
    const Answer& plain = first_lists ? c.second_answer : c.first_answer;
    std::set<std::string, std::less<>> listed;
    std::set<std::string, std::less<>> used;
    for (const Info& o : list.offers) add_layers(listed, o.fabric.prov_name);
    for (const Info& o : plain.offers) add_layers(used, o.fabric.prov_name);
    for (const auto& name : used) {
        if (!listed.contains(name))
            return Ruling::broken(observed(Observable::Providers,
                                           reported(Field::call_list, "does not name the provider " + name),
                                           {first_lists ? Second : First, first_lists ? First : Second}));
    }
    return Ruling::holds();
}

Fit getinfo_flags_attr_only_hints(const MatchCase& c) {
    if (!names_only(c.query)) return Fit::not_requested();
    const bool stack = c.profile.provider.find(';') != std::string::npos;
    if (!stack && !c.query.hints && !c.query.node && !c.query.service) return Fit::fits();
    return Fit::may(
        number(Field::call_flags, Relation::Within, ~std::uint64_t{FI_PROV_ATTR_ONLY}, c.query.flags,
               stack ? "a stack may be listed layer by layer" : "whether the rest of the call counts is not said"));
}

Ruling getinfo_flags_attr_only_default_members(const OfferCase& c) {
    if (!names_only(c.query)) return Ruling::not_applicable();
    for (const FieldRow& r : number_fields()) {
        if (r.part != Part::Fabric && get(c.offer, r.field) != 0)
            return offer_to_value(c, r.field, Relation::Equals, 0);
    }
    for (const FieldRow& r : text_fields()) {
        if (r.part == Part::Fabric || !text(c.offer, r.field)) continue;
        return Ruling::broken(at(texts(r.field, Relation::IsNull, {}, text(c.offer, r.field)), c.index));
    }
    return Ruling::holds();
}

Ruling getinfo_flags_source_is_local(const OfferCase& c) {
    const Node node = read_node(c.query.node);
    if (!from_source(c.query) || node.kind != NodeKind::Numeric || is_any(node.host)) return Ruling::not_applicable();
    if (!c.offer.src_addr) return Ruling::broken(at(texts(Field::src_addr, Relation::NotNull, {}, {}), c.index));
    const Host host = host_of(c.offer.src_addr);
    if (host.size() != node.host.size()) return Ruling::not_applicable();
    return Ruling::check(host == node.host, [&] {
        return at(
            texts(Field::src_addr, Relation::TextEquals, with_host(c.offer.src_addr, node.host), c.offer.src_addr),
            c.index);
    });
}

Fit getinfo_flags_source_fits(const MatchCase& c) {
    if (!from_source(c.query)) return Fit::not_requested();
    const Node node = read_node(c.query.node);
    if (node.kind != NodeKind::Numeric) return Fit::not_requested();
    return fit_local(c, node.host, node_evidence(c));
}

Demand getinfo_flags_source_needs_node_or_service(const QueryCase& c) {
    if ((c.query.flags & FI_SOURCE) == 0) return Demand::not_requested();
    if (c.query.node || c.query.service) return Demand::nothing();
    return Demand::must_refuse({FI_EINVAL, FI_EBADFLAGS, FI_ENODATA},
                               number(Field::call_flags, Relation::Within, ~std::uint64_t{FI_SOURCE}, c.query.flags,
                                      "FI_SOURCE needs a node or a service"));
}

Ruling getinfo_flags_source_not_destination(const OfferCase& c) {
    const bool hinted = c.query.hints && c.query.hints->dest_addr;
    if (!from_source(c.query) || hinted) return Ruling::not_applicable();
    return Ruling::check(!c.offer.dest_addr,
                         [&] { return at(texts(Field::dest_addr, Relation::IsNull, {}, c.offer.dest_addr), c.index); });
}

}  // namespace selvage::model::clause
