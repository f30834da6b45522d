// The table of all mutants, and the shapes that most of them have.  See mutant.h.
#include "conformance/mutants/mutant.h"

#include <algorithm>

#include "conformance/mutants/base.h"

namespace selvage::mutants {
namespace {

void edit_all(fi_info* list, const Edit& edit, const Call& call) {
    for (fi_info* i = list; i != nullptr; i = i->next) edit(*i, call);
}

Table make_table() {
    Table table;
    plain(table, "clean", "nothing: the base as it is", {});
    add_specials(table);  // first: one of them takes long
    add_limits(table);
    add_choices(table);
    add_contexts(table);
    add_capabilities(table);
    add_modes(table);
    add_registration(table);
    add_calls(table);
    add_rules(table);
    add_addresses(table);
    add_names(table);
    add_memory(table);
    add_strings(table);
    add_lives(table);
    add_pairs(table);
    add_transfers(table);
    add_groups(table);
    return table;
}

}  // namespace

std::uint64_t Call::requested(std::string_view path) const { return hints != nullptr ? get(*hints, slot(path)) : 0; }

const Table& all_mutants() {
    static const Table kTable = make_table();
    return kTable;
}

const Mutant* find_mutant(std::string_view name) {
    const Table& table = all_mutants();
    const auto it = std::find_if(table.begin(), table.end(), [&](const Mutant& m) { return m.name == name; });
    return it != table.end() ? &*it : nullptr;
}

int issue(const Call& c) { return base().getinfo(c.version, c.node, c.service, c.flags, c.hints, c.list); }

Mutant& plain(Table& table, std::string name, std::string breaks, std::vector<std::string> clauses) {
    Mutant& m = table.emplace_back();
    m.name = std::move(name);
    m.breaks = std::move(breaks);
    m.clauses = std::move(clauses);
    return m;
}

Mutant& edits(Table& table, std::string name, std::string breaks, std::vector<std::string> clauses, Edit edit) {
    Mutant& m = plain(table, std::move(name), std::move(breaks), std::move(clauses));
    m.getinfo = [edit = std::move(edit)](Call& call) {
        const int ret = issue(call);
        if (ret == 0 && !call.names_only()) edit_all(*call.list, edit, call);
        return ret;
    };
    return m;
}

Mutant& refuses(Table& table, std::string name, std::string breaks, std::vector<std::string> clauses, When when,
                int error) {
    Mutant& m = plain(table, std::move(name), std::move(breaks), std::move(clauses));
    m.getinfo = [when = std::move(when), error](Call& call) {
        if (call.names_only() || !when(call)) return issue(call);
        *call.list = nullptr;
        return -error;
    };
    return m;
}

Mutant& alters(Table& table, std::string name, std::string breaks, std::vector<std::string> clauses, Alter alter,
               Edit edit) {
    Mutant& m = plain(table, std::move(name), std::move(breaks), std::move(clauses));
    m.getinfo = [alter = std::move(alter), edit = std::move(edit)](Call& call) {
        Hints hints(call.hints);
        Call other = call;
        alter(hints, other);
        if (hints.present()) other.hints = hints.pointer();
        const int ret = issue(other);
        if (ret == 0 && edit && !call.names_only()) edit_all(*call.list, edit, call);
        return ret;
    };
    return m;
}

}  // namespace selvage::mutants
