// What is seen around a call (memory, hints, threads, environment, crashes) as a C program.  The C is in
// runtime/side_effects/; which of it a program has follows from the act, from what the evidence observes, and from its
// field.
#include <algorithm>

#include "conformance/reproduce/c_text.h"
#include "conformance/reproduce/check.h"
#include "conformance/reproduce/program.h"

namespace selvage::conformance {
namespace {

using model::Field;
using model::Observable;
using Act = model::SideEffects::Act;

// The program ends with 1 unless the function returns true.
void emit_check(Program& p, std::string_view part, const std::string& call) {
    p.check(part, call);
    p.kept();
}

// The hints, or NULL.
void define_hints(Program& p) {
    p.helper(std::string("#define HINTS ") + (p.shown().first.hints ? "&hints" : "NULL") + "\n");
}

// The answer that fi_dupinfo and others work on.
void fetch_answer(Program& p) {
    p.query();
    p.part("answer.c");
    p.main("\tfetch_answer();\n");
}

// The function that does once what is watched.
std::string act_of(Program& p) {
    const auto act = p.shown().act;
    const bool opens = act == Act::OpenAnswer;
    if (act == Act::AllocInfo) {
        p.part("allocate.c");
        return "allocate";
    }
    if (!opens && act != Act::DupInfo && act != Act::DupInfoNoMemory) {
        p.query();
        p.part("issue_and_free.c");
        return "issue_and_free";
    }
    fetch_answer(p);
    if (!opens) {
        define_hints(p);
        p.part("duplicate.c");
        return "duplicate";
    }
    p.part("open_and_close.c");
    if (p.evidence().observed.what != Observable::BlocksAfterError) return "open_and_close";
    const bool of_domain = p.evidence().field == Field::part_domain;
    p.helper(std::string("#define NAME ") + (of_domain ? "domain_attr->name" : "fabric_attr->prov_name") + "\n");
    p.part("open_nobody.c");
    return "open_nobody";
}

// Repetitions must not make the heap grow, nor what the process has open.
void emit_remains(Program& p, const std::string& act) {
    const bool opens = p.shown().act == Act::OpenAnswer;
    emit_check(p, "remains.c", std::string("!remains(") + act + (opens ? ", 10, 100)" : ", 100, 1000)"));
}

void emit_no_memory(Program& p) {
    p.part("failing_malloc.c");
    p.part("watch.c");
    p.helper("#define ACT " + act_of(p) + "\n#define FAILING " +
             std::to_string(std::max<std::uint64_t>(p.shown().fail_allocation, 1)) + "\n");
    p.part("remains.c");
    const bool any_error = p.shown().act != Act::GetInfoNoMemory;
    emit_check(p, "no_memory.c", std::string("survives_shortage(") + (any_error ? "1)" : "0)"));
}

// When a member of the original `o` and its copy differ, by the evidence.
std::string difference(const Program& p) {
    const auto& e = p.evidence();
    if (e.observed.what == Observable::Next) return "((copy)->next != NULL)";
    if (e.observed.what == Observable::SharedMemory) return "shares(o, copy)";
    if (e.field == Field::handle) return "((copy)->handle != (o)->handle && (copy)->handle != NULL)";
    if (e.field == Field::part_nic) return "((o)->nic && (!(copy)->nic || (copy)->nic == (o)->nic))";
    if (!speaks_of_offers(e)) return "!same_text(o, copy)";
    if (const auto* part = model::part_of(e.field)) {
        const std::string path(part->path);
        return "(!(o)->" + path + " != !(copy)->" + path + ")";
    }
    const auto form = model::row(e.field).form;
    const std::string a = c::member("(o)", e.field), b = c::member("(copy)", e.field);
    if (form == model::Form::String) return "!same(" + a + ", " + b + ")";
    if (form != model::Form::Bytes) return "(" + a + " != " + b + ")";
    return "(!" + a + " != !" + b + " || (" + a + " && memcmp(" + a + ", " + b + ", " +
           c::member("(o)", c::length_of(e.field)) + ") != 0))";
}

void emit_dup(Program& p) {
    p.query();
    define_hints(p);
    const std::string differs = difference(p);
    for (const std::string part : {"shares", "same_text", "same"})
        if (differs.find(part + "(") != std::string::npos) p.part(part + ".c");
    p.helper("#define DIFFERS(o, copy) " + differs + "\n#define COMPARED \"" +
             c::for_printf(model::row(p.evidence().field).path) + "\"\n");
    emit_check(p, "duplicates.c", "duplicates_all()");
}

// A call that must come back at all.
void emit_watched(Program& p, const std::string& call, const std::string& act) {
    p.part("watch.c");
    p.main("\twatch(\"" + call + "\");\n\tprintf(\"it returned %d\\n\", " + act + "());\n\tcame_back();\n");
    p.kept();
}

void emit_returns(Program& p) {
    const auto& query = p.shown().first;
    const std::string act = act_of(p);
    // Addresses lie where an inaccessible page begins after their last byte.
    const auto guard = [&](const std::string& member, const model::Text& bytes) {
        if (!bytes || bytes->size() > 4096) return;
        const std::string size = std::to_string(bytes->size());
        p.part("guarded.c");
        p.main("\thints." + member + " = memcpy(guarded(" + size + "), hints." + member + ", " + size + ");\n");
    };
    if (query.hints) guard("src_addr", query.hints->src_addr);
    if (query.hints) guard("dest_addr", query.hints->dest_addr);
    if (p.shown().act == Act::EnvProvider) {
        p.main("\tsetenv(\"FI_PROVIDER\", " + c::string(p.shown().env_provider) + ", 1);\n");
    }
    emit_watched(p, "fi_getinfo", act);
}

// The texts of hints, as a program spells them, with their sizes.
template <typename Visit>
void each_text(const model::Query& query, Visit&& visit) {
    if (!query.hints) return;
    for (const auto& r : model::text_fields()) {
        const auto& t = model::text(*query.hints, r.field);
        if (!t) continue;
        std::string path(r.path);
        if (const auto dot = path.find('.'); dot != std::string::npos) path.replace(dot, 1, "->");
        visit(path, t->size());
    }
}

void emit_hints_written(Program& p) {
    const auto& query = p.shown().first;
    p.query(c::Memory::Constant);
    p.part("stores.c");
    std::string inside = "\tinside(at, &hints, sizeof hints, \"hints\");\n";
    for (const auto& part : model::attributes()) {
        if (!query.hints || !query.hints->has(part.part)) continue;
        const std::string name(part.path);
        inside += "\tinside(at, hints." + name + ", sizeof *hints." + name + ", \"hints->" + name + "\");\n";
    }
    each_text(query, [&](const std::string& path, std::size_t size) {
        inside += "\tinside(at, hints." + path + ", " + std::to_string(size + 1) + ", \"hints->" + path + "\");\n";
    });
    p.helper("static void look_at(const char *at)\n{\n" + inside + "}\n");
    p.part("issue_and_free.c");
    p.main("\twatch_stores();\n\tissue_and_free();\n");
    p.kept();
}

// After the call the memory of the hints gets other contents: the answer must not change with it.
void emit_hints_kept(Program& p) {
    fetch_answer(p);
    p.declare("\tchar *before;\n");
    p.main("\tbefore = strdup(fi_tostr(list, FI_TYPE_INFO));\n");
    each_text(p.shown().first, [&](const std::string& path, std::size_t size) {
        if (size != 0) p.main("\tmemset(hints." + path + ", 'x', " + std::to_string(size) + ");\n");
    });
    p.main(
        "\tif (before && strcmp(before, fi_tostr(list, FI_TYPE_INFO)) != 0) {\n"
        "\t\tputs(\"broken: promised: the answer keeps nothing of the hints; seen: it changed with them\");\n"
        "\t\treturn 1;\n\t}\n\tfree(before);\n");
    p.kept("\tfi_freeinfo(list);\n");
}

void emit_environment(Program& p) {
    const auto& e = p.evidence();
    const std::string who = e.actual_text && !e.actual_text->empty() ? *e.actual_text : p.shown().provider;
    p.query();
    p.part("names.c");
    p.check("filtered.c", "filtered(" + c::string(p.shown().env_provider) + ", " + c::string(who) + ", " +
                              (e.observed.what == Observable::ProviderPresent ? "1)" : "0)"));
    p.main("\tputs(\"kept\");\n\treturn 0;\n");
}

void emit_look_ups(Program& p) {
    p.part("look_ups.c");
    p.query();
    p.part("issue_and_free.c");
    p.main(
        "\tissue_and_free();\n\tif (look_ups) {\n\t\tputs(\"broken: promised: no name is looked up; seen: it is\");\n"
        "\t\treturn 1;\n\t}\n");
    p.kept();
}

void emit_threads(Program& p) {
    p.option("-pthread");
    p.query();
    p.count();
    p.part("watch.c");
    emit_check(p, "threads.c", "safe_for_threads()");
}

// A call of fi_getinfo, and what is seen of it beside its answer.
void emit_getinfo(Program& p) {
    const auto& e = p.evidence();
    if (model::is_crash(e)) return emit_returns(p);
    if (e.observed.what == Observable::SharedMemory) return emit_hints_kept(p);
    if (e.observed.what == Observable::Blocks) return emit_remains(p, act_of(p));
    emit_call(p);
}

// An fi_info that is duplicated, or a list that is freed.
void emit_info(Program& p) {
    const auto& e = p.evidence();
    if (e.field == Field::call_return) {
        fetch_answer(p);
        return emit_check(p, "handle_outlives.c", "handle_outlives()");
    }
    if (e.observed.what == Observable::BlocksAfterChange) {
        p.part("fill_and_free.c");
        return emit_remains(p, "fill_and_free");
    }
    if (p.shown().act == Act::DupInfo && (!model::is_crash(e) || p.shown().first.hints)) return emit_dup(p);
    if (p.shown().act == Act::DupInfo) {
        p.part("allocate.c");
        return emit_watched(p, "fi_dupinfo(NULL)", "allocate");
    }
    if (e.observed.what != Observable::SharedMemory) return emit_remains(p, act_of(p));
    p.query();
    emit_check(p, "independent.c", "independent()");
}

}  // namespace

void emit_side_effects(Program& p) {
    const auto what = p.evidence().observed.what;
    if (what == Observable::HintsWritten) return emit_hints_written(p);
    if (what == Observable::LookUps) return emit_look_ups(p);
    if (what == Observable::ProviderPresent || what == Observable::ProviderAbsent) return emit_environment(p);
    switch (p.shown().act) {
        case Act::GetInfo:
        case Act::Load:
        case Act::ProvAttrOnly:
        case Act::EnvProvider:
            return emit_getinfo(p);
        case Act::GetInfoThreads:
            return emit_threads(p);
        case Act::GetInfoNoMemory:
        case Act::DupInfoNoMemory:
            return emit_no_memory(p);
        case Act::DupOwnNic:
            if (!model::is_crash(p.evidence())) return emit_check(p, "own_nic.c", "own_nic_duplicated()");
            p.part("own_nic.c");
            return emit_watched(p, "fi_dupinfo", "own_nic_duplicated");
        case Act::AllocInfo:
            if (p.shown().fail_allocation != 0) return emit_no_memory(p);
            if (model::is_crash(p.evidence())) return emit_watched(p, "fi_dupinfo(NULL)", act_of(p));
            p.part("shares.c");
            return emit_check(p, "allocates.c", "allocates()");
        case Act::DupInfo:
        case Act::FreeInfo:
            return emit_info(p);
        case Act::OpenAnswer:
        case Act::Other:
            return emit_remains(p, act_of(p));
    }
}

}  // namespace selvage::conformance
