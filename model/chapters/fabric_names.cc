// Provider names: the filter of hints, layered names, FI_PROVIDER.  The predicates of spec/clauses/fabric_names.toml.
// Pure functions; any thread.
#include "model/chapters/alike.h"
#include "model/chapters/provider_names.h"

namespace selvage::model::clause {
namespace {

using namespace rules;

// The provider name of the hints: empty where none is asked for.
std::string_view requested_name(const Query& q) {
    if (!q.hints || !q.hints->fabric.prov_name) return {};
    return *q.hints->fabric.prov_name;
}

std::string_view single_name(const Query& q) {
    const auto name = requested_name(q);
    return is_layered(name) ? std::string_view{} : name;
}

std::string_view layered_name(const Query& q) {
    const auto name = requested_name(q);
    return is_layered(name) ? name : std::string_view{};
}

std::string_view provider(const Info& offer) {
    return offer.fabric.prov_name ? std::string_view(*offer.fabric.prov_name) : std::string_view{};
}

Evidence other_name(const MatchCase& c, Relation r) {
    return texts(Field::fabric_prov_name, r, std::string(requested_name(c.query)), c.entry.offer.fabric.prov_name);
}

// A text that is no name of a provider, nor two of them: a caret is for FI_PROVIDER alone.
bool is_ill_formed(std::string_view name) {
    return name.substr(0, 1) == "^" || (is_layered(name) && contains(split(name, ';'), ""));
}

// A name that no provider has: FI_PROVIDER keeps it out, or it has a blank.  Others may be registered unseen.
bool is_unregistered(std::string_view name, const World& world) {
    if (name.find(' ') != std::string_view::npos) return true;
    return world.fi_provider && !world.fi_provider->empty() && Filter(*world.fi_provider).keeps_out(name);
}

// A call that asks for a provider name and nothing else can fail for no other reason.
bool requests_the_name_only(const Query& q, Version library) {
    if (q.node || q.service || q.flags != 0 || q.version > library || q.version < Version(1, 0)) return false;
    Info plain;
    plain.present = q.hints->present;
    plain.fabric.prov_name = q.hints->fabric.prov_name;
    return *q.hints == plain;
}

// The variable lists names of providers that register; a layered name is no such name, and what it does is not said.
const std::string* filter_of(const SideEffects& c) {
    if (c.world == nullptr || !c.world->fi_provider || c.world->fi_provider->empty()) return nullptr;
    return is_layered(*c.world->fi_provider) ? nullptr : &*c.world->fi_provider;
}

bool is_attr_only(const SideEffects& c) {
    return c.act == SideEffects::Act::ProvAttrOnly || (c.query != nullptr && names_only(*c.query));
}

// Does the side_effects show an answer of a process with FI_PROVIDER set, to a query that brings endpoints?
const std::string* environment(const SideEffects& c) {
    if (c.act != SideEffects::Act::EnvProvider || is_attr_only(c)) return nullptr;
    return filter_of(c);
}

Ruling none_kept_out(const SideEffects& c, const Filter& filter) {
    for (const auto& p : c.providers) {
        if (!filter.keeps_out(p)) continue;
        return Ruling::broken(observed(Observable::ProviderAbsent, texts(Field::fabric_prov_name, Relation::Happens, {},
                                                                         p, "FI_PROVIDER keeps out " + p)));
    }
    return Ruling::holds();
}

bool is_among(const std::string& name, const std::vector<std::string>& providers) {
    return std::any_of(providers.begin(), providers.end(), [&](const std::string& p) { return same_layers(p, name); });
}

// Every provider of the answer without FI_PROVIDER that `counts` must be there with it.
template <typename Counts>
Ruling still_there(const SideEffects& c, Counts&& counts) {
    if (c.answer == nullptr) return Ruling::not_applicable();
    bool applied = false;
    for (const auto& o : c.answer->offers) {
        if (!o.fabric.prov_name || !counts(*o.fabric.prov_name)) continue;
        applied = true;
        if (!is_among(*o.fabric.prov_name, c.providers)) {
            return Ruling::broken(observed(Observable::ProviderPresent,
                                           texts(Field::fabric_prov_name, Relation::Happens, {}, o.fabric.prov_name,
                                                 "not there with FI_PROVIDER set: " + *o.fabric.prov_name)));
        }
    }
    return applied ? Ruling::holds() : Ruling::not_applicable();
}

}  // namespace

// Under FI_PROV_ATTR_ONLY too: it is one of the two members that are filled in there.
Ruling fabric_prov_name_present(const OfferCase& c) {
    const Text& name = c.offer.fabric.prov_name;
    return Ruling::check(name.has_value(),
                         [&] { return at(texts(Field::fabric_prov_name, Relation::NotNull, {}, name), c.index); });
}

Fit fabric_prov_name_fits(const MatchCase& c) {
    const auto name = single_name(c.query);
    // An empty name is no NULL, and no provider's.
    if (name.empty() && c.hints() != nullptr && c.hints()->fabric.prov_name && c.hints()->fabric.prov_name->empty()) {
        return Fit::may(other_name(c, Relation::TextEquals));
    }
    return !name.empty() && provider(c.entry.offer) == name ? Fit::fits() : Fit::not_requested();
}

Fit fabric_prov_name_excludes(const MatchCase& c) {
    const auto name = single_name(c.query);
    if (name.empty() || has_layer(provider(c.entry.offer), name)) return Fit::not_requested();
    return Fit::no(other_name(c, Relation::TextContains));
}

Ruling fabric_prov_name_granted(const OfferCase& c) {
    const auto name = single_name(c.query);
    if (name.empty() || names_only(c.query) || is_ill_formed(name)) return Ruling::not_applicable();
    const auto actual = provider(c.offer);
    return Ruling::check(has_layer(actual, name), [&] {
        const bool within = actual.find(name) != std::string_view::npos;
        const auto relation = is_layered(actual) && !within ? Relation::TextContains : Relation::TextEquals;
        return at(texts(Field::fabric_prov_name, relation, std::string(name), c.offer.fabric.prov_name), c.index);
    });
}

Ruling fabric_prov_name_unregistered(const AnswerCase& c) {
    const auto name = single_name(c.query);
    if (name.empty() || names_only(c.query) || !is_unregistered(name, c.world)) return Ruling::not_applicable();
    const auto ret = static_cast<std::uint64_t>(static_cast<std::int64_t>(c.answer.ret));
    const auto enodata = static_cast<std::uint64_t>(-static_cast<std::int64_t>(FI_ENODATA));
    if (c.answer.ret == 0 || (c.answer.ret != -FI_ENODATA && requests_the_name_only(c.query, c.world.library))) {
        return Ruling::broken(
            number(Field::call_return, Relation::Equals, enodata, ret, "no such provider is registered"));
    }
    return Ruling::check(c.answer.list_null, [] { return number(Field::call_list, Relation::IsNull, 0, 1); });
}

Ruling fabric_prov_name_ill_formed(const AnswerCase& c) {
    const auto name = requested_name(c.query);
    if (name.empty() || names_only(c.query) || !is_ill_formed(name)) return Ruling::not_applicable();
    return Ruling::check(c.answer.ret != 0, [] {
        return number(Field::call_return, Relation::Differs, 0, 0, "no provider can bear that name");
    });
}

Fit fabric_prov_name_one_layer(const MatchCase& c) {
    const auto name = single_name(c.query);
    const auto offered = provider(c.entry.offer);
    if (name.empty() || !is_layered(offered) || !has_layer(offered, name)) return Fit::not_requested();
    return Fit::may(other_name(c, Relation::TextEquals));
}

// The other order is for fabric.prov-name.layered-order to speak of.
Fit fabric_prov_name_layered(const MatchCase& c) {
    const auto name = layered_name(c.query);
    if (name.empty()) return Fit::not_requested();
    if (provider(c.entry.offer) == name) return Fit::fits();
    if (same_layers(provider(c.entry.offer), name)) return Fit::not_requested();
    return Fit::no(other_name(c, Relation::TextEquals));
}

Fit fabric_prov_name_layered_order(const MatchCase& c) {
    const auto name = layered_name(c.query);
    const auto offered = provider(c.entry.offer);
    return !name.empty() && offered != name && same_layers(offered, name) ? Fit::fits() : Fit::not_requested();
}

Ruling fabric_prov_name_layered_granted(const OfferCase& c) {
    const auto name = layered_name(c.query);
    if (name.empty() || names_only(c.query) || is_ill_formed(name)) return Ruling::not_applicable();
    const auto actual = provider(c.offer);
    const auto layers = split(name, ';');
    for (const auto layer : layers) {
        if (has_layer(actual, layer)) continue;
        const auto relation =
            actual.find(layer) == std::string_view::npos ? Relation::TextContains : Relation::TextEquals;
        const auto expected = relation == Relation::TextContains ? layer : name;
        return Ruling::broken(
            at(texts(Field::fabric_prov_name, relation, std::string(expected), c.offer.fabric.prov_name), c.index));
    }
    return Ruling::holds();
}

Ruling fabric_prov_name_layered_same_answers(const PairCase& c) {
    const auto a = layered_name(c.first);
    const auto b = layered_name(c.second);
    // A list of names has no endpoints; it may spell a name as it was asked for.
    if (a.empty() || a == b || !same_layers(a, b) || names_only(c.first)) return Ruling::not_applicable();
    const bool only_the_name = alike_after(c, [&](Query& q) { q.hints->fabric.prov_name = std::string(b); });
    if (!only_the_name || !both_answered(c)) return Ruling::not_applicable();
    return same_endpoints(c, Field::fabric_prov_name, "the order of the layers does not count");
}

Ruling fabric_environment_include(const SideEffects& c) {
    const auto* value = environment(c);
    if (value == nullptr || Filter(*value).excludes) return Ruling::not_applicable();
    return none_kept_out(c, Filter(*value));
}

// SideEffects::answer is that of the same call without the variable.
Ruling fabric_environment_include_allows(const SideEffects& c) {
    const auto* value = environment(c);
    if (value == nullptr || Filter(*value).excludes) return Ruling::not_applicable();
    const Filter filter(*value);
    return still_there(c, [&](std::string_view p) { return filter.names_all_of(p); });
}

Ruling fabric_environment_exclude(const SideEffects& c) {
    const auto* value = environment(c);
    if (value == nullptr || !Filter(*value).excludes) return Ruling::not_applicable();
    return none_kept_out(c, Filter(*value));
}

Ruling fabric_environment_exclude_others(const SideEffects& c) {
    const auto* value = environment(c);
    if (value == nullptr || !Filter(*value).excludes) return Ruling::not_applicable();
    const Filter filter(*value);
    return still_there(c, [&](std::string_view p) { return !filter.may_name_layer_of(p); });
}

Ruling fabric_environment_never_appears(const SideEffects& c) {
    const auto* value = filter_of(c);
    if (value == nullptr || !is_attr_only(c)) return Ruling::not_applicable();
    return none_kept_out(c, Filter(*value));
}

}  // namespace selvage::model::clause
