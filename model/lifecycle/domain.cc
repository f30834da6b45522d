// Opening and closing a domain: spec/clauses/domain_open.toml.
#include "model/lifecycle/rules.h"

namespace selvage::model::clause {

using namespace rules;

namespace {

// Is an instance of the domain open on any fabric?
bool is_open(const Step& s) { return s.before->first_instance(ObjectClass::Domain, *s.offer) != nullptr; }

// The parent is a fabric that was opened with the same entry, as it is.
bool on_own_fabric(const Step& s) {
    const Object* fabric = s.target();
    return fabric != nullptr && fabric->kind == ObjectClass::Fabric && fabric->offer == s.offer_index &&
           !fabric->reordered;
}

bool opens_domain(const Step& s) { return s.verb == Verb::Open && s.opens == ObjectClass::Domain && calm(s); }

// fi_domain once gave a domain for the same arguments, and that domain is closed again.
bool plain_call_worked(const Step& s) {
    for (const Object& o : s.before->objects()) {
        if (o.kind == ObjectClass::Domain && o.state == Object::State::Closed && !o.flagged && o.parent == s.object &&
            o.offer == s.offer_index)
            return true;
    }
    return false;
}

}  // namespace

Ruling domain_open_each_answer(const Step& s) {
    if (!opens_entry(s, ObjectClass::Domain) || s.second_call || !on_own_fabric(s) || is_open(s))
        return Ruling::not_applicable();
    return returned(s, 0);
}

Ruling domain_open_twice(const Step& s) {
    if (!opens_entry(s, ObjectClass::Domain) || s.second_call || !on_own_fabric(s) || !is_open(s))
        return Ruling::not_applicable();
    return returned(s, 0, "an instance of it is open");
}

Ruling domain_open_flags_zero(const Step& s) {
    if (!opens_entry(s, ObjectClass::Domain) || !s.second_call || s.flags != 0 || !plain_call_worked(s))
        return Ruling::not_applicable();
    return returned(s, 0, "fi_domain worked with the same arguments");
}

Ruling domain_open_object(const Step& s) {
    if (!opens_domain(s) || !s.worked()) return Ruling::not_applicable();
    return opened_as(s, FI_CLASS_DOMAIN);
}

Ruling domain_open_context(const Step& s) {
    if (!opens_domain(s) || !s.worked() || s.null) return Ruling::not_applicable();
    return Ruling::check(s.context_kept, [] {
        return observed(Observable::ObjectContext, reported(Field::object, "the domain does not carry its context"));
    });
}

Ruling domain_open_unknown_name(const Step& s) {
    if (!opens_domain(s) || s.altered != Altered::DomainName) return Ruling::not_applicable();
    return failed(s, "the provider reports no domain of that name");
}

Ruling domain_open_error_negative(const Step& s) {
    const bool on_domain =
        calm(s) && s.target() != nullptr && s.target()->kind == ObjectClass::Domain && s.verb != Verb::Query;
    if (!opens_domain(s) && !on_domain) return Ruling::not_applicable();
    return negative_errno(s);
}

Ruling domain_close_empty(const Step& s) { return empty_close(s, ObjectClass::Domain, false); }
Ruling domain_close_after_children(const Step& s) { return empty_close(s, ObjectClass::Domain, true); }
Ruling domain_close_busy_endpoint(const Step& s) { return busy_close(s, ObjectClass::Domain, ObjectClass::Ep); }
Ruling domain_close_busy_mr(const Step& s) { return busy_close(s, ObjectClass::Domain, ObjectClass::Mr); }
Ruling domain_close_busy_cq(const Step& s) { return busy_close(s, ObjectClass::Domain, ObjectClass::Cq); }
Ruling domain_close_busy_av(const Step& s) { return busy_close(s, ObjectClass::Domain, ObjectClass::Av); }
Ruling domain_close_busy_counter(const Step& s) { return busy_close(s, ObjectClass::Domain, ObjectClass::Cntr); }
Ruling domain_close_busy_srx(const Step& s) { return busy_close(s, ObjectClass::Domain, ObjectClass::Srx); }
Ruling domain_close_child(const Step& s) { return child_close(s, ObjectClass::Domain); }
Ruling domain_close_whole_after_busy(const Step& s) { return whole_after_busy(s, ObjectClass::Domain); }

}  // namespace selvage::model::clause
