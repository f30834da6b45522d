// A mutant: a look-alike library that keeps every promise but one.
//
// One shared object holds all mutants.  It forwards each exported function to a sound library, the base, and the name
// of its own file (libmutant-NAME.so) says which single mutation is switched on; libmutant-clean.so has none.  Tables
// are built once, when the object is loaded, and only read afterwards: any thread.
//
// Mutations add no allocation to a call that the base does not make, so that a mutant of one promise keeps those on
// memory.
#pragma once

#include <rdma/fabric.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/mutants/hints.h"

namespace selvage::mutants {

/// Arguments of one fi_getinfo.
struct Call {
    std::uint32_t version;
    const char* node;
    const char* service;
    std::uint64_t flags;
    const fi_info* hints;
    fi_info** list;

    [[nodiscard]] bool names_only() const { return (flags & FI_PROV_ATTR_ONLY) != 0; }
    [[nodiscard]] bool since(unsigned minor) const { return version >= FI_VERSION(1, minor); }
    /// A number of the hints by its path ("tx_attr.size"); zero where it is not there.
    [[nodiscard]] std::uint64_t requested(std::string_view path) const;
};

/// What happens to opened objects.  Unset functions leave the base alone.
struct LifeHooks {
    /// After a fabric or domain was opened.  @return what the open returns; `opened` may be changed.
    std::function<int(int ret, fid** opened)> opened;
    /// Instead of fi_close on a fabric or domain.
    std::function<int(fid* object, int (*close)(fid*))> close;
    /// Ahead of fi_domain, on a copy of what it is given.
    std::function<void(fi_info& info)> opening;
    /// After another object was opened on a fabric or domain; `kind` is its class, `made` the object.
    std::function<int(int ret, std::size_t kind, fid* on, fid* made)> child;
    /// Ahead of a registration of several buffers: how many of them the base is given.
    std::function<std::size_t(std::size_t count)> vectors;
    std::function<int(int ret, fid* domain, fid* bound, std::uint64_t flags)> bound;
    std::function<int(int ret, const char* name, bool sets)> ops;
    /// Instead of fi_control on a fabric or domain.
    std::function<int(fid* object, int command, void* argument, int (*control)(fid*, int, void*))> control;
};

struct Mutant {
    std::string name;
    std::string breaks;                ///< one sentence
    std::vector<std::string> clauses;  ///< any of these must catch it
    std::string property = "classes";  ///< the property of the kit that suffices
    std::string provider = "tcp";
    unsigned cases = 2500;  ///< and how many cases
    /// Judge by the declared profile of the clean library, with this text in place of another ("" = ""): for promises
    /// that only a provider whose limits are known can break.
    bool declared = false;
    std::string replaced, replacement;
    /// There is nothing to judge: the tool must say so and end with 2.
    bool speechless = false;
    /// Seen by who counts allocations or lets them fail, which the kit cannot under a sanitizer.
    bool by_allocations = false;

    std::function<void()> load;
    std::function<int(Call&)> getinfo;
    std::function<void(fi_info*)> freeinfo;
    std::function<fi_info*(const fi_info*)> dupinfo;
    std::function<int(fi_fabric_attr*, fid_fabric**, void*)> fabric;
    std::function<char*(char*, std::size_t, const void*, int)> tostr_r;
    std::function<char*(const void*, int)> tostr;
    LifeHooks life;

    Mutant& on(std::string property_name, std::string provider_name, unsigned count) {
        property = std::move(property_name);
        provider = std::move(provider_name);
        cases = count;
        return *this;
    }
    Mutant& of(std::string provider_name) {
        provider = std::move(provider_name);
        return *this;
    }
    /// Where allocations can be counted alone.
    Mutant& seen_by_allocations() {
        by_allocations = true;
        return *this;
    }
    /// Judged by a declared profile.
    Mutant& declare(std::string from = {}, std::string to = {}) {
        declared = true;
        replaced = std::move(from);
        replacement = std::move(to);
        return *this;
    }
};

using Table = std::vector<Mutant>;

/// All mutants, "clean" first.
const Table& all_mutants();
/// The one of this name, or nullptr.
const Mutant* find_mutant(std::string_view name);

// The tables, one per topic; each adds its rows.
void add_limits(Table& table);
void add_choices(Table& table);
void add_contexts(Table& table);
void add_capabilities(Table& table);
void add_modes(Table& table);
void add_registration(Table& table);
void add_calls(Table& table);
void add_rules(Table& table);
void add_addresses(Table& table);
void add_names(Table& table);
void add_memory(Table& table);
void add_strings(Table& table);
void add_lives(Table& table);
void add_pairs(Table& table);
void add_specials(Table& table);
void add_transfers(Table& table);
void add_groups(Table& table);

// Shapes that most mutations have.

using When = std::function<bool(const Call&)>;
using Edit = std::function<void(fi_info& entry, const Call&)>;
using Alter = std::function<void(Hints&, Call&)>;

/// Asks the base.
int issue(const Call& call);
/// fi_getinfo as the base does it, then `edit` on every entry of a granted answer (not of one that names providers
/// only).
Mutant& edits(Table& table, std::string name, std::string breaks, std::vector<std::string> clauses, Edit edit);
/// Refuses calls that fit.
Mutant& refuses(Table& table, std::string name, std::string breaks, std::vector<std::string> clauses, When when,
                int error = FI_ENODATA);
/// The base sees other hints (and other arguments) than the caller gave; then `edit`, with the caller's call.
Mutant& alters(Table& table, std::string name, std::string breaks, std::vector<std::string> clauses, Alter alter,
               Edit edit = {});
/// A mutant with nothing set.
Mutant& plain(Table& table, std::string name, std::string breaks, std::vector<std::string> clauses);

}  // namespace selvage::mutants
