// Two related calls of fi_getinfo as a C program.
#include <algorithm>
#include <array>

#include "conformance/reproduce/c_text.h"
#include "conformance/reproduce/check.h"
#include "conformance/reproduce/program.h"

namespace selvage::conformance {
namespace {

using model::Field;
using model::MetamorphicRelation;

constexpr const char* kCleanup =
    "\tif (ret1 == 0)\n\t\tfi_freeinfo(first);\n\tif (ret2 == 0)\n\t\tfi_freeinfo(second);\n";

// Clauses by which both calls must bring the same endpoints.
constexpr auto kSameEndpoints = std::to_array<std::string_view>({
    "domain.auth.ignored-before",
    "domain.mr.basic-same-answers",
    "domain.progress.auto-recommended",
    "fabric.prov-name.layered-same-answers",
    "getinfo.addresses.src-ignored-with-source",
    "getinfo.addresses.src-length-alone",
    "getinfo.addresses.dest-ignored-with-node",
    "getinfo.addresses.dest-length-alone",
    "getinfo.flags.numeric-same-answers",
    "getinfo.hints.null-substructure",
    "getinfo.mode.local-mr-ignored",
});

bool same_endpoints(const Program& p) {
    return std::find(kSameEndpoints.begin(), kSameEndpoints.end(), p.id()) != kSameEndpoints.end();
}

// Which call is the narrow one: what it finds, the other must find too.
bool second_is_narrow(const Program& p) {
    const auto& first = p.shown().first;
    const auto& second = p.shown().second;
    if (!first.hints || !second.hints) return !first.hints && second.hints;
    const bool by_caps = p.id().starts_with("getinfo.caps.");
    const bool second_asks_more =
        first.hints->caps != second.hints->caps && (first.hints->caps & second.hints->caps) == first.hints->caps;
    // Modifiers never lose an endpoint; of anything else it is the stricter call whose answers the looser one holds.
    const bool wide_is_more =
        p.id() == "getinfo.caps.modifiers-only-narrow" || p.id() == "getinfo.caps.secondary-unselected-usable";
    return by_caps && (wide_is_more ? first.hints->caps != second.hints->caps && !second_asks_more : second_asks_more);
}

// Clauses whose evidence is the same member of an endpoint in both answers: the wide call tells what the narrow one
// does.
bool compares_members(const Program& p) {
    return p.id() == "getinfo.caps.zero-covers" || p.id() == "getinfo.mode.null-hints-supported";
}

void declare(Program& p) { p.declare("\tstruct fi_info *first = NULL, *second = NULL;\n\tint ret1, ret2;\n"); }

void make_calls(Program& p) {
    const auto& c = p.shown();
    p.hints(c.first, "hints1");
    p.hints(c.second, "hints2");
    declare(p);
    p.main("\tret1 = fi_getinfo(" + c::getinfo_arguments(c.first, "hints1") + ", &first);\n\tret2 = fi_getinfo(" +
           c::getinfo_arguments(c.second, "hints2") + ", &second);\n");
}

// Each entry of the provider in `from` must have its endpoint in `into`.
void emit_covered(Program& p, const std::string& from, const std::string& into) {
    p.find_endpoint();
    p.helper(
        "static const struct fi_info *find(const struct fi_info *list, const struct fi_info *endpoint)\n{\n"
        "\tfor (; list; list = list->next)\n\t\tif (same_endpoint(list, endpoint))\n\t\t\treturn list;\n"
        "\treturn NULL;\n}\n");
    std::string which = "of_provider(from)";
    if (p.id() == "getinfo.caps.secondary-unselected-usable" && p.evidence().expected != 0) {
        const auto added = c::value(model::Family::caps, p.evidence().expected);
        which += " && (from->caps & (" + added + ")) == (" + added + ")";
    }
    p.helper(
        "static const struct fi_info *lost(const struct fi_info *from, const struct fi_info *into)\n{\n"
        "\tfor (; from; from = from->next)\n\t\tif (" +
        which +
        " && !find(into, from))\n\t\t\treturn from;\n"
        "\treturn NULL;\n}\n");
    const std::string ret = into == "first" ? "ret1" : "ret2";
    p.main("\tmissing = lost(" + from + ", " + into + ");\n\tif (missing) {\n\t\tprintf(\"broken: promised: the " +
           into + " call finds what the " + from +
           " finds; seen: it returns %d without an endpoint of type %d \"\n"
           "\t\t       \"of %s in domain %s\\n\", " +
           ret +
           ", (int)missing->ep_attr->type,\n"
           "\t\t       missing->fabric_attr->prov_name, missing->domain_attr->name);\n\t\treturn 1;\n\t}\n");
}

void emit_superset(Program& p, bool both_ways) {
    make_calls(p);
    p.declare("\tconst struct fi_info *missing;\n");
    p.main("\tif (ret1 != 0)\n\t\tfirst = NULL;\n\tif (ret2 != 0)\n\t\tsecond = NULL;\n");
    if (second_is_narrow(p) && !both_ways) {
        emit_covered(p, "second", "first");
    } else {
        emit_covered(p, "first", "second");
        if (both_ways) emit_covered(p, "second", "first");
    }
    p.kept("\tfi_freeinfo(first);\n\tfi_freeinfo(second);\n");
}

// A member of an endpoint, as the wide call tells it, must contain what the narrow call tells.
void emit_member(Program& p) {
    p.find_endpoint();
    make_calls(p);
    const auto& e = p.evidence();
    const std::string path(model::row(e.field).path);
    const bool second = second_is_narrow(p);
    const std::string narrow = second ? "ret2 == 0 ? second" : "ret1 == 0 ? first";
    const std::string wide = second ? "ret1 == 0 ? first" : "ret2 == 0 ? second";
    // Bits that count are those of the evidence, where it names what is wanted.
    const std::string mask = e.relation == model::Relation::Contains && e.expected != 0
                                 ? " & (" + c::value(model::row(e.field).family, e.expected) + ")"
                                 : "";
    p.declare("\tconst struct fi_info *a, *b;\n\tunsigned long long had, has;\n");
    p.main("\tfor (a = " + narrow + " : NULL; a; a = a->next) {\n\t\thad = has = 0;\n\t\tfor (b = " + wide +
           " : NULL; b && of_provider(a); b = b->next) {\n\t\t\tif (!same_endpoint(a, "
           "b))\n\t\t\t\tcontinue;\n\t\t\thad = " +
           c::member("a", e.field) + mask + ";\n\t\t\thas |= " + c::member("b", e.field) +
           ";\n\t\t}\n\t\tif (had & ~has) {\n\t\t\tprintf(\"broken: promised: " + path +
           " of the wider answer contains %#llx; seen: %#llx\\n\", had, has);\n\t\t\treturn 1;\n\t\t}\n\t}\n");
    p.kept(kCleanup);
}

// The same call twice: code, number, order and contents must agree.
void emit_equal_lists(Program& p) {
    p.include("string.h");
    p.include("stdlib.h");
    make_calls(p);
    p.declare("\tstruct fi_info *a, *b;\n\tchar *text;\n\tint n = 0, equal;\n");
    p.main(
        "\tif (ret1 != ret2) {\n\t\tprintf(\"broken: promised: the same call gets the same answer; seen: %d, then "
        "%d\\n\","
        " ret1, ret2);\n\t\treturn 1;\n\t}\n\tif (ret1 != 0)\n\t\tfirst = second = NULL;\n"
        "\tfor (a = first, b = second; a && b; a = a->next, b = b->next, n++) {\n"
        "\t\ttext = strdup(fi_tostr(a, FI_TYPE_INFO));\n\t\tequal = text && strcmp(text, fi_tostr(b, FI_TYPE_INFO)) == "
        "0;\n"
        "\t\tfree(text);\n\t\tif (!equal) {\n"
        "\t\t\tprintf(\"broken: promised: the same call gets the same answer; seen: entry %d differs\\n\", n);\n"
        "\t\t\treturn 1;\n\t\t}\n\t}\n\tif (a || b) {\n"
        "\t\tprintf(\"broken: promised: the same call gets the same answer; seen: one list ends after %d entries\\n\", "
        "n);\n"
        "\t\treturn 1;\n\t}\n");
    p.kept("\tfi_freeinfo(first);\n\tfi_freeinfo(second);\n");
}

// An answer as hints: it must be granted, and describe an endpoint of the new answer.
void emit_fed_back(Program& p) {
    const auto& c = p.shown();
    p.hints(c.first, "hints");
    p.find_endpoint();
    declare(p);
    p.declare("\tstruct fi_info *offer, *o;\n\tint n = 0;\n");
    p.main("\tret1 = fi_getinfo(" + c::getinfo_arguments(c.first, "hints") +
           ", &first);\n"
           "\toffer = ret1 == 0 ? first : NULL;\n");
    if (c.fed_back >= 0) {
        p.main("\tfor (; offer && n < " + std::to_string(c.fed_back) + "; n++)\n\t\toffer = offer->next;\n");
    } else {
        p.main("\tfor (; offer && !of_provider(offer); n++)\n\t\toffer = offer->next;\n");
    }
    p.declare("\tstruct fi_info given;\n");
    p.main(
        "\tif (!offer || !of_provider(offer)) {\n\t\tprintf(\"cannot tell: the first call returned %d and no such "
        "entry\\n\","
        " ret1);\n\t\treturn 77;\n\t}\n"
        "\tgiven = *offer; /* all of it but the addresses */\n\tgiven.next = NULL;\n"
        "\tgiven.src_addr = given.dest_addr = NULL;\n\tgiven.src_addrlen = given.dest_addrlen = 0;\n"
        "\tgiven.nic = NULL;\n"
        "\tret2 = fi_getinfo(" +
        c::version(c.second.version) +
        ", NULL, NULL, 0, &given, &second);\n"
        "\tfor (o = ret2 == 0 ? second : NULL; o && !same_endpoint(o, offer);)\n\t\to = o->next;\n"
        "\tif (!o) {\n\t\tprintf(\"broken: promised: entry %d of the answer, given as hints, is granted; seen: %d "
        "(%s)\\n\", n,\n"
        "\t\t       ret2, ret2 ? fi_strerror(-ret2) : \"other endpoints\");\n\t\treturn 1;\n\t}\n");
    p.kept(kCleanup);
}

// A call that is relaxed must not turn from success into failure.
void emit_still_granted(Program& p) {
    make_calls(p);
    p.main(
        "\tif (ret1 == 0 && ret2 != 0) {\n\t\tprintf(\"broken: promised: the call that asks for less is granted too; "
        "seen: \"\n"
        "\t\t       \"%d (%s)\\n\", ret2, fi_strerror(ret2 < 0 ? -ret2 : ret2));\n\t\treturn 1;\n\t}\n");
    p.kept(kCleanup);
}

// The entries of the second answer must stand the check on their own.
void emit_second_offers(Program& p) {
    p.of_provider();
    const auto report = offer_check(p, p.evidence());
    make_calls(p);
    const bool of_first = p.id() == "fabric.prov-version.utility";
    p.declare("\tstruct fi_info *o;\n\tint n = 0;\n");
    p.main(std::string("\tfor (o = ") + (of_first ? "ret1 == 0 ? first" : "ret2 == 0 ? second") +
           " : NULL; o; o = o->next, n++) {\n\t\tif (of_provider(o) && !kept(o)) {\n\t\t\t" + report +
           "\n\t\t\treturn 1;\n\t\t}\n\t}\n");
    p.kept(kCleanup);
}

// Each provider of the first answer must have an entry in the second.
void emit_every_provider(Program& p) {
    p.include("string.h");
    make_calls(p);
    const bool names_first = p.shown().first.flags > p.shown().second.flags;
    const std::string all = names_first ? "ret2 == 0 ? second" : "ret1 == 0 ? first";
    const std::string names = names_first ? "ret1 == 0 ? first" : "ret2 == 0 ? second";
    p.declare("\tstruct fi_info *a, *b;\n");
    p.main("\tfor (a = " + all + " : NULL; a; a = a->next) {\n\t\tfor (b = " + names +
           " : NULL; b; b = b->next)\n"
           "\t\t\tif (strcmp(a->fabric_attr->prov_name, b->fabric_attr->prov_name) == 0)\n\t\t\t\tbreak;\n"
           "\t\tif (!b) {\n\t\t\tprintf(\"broken: promised: each provider has an entry under FI_PROV_ATTR_ONLY; seen: "
           "none of %s\\n\",\n"
           "\t\t\t       a->fabric_attr->prov_name);\n\t\t\treturn 1;\n\t\t}\n\t}\n");
    p.kept(kCleanup);
}

}  // namespace

void emit_pair(Program& p) {
    const auto& e = p.evidence();
    const auto metamorphic = p.shown().metamorphic;
    if (p.id() == "getinfo.flags.attr-only-every-provider") return emit_every_provider(p);
    if (metamorphic == MetamorphicRelation::FedBack) return emit_fed_back(p);
    if (compares_members(p) && model::is_number(e.field)) return emit_member(p);
    if (p.id() == "fabric.prov-version.utility" && speaks_of_offers(e)) return emit_second_offers(p);
    if (p.id() == "getinfo.call.relaxing-widens") return emit_still_granted(p);
    if (p.id() == "endpoint.tx-caps.zero" || p.id() == "endpoint.rx-caps.zero") return emit_equal_lists(p);
    if (same_endpoints(p)) return emit_superset(p, true);
    if (metamorphic == MetamorphicRelation::Repeated || metamorphic == MetamorphicRelation::Reordered)
        return emit_equal_lists(p);
    emit_superset(p, false);
}

}  // namespace selvage::conformance
