// What opening and closing leave behind, as SideEffects::Act::OpenAnswer shows it.  Shared by domain_open.cc and
// fabric_open.cc.
//
// SideEffects::written_field says whose open or close was watched: part_fabric or part_domain, or a member of the
// attributes that was found changed.  SideEffects::ret is what the open returned.
#pragma once

#include "model/chapters/rules.h"

namespace selvage::model::rules {

inline bool watches(const SideEffects& c, Field part, Part members) {
    return c.act == SideEffects::Act::OpenAnswer && (c.written_field == part || row(c.written_field).part == members);
}

/// Of `written_field` nothing remains allocated.
inline Ruling leaves_nothing(const SideEffects& c, Observable what, const char* note) {
    return Ruling::check(c.leaked_blocks == 0, [&] {
        return observed(what, number(c.written_field, Relation::Happens, 0, c.leaked_blocks, note));
    });
}

/// side_effects: the open failed; nothing remains and the attributes are as they were.
inline Ruling failed_clean(const SideEffects& c) {
    if (c.ret == 0) return Ruling::not_applicable();
    if (c.crashed_signal != 0 || c.hung || c.exited) return Ruling::not_applicable();
    if (c.hints_written) return Ruling::broken(reported(c.written_field, "written by an open that failed"));
    return leaves_nothing(c, Observable::BlocksAfterError, "blocks left by each open that fails");
}

/// side_effects: the open worked, the object was closed; nothing remains.
inline Ruling closed_clean(const SideEffects& c) {
    if (c.ret != 0) return Ruling::not_applicable();
    if (c.crashed_signal != 0 || c.hung || c.exited) return Ruling::not_applicable();
    return leaves_nothing(c, Observable::Blocks, "blocks left by each open and close");
}

}  // namespace selvage::model::rules
