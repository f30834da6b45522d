// fi_getinfo(3): the call as a whole: version, node, service, what an answer is, how two calls compare.
#include <algorithm>

#include "model/chapters/addresses.h"
#include "model/chapters/alike.h"
#include "model/chapters/call_rules.h"
#include "model/chapters/capabilities.h"

namespace selvage::model::clause {
namespace {

using namespace rules;

bool gives_nothing(const Query& q) { return !q.node && !q.service && q.flags == 0 && !q.hints; }
bool gives_hints_alone(const Query& q) { return !q.node && !q.service && q.flags == 0 && q.hints; }

Evidence node_evidence(const MatchCase& c, const char* note) {
    return texts(Field::call_node, Relation::TextEquals, c.query.node, c.entry.offer.src_addr, note);
}

// Fields of which naming more, or something else, is no stricter or looser request.
bool is_duty_or_choice(const FieldRow& r) {
    return r.hint != Hint::Request || r.field == Field::tx_caps || r.field == Field::rx_caps;  // of info.caps, if zero
}

// Do the second call's capabilities ask for less than the first's?
bool caps_relax(const Info& from, const Info& to) {
    if (from.caps == to.caps) return true;
    // Zero asks for all that is supported (fi_getinfo:236), and modifiers narrow: neither drops a criterion.
    if (to.caps == 0 || (to.caps & ~from.caps) != 0 || ((from.caps ^ to.caps) & modifier_caps()) != 0) return false;
    const bool contexts_follow = from.tx.caps == 0 && from.rx.caps == 0;
    return contexts_follow && well_formed(from.caps) && well_formed(to.caps) &&
           ((to.caps & modifier_caps()) == 0 || (to.caps & primary_caps()) != 0);
}

// A modifier left behind by its capability would refuse; one that starts to stand alone changes its meaning.
bool keeps_groups(const Info& from, const Info& to) {
    const auto group = [&](std::uint64_t of, std::uint64_t modifiers) {
        return (to.caps & modifiers) == 0 || ((from.caps & of) != 0) == ((to.caps & of) != 0);
    };
    return group(kMessages, kMessageWays) && group(kRemote, kRemoteWays);
}

// Every field of `to` is as in `from`, or zero, or (a size) smaller, or (bits) a part of them.
bool hints_relax(const Info& from, const Info& to) {
    if (!caps_relax(from, to) || !keeps_groups(from, to)) return false;
    for (const FieldRow& r : number_fields()) {
        const auto was = get(from, r.field);
        const auto is = get(to, r.field);
        if (was == is || r.field == Field::caps) continue;
        if (is_duty_or_choice(r)) return false;
        const bool less = is == 0 || (r.form == Form::Size && is < was) || (r.form == Form::Bits && (is & ~was) == 0);
        if (!less) return false;
    }
    const bool has_address = from.src_addr || from.dest_addr;
    if (has_address && from.addr_format != to.addr_format) return false;
    if (to.ep.protocol == 0 && to.ep.protocol_version != 0) return false;
    for (const FieldRow& r : text_fields()) {
        if (text(from, r.field) == text(to, r.field)) continue;
        if (text(to, r.field) || r.form == Form::Bytes) return false;
    }
    return true;
}

bool relaxes(const PairCase& c) {
    if (c.metamorphic != MetamorphicRelation::Relaxed || names_only(c.first) || !c.first.hints) return false;
    const bool hints = !c.second.hints || hints_relax(*c.first.hints, *c.second.hints);
    // Shared contexts are a mark, not a number to be lowered.
    const bool marks = c.second.hints && (c.second.hints->ep.tx_ctx_cnt != 0 || c.second.hints->ep.rx_ctx_cnt != 0) &&
                       (c.first.hints->ep.tx_ctx_cnt != c.second.hints->ep.tx_ctx_cnt ||
                        c.first.hints->ep.rx_ctx_cnt != c.second.hints->ep.rx_ctx_cnt);
    return hints && !marks && alike_after(c, [&](Query& q) { q.hints = c.second.hints; });
}

// What must be the same when the same call is made again: all but what is made afresh.
Info lasting(Info info) {
    const auto blank = [](Text& bytes) {
        if (bytes) bytes = std::string();
    };
    blank(info.src_addr);
    blank(info.dest_addr);
    info.handle = info.domain.domain = info.fabric.fabric = 0;
    return info;
}

}  // namespace

Demand getinfo_call_version_newer(const QueryCase& c) {
    if (c.query.version < Version(1, 0)) {
        return Demand::may_refuse(number(Field::call_version, Relation::AtLeast, Version(1, 0).packed,
                                         c.query.version.packed, "no such version was ever published"));
    }
    if (c.query.version <= c.world.library) return Demand::nothing();
    return Demand::must_refuse(
        {FI_ENOSYS}, number(Field::call_version, Relation::AtMost, c.world.library.packed, c.query.version.packed));
}

Ruling getinfo_call_nothing_given_lists_all(const AnswerCase& c) {
    // A refusal is judged by getinfo.call.matching-returned.
    if (!gives_nothing(c.query) || c.answer.ret != 0 || c.profile == nullptr) return Ruling::not_applicable();
    for (const Entry& e : c.profile->entries) {
        const auto listed = [&](const Info& o) { return same_endpoint(o, e.offer); };
        if (std::any_of(c.answer.offers.begin(), c.answer.offers.end(), listed)) continue;
        return Ruling::broken(texts(Field::call_list, Relation::TextContains, e.offer.domain.name, {},
                                    "does not list an endpoint that other calls find"));
    }
    return Ruling::holds();
}

Ruling getinfo_call_nothing_given_covers(const PairCase& c) {
    // Hints of zeros have a clause of their own: getinfo.call.hints-null-as-zero.
    if (c.metamorphic == MetamorphicRelation::NullVersusEmpty || c.first.version != c.second.version ||
        !both_answered(c))
        return Ruling::not_applicable();
    if (gives_nothing(c.first) && gives_hints_alone(c.second)) {
        return covers(c, Second, Field::call_hints, "found with hints, not found with nothing given");
    }
    if (gives_nothing(c.second) && gives_hints_alone(c.first)) {
        return covers(c, First, Field::call_hints, "found with hints, not found with nothing given");
    }
    return Ruling::not_applicable();
}

Demand getinfo_call_any_combination(const QueryCase& c) {
    // That all combinations are welcome says nothing about a service that may not exist.
    if (c.query.service && read_port(c.query.service) < 0) {
        return Demand::may_refuse(
            texts(Field::call_service, Relation::TextEquals, {}, c.query.service, "may name no service"));
    }
    return Demand::nothing();
}

Ruling getinfo_call_success_not_empty(const AnswerCase& c) {
    if (c.answer.ret != 0) return Ruling::not_applicable();
    return Ruling::check(!c.answer.list_null && !c.answer.offers.empty(),
                         [&] { return number(Field::call_count, Relation::AtLeast, 1, c.answer.offers.size()); });
}

Ruling getinfo_call_no_match_null(const AnswerCase& c) {
    if (c.answer.ret != -FI_ENODATA) return Ruling::not_applicable();
    return Ruling::check(c.answer.list_null, [] { return texts(Field::call_list, Relation::IsNull, {}, {}); });
}

Ruling getinfo_call_no_match_enodata(const AnswerCase& c) {
    const int ret = c.answer.ret;
    // Two errors have clauses of their own, in getinfo.errors.
    if (ret >= 0 || ret == -FI_EBADFLAGS || ret == -FI_ENOSYS || !breaks_no_rule(c)) return Ruling::not_applicable();
    return Ruling::check(ret == -FI_ENODATA || ret == -FI_ENOMEM, [&] {
        return returned(c, FI_ENODATA, "the call breaks no rule, so the only error is that nothing matches");
    });
}

Ruling getinfo_call_matching_returned(const AnswerCase&) {
    // judge() compares the answer with expect() and breaks this promise itself, so that the links can follow.
    return Ruling::not_applicable();
}

Ruling getinfo_call_error_negative(const AnswerCase& c) {
    return Ruling::check(c.answer.ret <= 0,
                         [&] { return returned(c, 0, "a positive number is neither success nor an error"); });
}

Ruling getinfo_call_error_known(const AnswerCase& c) {
    if (c.answer.ret >= 0) return Ruling::not_applicable();
    const auto errors = words(Family::error);
    const auto error = -static_cast<std::int64_t>(c.answer.ret);
    const bool known = std::any_of(errors.begin(), errors.end(),
                                   [&](const Word& w) { return static_cast<std::int64_t>(w.value) == error; });
    return Ruling::check(known, [&] { return returned(c, FI_ENODATA, "rdma/fi_errno.h defines no such error"); });
}

Ruling getinfo_call_list_ends(const AnswerCase& c) {
    constexpr std::size_t kEndless = 10000;
    if (c.answer.list_null) return Ruling::not_applicable();
    return Ruling::check(c.answer.offers.size() <= kEndless, [&] {
        return observed(Observable::ListEnd,
                        number(Field::call_count, Relation::AtMost, kEndless, c.answer.offers.size()));
    });
}

Ruling getinfo_call_structures_present(const OfferCase& c) {
    constexpr std::pair<Part, Field> kParts[] = {{Part::Fabric, Field::part_fabric},
                                                 {Part::Tx, Field::part_tx},
                                                 {Part::Rx, Field::part_rx},
                                                 {Part::Ep, Field::part_ep},
                                                 {Part::Domain, Field::part_domain}};
    for (const auto& [part, field] : kParts) {
        if (names_only(c.query) && part != Part::Fabric) continue;
        if (!c.offer.has(part)) return Ruling::broken(at(texts(field, Relation::NotNull, {}, {}), c.index));
    }
    return Ruling::holds();
}

Fit getinfo_call_node_resolved(const MatchCase& c) {
    const Query& q = c.query;
    if ((!q.node && !q.service) || names_only(q)) return Fit::not_requested();
    // A provider with names of its own reads node and service in its own way.
    if (!is_ip_format(c.entry.offer.addr_format))
        return Fit::may(node_evidence(c, "is read in the provider's own way"));
    const Node node = read_node(q.node);
    const bool from_source = (q.flags & FI_SOURCE) != 0;
    const bool numeric_flag = (q.flags & FI_NUMERICHOST) != 0;
    if (node.kind == NodeKind::None) {
        // Of the other side only the port is known; which local side that leaves is open.
        const bool open = !from_source && q.hints && c.profile.origin == Origin::Inferred;
        return open ? Fit::may(node_evidence(c, "a service alone names no host")) : Fit::fits();
    }
    if (node.kind == NodeKind::Name && !numeric_flag) return Fit::may(node_evidence(c, "may be a name that is known"));
    if (node.kind != NodeKind::Numeric || from_source || numeric_flag) return Fit::not_requested();
    return fit_remote(c, node.host, node_evidence(c, "whether it can be reached is not known"));
}

Fit getinfo_call_node_unresolvable(const MatchCase& c) {
    if (read_node(c.query.node).kind != NodeKind::Unresolvable || names_only(c.query)) return Fit::not_requested();
    Evidence e = node_evidence(c, "is a name that nobody has");
    return is_socket_format(c.entry.offer.addr_format) ? Fit::no(std::move(e)) : Fit::may(std::move(e));
}

Fit getinfo_call_node_addr_str(const MatchCase& c) {
    if (read_node(c.query.node).kind != NodeKind::String || names_only(c.query)) return Fit::not_requested();
    return Fit::may(node_evidence(c, "is a formatted address, which a provider need not read"));
}

Demand getinfo_call_addr_str_no_service(const QueryCase& c) {
    if (read_node(c.query.node).kind != NodeKind::String) return Demand::not_requested();
    if (!c.query.service) return Demand::nothing();
    return refuse_hint(c.query, {FI_EINVAL, FI_ENODATA},
                       texts(Field::call_service, Relation::IsNull, {}, c.query.service));
}

Ruling getinfo_call_service_kept(const OfferCase& c) {
    const int port = read_port(c.query.service);
    const bool no_port = is_beyond_ports(c.query.service);
    const bool from_source = (c.query.flags & FI_SOURCE) != 0;
    if ((port <= 0 && !no_port) || names_only(c.query) || read_node(c.query.node).kind == NodeKind::String)
        return Ruling::not_applicable();
    const Field field = from_source ? Field::src_addr : Field::dest_addr;
    const Text& actual = text(c.offer, field);
    if (!is_ip(actual)) return Ruling::not_applicable();
    if (no_port) {
        Evidence e = reported(field, "has a port, and " + *c.query.service + " is the number of none");
        e.actual_text = actual;
        return Ruling::broken(at(std::move(e), c.index));
    }
    const auto expected = static_cast<unsigned>(port);
    return Ruling::check(port_of(actual) == expected, [&] {
        return at(texts(field, Relation::TextEquals, with_port(actual, expected), actual, "has another port"), c.index);
    });
}

Ruling getinfo_call_restricting_narrows(const PairCase& c) {
    if (c.first_answer.ret != 0 || c.second_answer.ret != 0 || !relaxes(c)) return Ruling::not_applicable();
    return covers(c, First, Field::call_hints, "an endpoint that the stricter call finds is lost");
}

Ruling getinfo_call_relaxing_widens(const PairCase& c) {
    if (c.first_answer.ret != 0 || !relaxes(c)) return Ruling::not_applicable();
    return Ruling::check(c.second_answer.ret == 0, [&] {
        return observed(Observable::Returned,
                        number(Field::call_return, Relation::Equals, 0, as_number(c.second_answer.ret),
                               "the call that asks for less is refused"),
                        {Second, First});
    });
}

Ruling getinfo_call_asked_twice(const PairCase& c) {
    if ((c.metamorphic != MetamorphicRelation::Repeated && c.metamorphic != MetamorphicRelation::Reordered) ||
        !(c.first == c.second))
        return Ruling::not_applicable();
    const Answer& one = c.first_answer;
    const Answer& two = c.second_answer;
    const auto differ = [](Evidence e) { return Ruling::broken(observed(Observable::Answers, std::move(e))); };
    if (one.ret != two.ret)
        return differ(number(Field::call_return, Relation::Equals, as_number(one.ret), as_number(two.ret)));
    if (one.offers.size() != two.offers.size())
        return differ(number(Field::call_count, Relation::Equals, one.offers.size(), two.offers.size()));
    for (std::size_t i = 0; i < one.offers.size(); ++i) {
        if (one.offers[i] == two.offers[i] || lasting(one.offers[i]) == lasting(two.offers[i])) continue;
        return differ(
            at(reported(Field::call_list, "this entry differs from the one of the call before"), static_cast<int>(i)));
    }
    return Ruling::holds();
}

Ruling getinfo_call_answer_fed_back(const PairCase& c) {
    if (c.metamorphic != MetamorphicRelation::FedBack || c.fed_back < 0 || names_only(c.first) || names_only(c.second))
        return Ruling::not_applicable();
    if (static_cast<std::size_t>(c.fed_back) >= c.first_answer.offers.size()) return Ruling::not_applicable();
    const Info& fed = c.first_answer.offers[static_cast<std::size_t>(c.fed_back)];
    if (c.second_answer.ret != 0) {
        return Ruling::broken(number(Field::call_return, Relation::Equals, 0, as_number(c.second_answer.ret),
                                     "an answer that is given back as hints is refused"));
    }
    const auto& offers = c.second_answer.offers;
    const bool found = std::any_of(offers.begin(), offers.end(), [&](const Info& o) { return same_endpoint(o, fed); });
    return Ruling::check(
        found, [] { return reported(Field::call_list, "does not hold the endpoint that was given back as hints"); });
}

Ruling getinfo_call_hints_null_as_zero(const PairCase& c) {
    if (c.metamorphic != MetamorphicRelation::NullVersusEmpty || !both_answered(c) ||
        c.first.hints.has_value() == c.second.hints.has_value()) {
        return Ruling::not_applicable();
    }
    return covers(c, c.first.hints ? First : Second, Field::call_hints, "found with hints of zeros, not with none");
}

}  // namespace selvage::model::clause
