// fi_getinfo(3): fi_allocinfo, fi_dupinfo, fi_freeinfo; what a call does to memory, threads and its process.
//
// How the acts use the observations of SideEffects:
//   AllocInfo        copy: what came back; copy_shares: two results share memory; failed_allocation: one was made to
//   fail DupInfo          original, copy, copy_shares, copy_has_next; without original: fi_dupinfo(NULL) FreeInfo
//   answer: a list of fi_getinfo was freed; original: one that the caller filled or duplicated, whose
//                    handle is an open object; ret: what using that object gave afterwards; copy_shares: two answers
//                    share memory; leaked_blocks: what stayed
//   GetInfo          leaked_blocks: what each of many calls, its answer freed, left behind
//   GetInfoThreads   answer: what one thread alone gets; ret: what a thread got that differed, else the same
#include <optional>

#include "model/chapters/alike.h"
#include "model/chapters/call_rules.h"

namespace selvage::model::clause {
namespace {

using namespace rules;
using Act = SideEffects::Act;

bool returned_at_all(const SideEffects& c) { return c.crashed_signal == 0 && !c.hung && !c.exited; }

Evidence fate(const SideEffects& c) {
    return evidence_of_crash(c.crashed_signal, c.crashed_signal == 0 && c.hung, c.crashed_signal == 0 && !c.hung);
}

Ruling survives(const SideEffects& c) {
    return Ruling::check(returned_at_all(c), [&] { return fate(c); });
}

Ruling leaves_nothing(const SideEffects& c, Observable what = Observable::Blocks) {
    return Ruling::check(c.leaked_blocks == 0, [&] {
        return observed(what, number(Field::subject, Relation::Happens, 0, c.leaked_blocks, "left memory allocated"));
    });
}

Ruling shares_nothing(const SideEffects& c, Field f, const char* note) {
    return Ruling::check(!c.copy_shares, [&] { return observed(Observable::SharedMemory, reported(f, note)); });
}

Ruling has_no_next(const SideEffects& c) {
    return Ruling::check(!c.copy_has_next, [] {
        return observed(Observable::Next, reported(Field::object, "has a next that is not NULL"));
    });
}

// fi_allocinfo with memory enough, that came back.
bool allocated(const SideEffects& c) {
    return c.act == Act::AllocInfo && c.failed_allocation == 0 && returned_at_all(c);
}
bool duplicated(const SideEffects& c) {
    return c.act == Act::DupInfo && c.original != nullptr && c.copy != nullptr && returned_at_all(c);
}

// The first number or text that is not zero, as evidence; broken nowhere: holds.
Ruling all_zero(const Info& info) {
    for (const FieldRow& r : number_fields()) {
        const auto value = get(info, r.field);
        if (value != 0) return Ruling::broken(number(r.field, Relation::Equals, 0, value));
    }
    for (const FieldRow& r : text_fields()) {
        if (text(info, r.field)) return Ruling::broken(texts(r.field, Relation::IsNull, {}, text(info, r.field)));
    }
    return Ruling::holds();
}

Ruling fails_with_null(const SideEffects& c) {
    if (!returned_at_all(c)) return Ruling::broken(fate(c));
    return leaves_nothing(c);
}

}  // namespace

Ruling getinfo_memory_alloc_complete(const SideEffects& c) {
    if (!allocated(c)) return Ruling::not_applicable();
    if (c.copy == nullptr) return Ruling::broken(texts(Field::object, Relation::NotNull, {}, {}));
    for (const auto& p : attributes()) {
        if (!c.copy->has(p.part)) return Ruling::broken(texts(p.field, Relation::NotNull, {}, {}));
    }
    return Ruling::holds();
}

Ruling getinfo_memory_alloc_zeroed(const SideEffects& c) {
    if (!allocated(c) || c.copy == nullptr) return Ruling::not_applicable();
    if (c.copy->has(Part::Nic)) return Ruling::broken(texts(Field::part_nic, Relation::IsNull, {}, {}));
    if (Ruling r = has_no_next(c); r.is_broken()) return r;
    return all_zero(*c.copy);
}

Ruling getinfo_memory_alloc_fresh(const SideEffects& c) {
    if (!allocated(c) || c.copy == nullptr) return Ruling::not_applicable();
    return shares_nothing(c, Field::object, "shares memory with the one before");
}

Ruling getinfo_memory_alloc_fails_null(const SideEffects& c) {
    const bool alloc = c.act == Act::AllocInfo || (c.act == Act::DupInfoNoMemory && c.original == nullptr);
    if (!alloc || c.failed_allocation == 0) return Ruling::not_applicable();
    return fails_with_null(c);
}

namespace {

// Text or bytes of an fi_info, no further than they count: addresses and keys are as long as the member beside them
// says, whatever lies behind.
Text counted(const Info& info, Field field) {
    Text out = text(info, field);
    const bool counts = out && row(field).form == Form::Bytes;
    if (counts && get(info, row(field).partner) < out->size()) out->resize(get(info, row(field).partner));
    return out;
}

}  // namespace

Ruling getinfo_memory_dup_equal(const SideEffects& c) {
    if (!duplicated(c)) return Ruling::not_applicable();
    for (const auto& p : attributes()) {
        if (c.original->has(p.part) && !c.copy->has(p.part))
            return Ruling::broken(texts(p.field, Relation::NotNull, {}, {}));
    }
    for (const FieldRow& r : number_fields()) {
        const auto expected = get(*c.original, r.field);
        const auto actual = get(*c.copy, r.field);
        // The handle has a clause of its own, and so have absent parts.
        if (expected == actual || r.field == Field::handle || (r.part != Part::Info && !c.original->has(r.part)))
            continue;
        return Ruling::broken(number(r.field, Relation::Equals, expected, actual));
    }
    for (const FieldRow& r : text_fields()) {
        const Text expected = counted(*c.original, r.field);
        const Text actual = counted(*c.copy, r.field);
        if (expected == actual || (r.part != Part::Info && !c.original->has(r.part))) continue;
        // Bytes of length zero are no address and no key, wherever their pointer leads: a copy may hold NULL.
        const bool none = expected && expected->empty() && row(r.field).form == Form::Bytes;
        if (none && !actual) continue;
        return Ruling::broken(texts(r.field, Relation::TextEquals, expected, actual));
    }
    return Ruling::holds();
}

Ruling getinfo_memory_dup_deep(const SideEffects& c) {
    if (!duplicated(c)) return Ruling::not_applicable();
    return shares_nothing(c, Field::object, "shares memory with the original");
}

Ruling getinfo_memory_dup_single(const SideEffects& c) {
    if (!duplicated(c)) return Ruling::not_applicable();
    return has_no_next(c);
}

Ruling getinfo_memory_dup_substructures(const SideEffects& c) {
    if (c.act != Act::DupInfo || c.original == nullptr || (c.original->present & kAllParts) == kAllParts)
        return Ruling::not_applicable();
    if (!returned_at_all(c)) return Ruling::broken(fate(c));
    if (c.copy == nullptr) return Ruling::not_applicable();
    for (const FieldRow& r : number_fields()) {
        const auto value = get(*c.copy, r.field);
        if (r.part == Part::Info || c.original->has(r.part) || value == 0) continue;
        return Ruling::broken(number(r.field, Relation::Equals, 0, value, "the original lacks this structure"));
    }
    for (const FieldRow& r : text_fields()) {
        if (r.part == Part::Info || c.original->has(r.part) || !text(*c.copy, r.field)) continue;
        return Ruling::broken(
            texts(r.field, Relation::IsNull, {}, text(*c.copy, r.field), "the original lacks this structure"));
    }
    return Ruling::holds();
}

Ruling getinfo_memory_dup_nic(const SideEffects& c) {
    const bool own = c.act == Act::DupOwnNic && returned_at_all(c) && c.copy != nullptr;
    if (!own && (!duplicated(c) || !c.original->has(Part::Nic))) return Ruling::not_applicable();
    return Ruling::check(c.copy->has(Part::Nic), [] { return texts(Field::part_nic, Relation::NotNull, {}, {}); });
}

Ruling getinfo_memory_dup_own_nic(const SideEffects& c) {
    return c.act == Act::DupOwnNic ? survives(c) : Ruling::not_applicable();
}

Ruling getinfo_memory_dup_handle(const SideEffects& c) {
    if (!duplicated(c) || c.original->handle == 0) return Ruling::not_applicable();
    return Ruling::check(c.copy->handle == c.original->handle || c.copy->handle == 0,
                         [&] { return number(Field::handle, Relation::Equals, c.original->handle, c.copy->handle); });
}

Ruling getinfo_memory_dup_null(const SideEffects& c) {
    const bool of_null = c.act == Act::AllocInfo || (c.act == Act::DupInfo && c.original == nullptr);
    if (!of_null || c.failed_allocation != 0) return Ruling::not_applicable();
    return survives(c);
}

Ruling getinfo_memory_dup_fails_null(const SideEffects& c) {
    if (c.act != Act::DupInfoNoMemory || c.original == nullptr) return Ruling::not_applicable();
    return fails_with_null(c);
}

Ruling getinfo_memory_free_releases_list(const SideEffects& c) {
    if (c.act != Act::FreeInfo || c.original != nullptr) return Ruling::not_applicable();
    if (!returned_at_all(c)) return Ruling::broken(fate(c));
    return leaves_nothing(c);
}

Ruling getinfo_memory_free_handle(const SideEffects& c) {
    if (c.act != Act::FreeInfo || c.original == nullptr || c.original->handle == 0) return Ruling::not_applicable();
    if (!returned_at_all(c)) return Ruling::broken(fate(c));
    return Ruling::check(c.ret == 0, [&] {
        return number(Field::call_return, Relation::Equals, 0, as_number(c.ret),
                      "the object behind handle is no longer usable");
    });
}

Ruling getinfo_memory_free_caller_changed(const SideEffects& c) {
    if (c.act != Act::FreeInfo || c.original == nullptr || c.original->handle != 0) return Ruling::not_applicable();
    if (!returned_at_all(c)) return Ruling::broken(fate(c));
    return leaves_nothing(c, Observable::BlocksAfterChange);
}

Ruling getinfo_memory_answers_independent(const SideEffects& c) {
    if (c.act != Act::FreeInfo || c.answer == nullptr || c.answer->offers.empty()) return Ruling::not_applicable();
    return shares_nothing(c, Field::call_list, "shares memory with another answer");
}

Ruling getinfo_memory_enomem(const SideEffects& c) {
    // A call that does not return has a clause of its own.
    if (c.act != Act::GetInfoNoMemory || !returned_at_all(c)) return Ruling::not_applicable();
    if (c.leaked_blocks != 0) return leaves_nothing(c);
    if (c.ret == 0 || c.ret == -FI_ENODATA || c.ret == -FI_ENOMEM) return Ruling::holds();
    return Ruling::broken(number(Field::call_return, Relation::Equals, as_number(-FI_ENOMEM), as_number(c.ret)));
}

Ruling getinfo_memory_shortage_survived(const SideEffects& c) {
    return c.act == Act::GetInfoNoMemory ? survives(c) : Ruling::not_applicable();
}

Ruling getinfo_memory_no_leak(const SideEffects& c) {
    if (c.act != Act::GetInfo || c.ret != 0 || !returned_at_all(c)) return Ruling::not_applicable();
    return leaves_nothing(c);
}

Ruling getinfo_memory_failed_call_frees(const SideEffects& c) {
    if (c.act != Act::GetInfo || c.ret == 0 || !returned_at_all(c)) return Ruling::not_applicable();
    return leaves_nothing(c);
}

Ruling getinfo_memory_returns(const SideEffects& c) {
    if (c.act != Act::GetInfo && c.act != Act::ProvAttrOnly && c.act != Act::EnvProvider && c.act != Act::Load) {
        return Ruling::not_applicable();
    }
    return survives(c);
}

Ruling getinfo_memory_threads(const SideEffects& c) {
    if (c.act != Act::GetInfoThreads) return Ruling::not_applicable();
    if (!returned_at_all(c)) return Ruling::broken(fate(c));
    const int alone = c.answer != nullptr ? c.answer->ret : c.ret;
    return Ruling::check(c.ret == alone, [&] {
        return number(Field::call_return, Relation::Equals, as_number(alone), as_number(c.ret),
                      "with other threads calling");
    });
}

}  // namespace selvage::model::clause
