// One call of fi_getinfo as a C program.
#include <functional>
#include <set>

#include "conformance/reproduce/c_text.h"
#include "conformance/reproduce/check.h"
#include "conformance/reproduce/program.h"
#include "model/judge/judge.h"

namespace selvage::conformance {
namespace {

using model::Field;
using model::Observable;
using model::Relation;

constexpr const char* kCleanup = "\tif (ret == 0)\n\t\tfi_freeinfo(list);\n";

void make_call(Program& p) {
    const auto& query = p.shown().first;
    p.hints(query, "hints");
    p.declare("\tstruct fi_info *list = NULL;\n\tint ret;\n");
    p.main("\tret = fi_getinfo(" + c::getinfo_arguments(query, "hints") + ", &list);\n");
}

// Every entry that the provider is charged with must stand the check.
void emit_offers(Program& p) {
    if (p.evidence().observed.what == Observable::AnyonesEntry)
        p.of_anyone();
    else
        p.of_provider();
    const auto report = offer_check(p, p.evidence());
    make_call(p);
    p.declare("\tstruct fi_info *o;\n\tint n = 0;\n");
    p.main(each_offer("ret == 0 ? list : NULL", report));
    p.kept(kCleanup);
}

// The call must be refused: where what it returned is compared, with one of the errors that would do.  Where it names
// no provider it is granted by those whose entries are in the answer.
void emit_refusal(Program& p) {
    const auto& provider = p.shown().provider;
    const bool named = provider.empty() || model::names(p.shown().first, provider);
    if (!named) p.count();
    make_call(p);
    std::string names;
    std::string wrong;
    std::set<std::int64_t, std::greater<>> errors;
    if (p.evidence().field == Field::call_return)
        for (const auto e : p.evidence().observed.also) errors.insert(static_cast<std::int64_t>(e));
    for (const auto e : errors) {
        const std::string error = c::error(static_cast<int>(e));
        names += (names.empty() ? "" : " or ") + error;
        wrong += " && ret != " + error;
    }
    const std::string what = names.empty() ? "the call is refused" : "the call is refused with " + names;
    p.main(std::string("\tif (") + (named ? "ret == 0" : "(ret == 0 && count(list) > 0)") +
           (wrong.empty() ? "" : " || (ret != 0 && " + wrong.substr(4) + ")") +
           ") {\n\t\tprintf(\"broken: promised: " + what +
           "; seen: %d (%s)\\n\", ret, fi_strerror(ret < 0 ? -ret : ret));\n\t\treturn "
           "1;\n\t}\n\tputs(\"kept\");\n\treturn 0;\n");
}

// The provider must offer nothing.
void emit_nothing_offered(Program& p) {
    p.count();
    make_call(p);
    p.main(
        "\tif (ret == 0 && count(list) > 0) {\n\t\tprintf(\"broken: promised: nothing of the provider fits; "
        "seen: %d entries\\n\", count(list));\n\t\treturn 1;\n\t}\n");
    p.kept(kCleanup);
}

// What the provider is known to offer fits, so that it must offer something.
void emit_granted(Program& p) {
    p.provider_there();
    make_call(p);
    p.declare("\tint n;\n");
    p.main(
        "\tn = ret == 0 ? count(list) : 0;\n\tif (ret == 0)\n\t\tfi_freeinfo(list);\n"
        "\tif (!provider_there()) {\n\t\tputs(\"cannot tell: the library offers no such provider here\");\n"
        "\t\treturn 77;\n\t}\n"
        "\tif (n == 0) {\n\t\tprintf(\"broken: promised: the call is granted; seen: %d (%s), nothing of the "
        "provider\\n\", ret,\n"
        "\t\t       ret ? fi_strerror(ret < 0 ? -ret : ret) : \"success\");\n\t\treturn 1;\n\t}\n"
        "\tputs(\"kept\");\n\treturn 0;\n");
}

// The return value must stand the check.
void emit_return(Program& p) {
    make_call(p);
    const auto& e = p.evidence();
    p.main("\tif (!(" + int_condition(e, "ret", true) +
           ")) {\n\t\tprintf(\"broken: promised: " + c::for_printf(promised(e)) +
           "; seen: %d (%s)\\n\", ret, fi_strerror(ret < 0 ? -ret : ret));\n"
           "\t\treturn 1;\n\t}\n");
    p.kept(kCleanup);
}

// The number of entries of the provider must stand the check.
void emit_count(Program& p) {
    p.provider_there();
    make_call(p);
    p.declare("\tint n;\n");
    p.main("\tn = ret == 0 ? count(list) : 0;\n\tif (!(" + int_condition(p.evidence(), "n", false) + ")) {\n" +
           "\t\tif (!provider_there()) {\n\t\t\tputs(\"cannot tell: the provider is not here\");\n\t\t\treturn "
           "77;\n\t\t}\n" +
           "\t\tprintf(\"broken: promised: " + c::for_printf(promised(p.evidence())) +
           "; seen: %d (the call returned %d)\\n\", n, ret);\n\t\treturn 1;\n\t}\n");
    p.kept(kCleanup);
}

// What is stored where the list goes: the pointer starts out as one that is no list.
void emit_list(Program& p) {
    const auto& query = p.shown().first;
    const bool null = p.evidence().relation != Relation::NotNull;
    p.hints(query, "hints");
    p.declare("\tstatic struct fi_info before;\n\tstruct fi_info *list = &before;\n\tint ret;\n");
    p.main("\tret = fi_getinfo(" + c::getinfo_arguments(query, "hints") + ", &list);\n");
    p.main(std::string("\tif (ret") + (null ? " != 0 && list != NULL" : " == 0 && (list == NULL || list == &before)") +
           ") {\n\t\tprintf(\"broken: promised: the list is " +
           (null ? "NULL after a refusal" : "not NULL after success") +
           "; seen: the call returned %d and the list is %s\\n\", ret,\n\t\t       list == &before ? \"untouched\" : "
           "list ? "
           "\"not NULL\" : \"NULL\");\n\t\treturn 1;\n\t}\n");
    p.kept("\tif (ret == 0 && list != &before)\n\t\tfi_freeinfo(list);\n");
}

// The list must stand the check of a file.
void emit_list_check(Program& p, const std::string& function) {
    make_call(p);
    p.check(function + ".c", function + "(ret == 0 ? list : NULL)");
    p.kept(kCleanup);
}

}  // namespace

void emit_call(Program& p) {
    const auto& e = p.evidence();
    switch (e.observed.what) {
        case Observable::ListEnd:
            return emit_list_check(p, "ends");
        case Observable::Refusal:
            return emit_refusal(p);
        case Observable::Offers:
            return emit_nothing_offered(p);
        case Observable::ProvidersOnce:
            p.of_provider();
            return emit_list_check(p, "named_once");
        default:
            break;
    }
    const bool returned = e.field == Field::call_return;
    const bool to_grant = returned && e.relation == Relation::Equals && e.expected == 0;
    if (to_grant && !p.shown().provider.empty()) return emit_granted(p);
    if (returned) return emit_return(p);
    if (e.field == Field::call_count) return emit_count(p);
    if (e.field == Field::call_list) return emit_list(p);
    if (speaks_of_offers(e)) return emit_offers(p);
    // Nothing to compare: the call alone shows it.
    make_call(p);
    p.main("\tprintf(\"the call returned %d\\n\", ret);\n");
    p.kept(kCleanup);
}

}  // namespace selvage::conformance
