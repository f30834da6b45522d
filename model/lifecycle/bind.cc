// The event queue of a domain, and the interfaces of the provider: spec/clauses/domain_bind.toml, domain_ops.toml.
#include <rdma/fi_domain.h>

#include "model/lifecycle/rules.h"

namespace selvage::model::clause {

using namespace rules;

namespace {

// The step binds to an open domain; `bound` gets what.
bool binds(const Step& s, const Object*& bound) {
    if (s.verb != Verb::Bind || !calm(s) || s.target() == nullptr || s.target()->kind != ObjectClass::Domain)
        return false;
    bound = s.before->find_open(static_cast<std::uint64_t>(s.argument));
    return bound != nullptr;
}

bool on_domain(const Step& s, Verb verb) {
    return s.verb == verb && calm(s) && s.target() != nullptr && s.target()->kind == ObjectClass::Domain;
}

bool sets_override(const Step& s, Override which) {
    return on_domain(s, Verb::SetOps) && s.name == FI_SET_OPS_HMEM_OVERRIDE && s.override_ops == which;
}

// An override that is not to be accepted; a provider that knows no such override is not asked.
Ruling refuses_override(const Step& s, Override which, const char* why) {
    if (!sets_override(s, which) || s.ret == -FI_ENOSYS) return Ruling::not_applicable();
    return failed(s, why);
}

}  // namespace

Ruling domain_bind_eq(const Step& s) {
    const Object* eq = nullptr;
    if (!binds(s, eq) || eq->kind != ObjectClass::Eq || eq->parent != s.target()->parent || s.flags != 0)
        return Ruling::not_applicable();
    // Of binding late or a second time the page says nothing.
    if (s.target()->had_children || !s.target()->bound_eqs.empty()) return Ruling::not_applicable();
    return returned(s, 0);
}

Ruling domain_bind_not_an_eq(const Step& s) {
    const Object* other = nullptr;
    if (!binds(s, other) || other->kind == ObjectClass::Eq) return Ruling::not_applicable();
    return failed(s, "what is bound is no event queue");
}

Ruling domain_bind_close_order(const Step& s) {
    if (!closes(s, ObjectClass::Eq) || s.before->is_bound(s.object)) return Ruling::not_applicable();
    for (const Object& o : s.before->objects()) {
        if (o.state != Object::State::Closed) continue;
        for (const int eq : o.bound_eqs)
            if (eq == s.object) return returned(s, 0, "the domain that it was bound to is closed");
    }
    return Ruling::not_applicable();
}

Ruling domain_open_ops_unknown(const Step& s) {
    if (!on_domain(s, Verb::OpenOps)) return Ruling::not_applicable();
    return failed(s, "no interface has that name");
}

Ruling domain_set_ops_unknown(const Step& s) {
    if (!on_domain(s, Verb::SetOps) || s.name == FI_SET_OPS_HMEM_OVERRIDE) return Ruling::not_applicable();
    return returned(s, -FI_ENOSYS);
}

Ruling domain_set_ops_hmem_override(const Step& s) {
    // It is to be set before anything is opened on the domain.
    if (!sets_override(s, Override::Complete) || s.before->has_child(s.object)) return Ruling::not_applicable();
    if (s.ret == -FI_ENOSYS) return Ruling::holds();
    return returned(s, 0, "or -FI_ENOSYS");
}

Ruling domain_set_ops_hmem_null(const Step& s) {
    return refuses_override(s, Override::NullCallbacks, "its callbacks are NULL");
}

Ruling domain_set_ops_hmem_size(const Step& s) {
    return refuses_override(s, Override::TooSmall, "its size leaves no room for the callbacks");
}

}  // namespace selvage::model::clause
