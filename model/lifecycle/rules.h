// The few shapes that the clauses on the life of objects have.  Only the files life_*.cc include this.
#pragma once

#include <rdma/fi_errno.h>

#include <string>

#include "model/chapters/rules.h"
#include "model/lifecycle/step.h"

namespace selvage::model::rules {

inline std::uint64_t wide(int value) { return static_cast<std::uint64_t>(static_cast<std::int64_t>(value)); }

/// The call did not come back: evidence of how it ended, which makes the finding a fatal one (is_crash()).
inline Evidence crash_of(const Step& s) { return evidence_of_crash(s.crashed_signal, s.hung, s.exited); }

/// The call must have returned `wanted`.
inline Ruling returned(const Step& s, int expected, std::string note = {}) {
    if (!s.returned()) return Ruling::broken(crash_of(s));
    return Ruling::check(s.ret == expected, [&] {
        return number(Field::call_return, Relation::Equals, wide(expected), wide(s.ret), std::move(note));
    });
}

/// The call must have failed.
inline Ruling failed(const Step& s, std::string note) {
    if (!s.returned()) return Ruling::broken(crash_of(s));
    return Ruling::check(s.ret != 0,
                         [&] { return number(Field::call_return, Relation::Differs, 0, 0, std::move(note)); });
}

/// The object that was opened is there, of its class, with its operations.
inline Ruling opened_as(const Step& s, std::uint64_t fclass) {
    const auto broken = [](Evidence e) { return Ruling::broken(observed(Observable::ObjectClass, std::move(e))); };
    if (s.null) return broken(reported(Field::object, "success, and no object"));
    if (s.fclass != fclass)
        return broken(number(Field::object, Relation::Equals, fclass, s.fclass, "the class of the object"));
    return s.has_ops ? Ruling::holds() : broken(reported(Field::object, "a table of operations is missing"));
}

/// The call must have returned 0 or the negative of a fabric errno.
inline Ruling negative_errno(const Step& s) {
    if (!s.returned()) return Ruling::broken(crash_of(s));
    if (s.ret == 0) return Ruling::not_applicable();
    if (s.ret > 0)
        return Ruling::broken(
            number(Field::call_return, Relation::AtMost, 0, wide(s.ret), "an error is a negative number"));
    for (const auto& w : words(Family::error))
        if (static_cast<std::int64_t>(w.value) == -static_cast<std::int64_t>(s.ret)) return Ruling::holds();
    return Ruling::broken(number(Field::call_return, Relation::Equals, 0, wide(s.ret), "no errno of the interface"));
}

/// No close was refused before: the clauses on single calls apply.  Afterwards only whole_after_busy() does.
inline bool calm(const Step& s) { return s.before != nullptr && s.before->first_refused() == nullptr; }

/// True if the step opens an object of that class with the attributes of an entry as they are.
inline bool opens_entry(const Step& s, ObjectClass kind) {
    return s.verb == Verb::Open && s.opens == kind && s.altered == Altered::Nothing && !s.names_only &&
           s.offer != nullptr && calm(s);
}

/// True if the step closes an open object of that class.
inline bool closes(const Step& s, ObjectClass kind) {
    return s.verb == Verb::Close && calm(s) && s.target() != nullptr && s.target()->kind == kind;
}

/// fi_close on an object on which another of class `child` is open is refused with -FI_EBUSY.
inline Ruling busy_close(const Step& s, ObjectClass kind, ObjectClass child) {
    if (!closes(s, kind) || !s.before->has_child(s.object, child)) return Ruling::not_applicable();
    return returned(s, -FI_EBUSY);
}

/// fi_close on an object on which nothing was ever opened (or: all is closed again) returns 0.
inline Ruling empty_close(const Step& s, ObjectClass kind, bool had_children) {
    if (!closes(s, kind) || s.before->has_child(s.object) || s.target()->had_children != had_children)
        return Ruling::not_applicable();
    return returned(s, 0);
}

/// What is on an object of class `kind`, and is used by nothing else, can be closed.  While something uses it the close
/// may be refused, but it returns; so does any close behind a refusal.
inline Ruling child_close(const Step& s, ObjectClass kind) {
    if (s.verb != Verb::Close || s.before == nullptr || s.target() == nullptr) return Ruling::not_applicable();
    // What a call returns after a refused close of a domain or fabric has clauses of its own (whole_after_busy).
    if (!calm(s) && s.returned()) return Ruling::not_applicable();
    const Object* parent = s.before->find_open(static_cast<std::uint64_t>(s.target()->parent));
    // Domains have clauses of their own.
    if (parent == nullptr || parent->kind != kind || s.target()->kind == ObjectClass::Domain)
        return Ruling::not_applicable();
    if (s.returned() && s.before->is_bound(s.object)) return Ruling::not_applicable();
    return returned(s, 0);
}

/// What a call must return after a refused close, if nothing has changed.
inline Ruling as_before(const Step& s) {
    constexpr const char* kNote = "after a close that was refused";
    const bool closing = s.verb == Verb::Close && s.target() != nullptr;
    const bool busy = closing && s.before->has_child(s.object);
    if (busy && s.target()->refused) return returned(s, -FI_EBUSY, kNote);
    if (closing && !busy && !s.before->is_bound(s.object)) return returned(s, 0, kNote);
    // Domains, queues and counters can be opened any number of times; endpoints may find their address in use.
    const bool plain = s.opens == ObjectClass::Domain || s.opens == ObjectClass::Eq || s.opens == ObjectClass::Cq ||
                       s.opens == ObjectClass::Cntr;
    // Other names and flags may be refused at any time.
    const bool sound = s.altered == Altered::Nothing && (!s.second_call || s.flags == 0);
    if (s.verb == Verb::Open && plain && sound && s.target() != nullptr) {
        for (const ObjectClass opened : s.target()->opened_before_refusal)
            if (opened == s.opens) return returned(s, 0, kNote);
    }
    return s.returned() ? Ruling::not_applicable() : Ruling::broken(crash_of(s));
}

/// True if the close of another object than the refused one did not return: that it does is promised of every object
/// but a domain or fabric (child_close), and nothing says that the refusal is to blame.
inline bool ends_in_another_close(const Step& s, const Object& refused) {
    if (s.verb != Verb::Close || s.returned() || s.target() == nullptr) return false;
    const ObjectClass kind = s.target()->kind;
    return s.target()->number != refused.number && kind != ObjectClass::Domain && kind != ObjectClass::Fabric;
}

/// An object of class `kind` whose close was refused, and what is on it, work as before.
inline Ruling whole_after_busy(const Step& s, ObjectClass kind) {
    const Object* refused = s.before != nullptr ? s.before->first_refused() : nullptr;
    if (refused == nullptr || refused->kind != kind || ends_in_another_close(s, *refused))
        return Ruling::not_applicable();
    return as_before(s);
}

}  // namespace selvage::model::rules
