// The few shapes that the clauses on the life of objects have.  Only the files life_*.cc include this.
#pragma once

#include <rdma/fi_errno.h>

#include <string>

#include "model/chapters/rules.h"
#include "model/life/step.h"

namespace selvage::model::rules {

inline std::uint64_t wide(int value) { return static_cast<std::uint64_t>(static_cast<std::int64_t>(value)); }

/// The call must have returned `wanted`.
inline Ruling returned(const Step& s, int wanted, std::string note = {}) {
    if (s.crashed_signal != 0) return Ruling::broken(told(Field::object, "the process died of signal " + std::to_string(s.crashed_signal)));
    return Ruling::check(s.ret == wanted, [&] {
        return number(Field::call_return, Relation::Equals, wide(wanted), wide(s.ret), std::move(note));
    });
}

/// The call must have failed.
inline Ruling failed(const Step& s, std::string note) {
    return Ruling::check(s.ret != 0, [&] { return number(Field::call_return, Relation::Differs, 0, 0, std::move(note)); });
}

/// The call must have returned 0 or the negative of a fabric errno.
inline Ruling negative_errno(const Step& s) {
    if (s.ret == 0) return Ruling::not_applicable();
    if (s.ret > 0)
        return Ruling::broken(number(Field::call_return, Relation::AtMost, 0, wide(s.ret), "an error is a negative number"));
    for (const auto& w : words(Family::error))
        if (static_cast<std::int64_t>(w.value) == -static_cast<std::int64_t>(s.ret)) return Ruling::holds();
    return Ruling::broken(number(Field::call_return, Relation::Equals, 0, wide(s.ret), "no errno of the interface"));
}

/// True if the step opens an object of that class with the attributes of an entry as they are.
inline bool opens_entry(const Step& s, ObjectClass kind) {
    return s.verb == Verb::Open && s.opens == kind && s.altered == Altered::Nothing && !s.names_only &&
           s.offer != nullptr && s.before != nullptr;
}

/// True if the step closes an open object of that class.
inline bool closes(const Step& s, ObjectClass kind) {
    return s.verb == Verb::Close && s.target() != nullptr && s.target()->kind == kind;
}

/// The open object of class `kind` that the step is about: the one acted on, or its parent.
inline const Object* about(const Step& s, ObjectClass kind) {
    const Object* o = s.target();
    if (o != nullptr && o->kind != kind) o = s.before->find_open(static_cast<std::uint64_t>(o->parent));
    return o != nullptr && o->kind == kind ? o : nullptr;
}

/// fi_close on an object on which another of class `child` is open is refused with -FI_EBUSY.
inline Ruling busy_close(const Step& s, ObjectClass kind, ObjectClass child) {
    if (!closes(s, kind) || !s.before->has_child(s.object, child)) return Ruling::not_applicable();
    return returned(s, -FI_EBUSY);
}

/// fi_close on an object on which nothing was ever opened (or: all is closed again) returns 0.
inline Ruling empty_close(const Step& s, ObjectClass kind, bool had_children) {
    if (!closes(s, kind) || s.before->has_child(s.object)) return Ruling::not_applicable();
    const Object& o = *s.target();
    // After a refused close another clause speaks.
    if (o.refused || o.had_children != had_children) return Ruling::not_applicable();
    return returned(s, 0);
}

/// An object of class `kind` whose close was refused, and what is on it, work as before.
inline Ruling whole_after_busy(const Step& s, ObjectClass kind) {
    if (s.before == nullptr) return Ruling::not_applicable();
    const Object* o = about(s, kind);
    if (o == nullptr || !o->refused) return Ruling::not_applicable();
    if (s.verb == Verb::Close) {
        if (s.before->has_child(s.object) || s.before->is_bound(s.object)) return Ruling::not_applicable();
        return returned(s, 0, "after a close that was refused");
    }
    // Queues and counters can be opened any number of times; endpoints may find their address in use.
    const bool plain = s.opens == ObjectClass::Eq || s.opens == ObjectClass::Cq || s.opens == ObjectClass::Cntr;
    if (s.verb != Verb::Open || !plain || s.object != o->number) return Ruling::not_applicable();
    for (const ObjectClass opened : o->kinds_before_refusal)
        if (opened == s.opens) return returned(s, 0, "it worked before a close that was refused");
    return Ruling::not_applicable();
}

}  // namespace selvage::model::rules
