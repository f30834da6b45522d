// Two related calls of fi_getinfo as a C program.
#include "conformance/reproduce/c_text.h"
#include "conformance/reproduce/check.h"
#include "conformance/reproduce/program.h"

namespace selvage::conformance {
namespace {

using model::MetamorphicRelation;
using model::Observable;

constexpr const char* kCleanup =
    "\tif (ret1 == 0)\n\t\tfi_freeinfo(first);\n\tif (ret2 == 0)\n\t\tfi_freeinfo(second);\n";

// A call of the pair, by the names that the program has for it.
struct Call {
    std::string list, ret;
    // Its entries: none where it was refused.
    [[nodiscard]] std::string entries() const { return ret + " == 0 ? " + list + " : NULL"; }
};
const Call kFirst{"first", "ret1"};
const Call kSecond{"second", "ret2"};

// The call that the evidence is about, and the other.
bool is_about_second(const Program& p) {
    const auto& calls = p.evidence().observed.operations;
    return !calls.empty() && calls.front() == 1;
}
const Call& call_of(const Program& p) { return is_about_second(p) ? kSecond : kFirst; }
const Call& other_of(const Program& p) { return is_about_second(p) ? kFirst : kSecond; }

void declare(Program& p) { p.declare("\tstruct fi_info *first = NULL, *second = NULL;\n\tint ret1, ret2;\n"); }

void make_calls(Program& p) {
    const auto& c = p.shown();
    p.hints(c.first, "hints1");
    p.hints(c.second, "hints2");
    declare(p);
    p.main("\tret1 = fi_getinfo(" + c::getinfo_arguments(c.first, "hints1") + ", &first);\n\tret2 = fi_getinfo(" +
           c::getinfo_arguments(c.second, "hints2") + ", &second);\n");
}

// Each endpoint of one call must be in the answer to the other.  Contains: those whose entry has these bits.
void emit_endpoints(Program& p) {
    const auto& e = p.evidence();
    const Call &from = call_of(p), &into = other_of(p);
    p.of_provider();
    p.same_endpoint();
    std::string which = "of_provider(from)";
    if (e.relation == model::Relation::Contains && model::is_number(e.field)) {
        const auto bits = c::value(model::row(e.field).family, e.expected);
        which += " && (" + c::member("from", e.field) + " & (" + bits + ")) == (" + bits + ")";
    }
    p.helper("static int counts(const struct fi_info *from)\n{\n\treturn " + which + ";\n}\n");
    p.part("lost.c");
    p.declare("\tconst struct fi_info *missing;\n");
    p.main("\tmissing = lost(" + from.entries() + ", " + into.entries() +
           ");\n\tif (missing) {\n\t\tprintf(\"broken: promised: the " + into.list + " call finds what the " +
           from.list +
           " finds; seen: it returns %d without an endpoint of type %d \"\n"
           "\t\t       \"of %s in domain %s\\n\", " +
           into.ret +
           ", (int)missing->ep_attr->type,\n"
           "\t\t       missing->fabric_attr->prov_name, missing->domain_attr->name);\n\t\treturn 1;\n\t}\n");
}

// Bits that one call reports for an endpoint must be among those that the other reports for it.
void emit_bits(Program& p) {
    const auto& e = p.evidence();
    p.of_provider();
    p.same_endpoint();
    // Bits that count are those of the evidence, where it names what is wanted.
    const std::string mask = e.relation == model::Relation::Contains && e.expected != 0
                                 ? " & (" + c::value(model::row(e.field).family, e.expected) + ")"
                                 : "";
    p.declare("\tconst struct fi_info *a, *b;\n\tunsigned long long had, has;\n");
    p.main(
        "\tfor (a = " + call_of(p).entries() +
        "; a; a = a->next) {\n\t\thad = has = 0;\n\t\tfor (b = " + other_of(p).entries() +
        "; b && of_provider(a); b = b->next) {\n\t\t\tif (!same_endpoint(a, "
        "b))\n\t\t\t\tcontinue;\n\t\t\thad = " +
        c::member("a", e.field) + mask + ";\n\t\t\thas |= " + c::member("b", e.field) +
        ";\n\t\t}\n\t\tif (had & ~has) {\n\t\t\tprintf(\"broken: promised: " + std::string(model::row(e.field).path) +
        " of the wider answer contains %#llx; seen: %#llx\\n\", had, has);\n\t\t\treturn 1;\n\t\t}\n\t}\n");
}

// An answer as hints: it must be granted, and describe an endpoint of the new answer.
void emit_fed_back(Program& p) {
    const auto& c = p.shown();
    p.hints(c.first, "hints");
    p.of_provider();
    p.same_endpoint();
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

// Where the other call is granted, this one must return what it should.
void emit_returned(Program& p) {
    const auto& e = p.evidence();
    const std::string ret = call_of(p).ret;
    p.main("\tif (" + other_of(p).ret + " == 0 && !(" + int_condition(e, ret, true) +
           ")) {\n\t\tprintf(\"broken: promised: where the " + other_of(p).list + " call is granted, " +
           c::for_printf(promised(e)) + " of the " + call_of(p).list + "; seen: %d (%s)\\n\", " + ret +
           ",\n\t\t       fi_strerror(" + ret + " < 0 ? -" + ret + " : " + ret + "));\n\t\treturn 1;\n\t}\n");
}

// Each entry of the provider must stand the check.
void emit_entry(Program& p) {
    p.of_provider();
    const auto report = offer_check(p, p.evidence());
    p.declare("\tstruct fi_info *o;\n\tint n = 0;\n");
    p.main(each_offer(call_of(p).entries(), report));
}

}  // namespace

void emit_pair(Program& p) {
    const auto& e = p.evidence();
    if (p.shown().metamorphic == MetamorphicRelation::FedBack) return emit_fed_back(p);
    make_calls(p);
    switch (e.observed.what) {
        case Observable::Endpoints:
            emit_endpoints(p);
            break;
        case Observable::EndpointBits:
            emit_bits(p);
            break;
        case Observable::Answers:
            p.part("same_text.c");
            p.check("same_answers.c", "same_answers(ret1, first, ret2, second)");
            break;
        case Observable::Returned:
            emit_returned(p);
            break;
        case Observable::Entry:
            emit_entry(p);
            break;
        case Observable::Providers:
            p.check("all_named.c", "all_named(" + call_of(p).entries() + ", " + other_of(p).entries() + ")");
            break;
        default:  // the calls alone show it
            p.main("\tprintf(\"the calls returned %d and %d\\n\", ret1, ret2);\n");
    }
    p.kept(kCleanup);
}

}  // namespace selvage::conformance
