// Opened instances in hints and answers: spec/clauses/domain_identity.toml, fabric_attr.toml, domain.open.by-name.
//
// An entry is judged on its own provider's instances: layered providers open others below them, of which no page
// speaks.
#include "model/judge/judge.h"
#include "model/lifecycle/rules.h"

namespace selvage::model::clause {

using namespace rules;

namespace {

Field instance_field(ObjectClass kind) {
    return kind == ObjectClass::Fabric ? Field::fabric_fabric : Field::domain_domain;
}

bool requested_plainly(const Step& s) {
    return s.verb == Verb::Query && s.object == 0 && s.answer != nullptr && calm(s) && s.ret == 0 &&
           (s.query == nullptr || !names_only(*s.query));
}

// Judges each entry of the answer to a call that names no instance: not applicable where no entry is.
template <typename JudgeEntry>
Ruling each_entry(const Step& s, JudgeEntry&& judge_entry) {
    bool any = false;
    for (std::size_t i = 0; i < s.answer->offers.size(); ++i) {
        const Info& offer = s.answer->offers[i];
        if (!offer_is_of(offer, s.provider)) continue;
        Ruling r = judge_entry(offer);
        if (r.is_broken()) return Ruling::broken(at(r.take_evidence(), static_cast<int>(i)));
        any = any || r.outcome() == Outcome::Holds;
    }
    return any ? Ruling::holds() : Ruling::not_applicable();
}

template <typename JudgeEntry>
Ruling each_plain_entry(const Step& s, JudgeEntry&& judge_entry) {
    return requested_plainly(s) ? each_entry(s, judge_entry) : Ruling::not_applicable();
}

// The hints of the call name the entry's fabric (domain).
bool is_named(const Step& s, ObjectClass kind, const Info& offer) {
    if (s.query == nullptr || !s.query->hints) return false;
    const Info& hints = *s.query->hints;
    if (hints.fabric.name != offer.fabric.name) return false;
    return kind == ObjectClass::Fabric || hints.domain.name == offer.domain.name;
}

// An entry whose fabric (domain) is open refers to an open instance of it.
Ruling reported(const Step& s, ObjectClass kind, bool named) {
    const Field f = instance_field(kind);
    return each_plain_entry(s, [&](const Info& offer) {
        const Object* first = s.before->first_instance(kind, offer);
        if (first == nullptr || is_named(s, kind, offer) != named) return Ruling::not_applicable();
        const auto seen = get(offer, f);
        if (seen == 0) return Ruling::broken(number(f, Relation::NotNull, 0, 0, "an instance is open"));
        // Of references to closed objects, and to ones of another name, other clauses speak.
        if (seen != kForeign)
            return Ruling::check(s.before->find_open(seen) != nullptr, [&] {
                return number(f, Relation::Equals, static_cast<std::uint64_t>(first->number), seen);
            });
        return Ruling::broken(number(f, Relation::Equals, static_cast<std::uint64_t>(first->number), seen));
    });
}

// Of several open instances, the one that was opened first.
Ruling first(const Step& s, ObjectClass kind) {
    const Field f = instance_field(kind);
    return each_plain_entry(s, [&](const Info& offer) {
        const auto seen = get(offer, f);
        const Object* o = s.before->find_open(seen);
        if (o == nullptr || s.before->instances(kind, offer) < 2 || !is_instance(*o, kind, offer))
            return Ruling::not_applicable();
        const auto expected = static_cast<std::uint64_t>(s.before->first_instance(kind, offer)->number);
        return Ruling::check(seen == expected,
                             [&] { return number(f, Relation::Equals, expected, seen, "the first that was opened"); });
    });
}

// An entry whose fabric (domain) is not open refers to none.
Ruling null(const Step& s, ObjectClass kind) {
    const Field f = instance_field(kind);
    return each_plain_entry(s, [&](const Info& offer) {
        if (s.before->first_instance(kind, offer) != nullptr) return Ruling::not_applicable();
        const auto seen = get(offer, f);
        const bool closed = s.before->find(seen) != nullptr && s.before->find_open(seen) == nullptr;
        if (closed) return Ruling::not_applicable();  // another clause speaks
        return Ruling::check(seen == 0,
                             [&] { return number(f, Relation::IsNull, 0, seen, "no instance of it is open"); });
    });
}

// No entry refers to an instance that was closed.
Ruling not_closed(const Step& s, ObjectClass kind) {
    if (!requested_plainly(s)) return Ruling::not_applicable();
    bool any_closed = false;
    for (const Object& o : s.before->objects())
        any_closed = any_closed || (o.kind == kind && o.state == Object::State::Closed);
    if (!any_closed) return Ruling::not_applicable();
    const Field f = instance_field(kind);
    return each_entry(s, [&](const Info& offer) {
        const Object* o = s.before->find(get(offer, f));
        return Ruling::check(o == nullptr || o->state != Object::State::Closed, [&] {
            return number(f, Relation::Differs, get(offer, f), get(offer, f), "it was closed");
        });
    });
}

// Every entry of the answer to a call that names an instance belongs to it.
Ruling restricts(const Step& s, ObjectClass kind) {
    const Object* o = s.target();
    if (s.verb != Verb::Query || s.answer == nullptr || !calm(s) || s.ret != 0 || o == nullptr || o->kind != kind)
        return Ruling::not_applicable();
    return each_entry(s, [&](const Info& offer) {
        if (offer.fabric.name != o->fabric_name)
            return Ruling::broken(texts(Field::fabric_name, Relation::TextEquals, o->fabric_name, offer.fabric.name));
        return Ruling::check(kind != ObjectClass::Domain || offer.domain.name == o->domain_name, [&] {
            return texts(Field::domain_name, Relation::TextEquals, o->domain_name, offer.domain.name);
        });
    });
}

}  // namespace

Ruling fabric_instance_reported(const Step& s) { return reported(s, ObjectClass::Fabric, true); }
Ruling fabric_instance_reported_unnamed(const Step& s) { return reported(s, ObjectClass::Fabric, false); }
Ruling fabric_instance_first(const Step& s) { return first(s, ObjectClass::Fabric); }
Ruling fabric_instance_null(const Step& s) { return null(s, ObjectClass::Fabric); }
Ruling fabric_instance_not_closed(const Step& s) { return not_closed(s, ObjectClass::Fabric); }
Ruling fabric_instance_restricts(const Step& s) { return restricts(s, ObjectClass::Fabric); }
Ruling domain_instance_reported(const Step& s) { return reported(s, ObjectClass::Domain, true); }
Ruling domain_instance_reported_unnamed(const Step& s) { return reported(s, ObjectClass::Domain, false); }
Ruling domain_instance_first(const Step& s) { return first(s, ObjectClass::Domain); }
Ruling domain_instance_null(const Step& s) { return null(s, ObjectClass::Domain); }
Ruling domain_instance_not_closed(const Step& s) { return not_closed(s, ObjectClass::Domain); }
Ruling domain_instance_restricts(const Step& s) { return restricts(s, ObjectClass::Domain); }

Ruling domain_open_by_name(const Step& s) {
    return each_plain_entry(s, [&](const Info& offer) {
        const Object* o = s.before->find_open(offer.domain.domain);
        if (o == nullptr) return Ruling::not_applicable();
        return Ruling::check(is_instance(*o, ObjectClass::Domain, offer), [&] {
            return number(Field::domain_domain, Relation::Happens, 0, offer.domain.domain, "a domain of another name");
        });
    });
}

}  // namespace selvage::model::clause
