// See program.h.
#include "conformance/reproduce/program.h"

#include <algorithm>

#include "conformance/case/case_text.h"
#include "conformance/reproduce/c_text.h"
#include "conformance/reproduce/reproduce.h"
#include "model/text/call_text.h"

namespace selvage::conformance {

Program::Program(const Case& shown, model::Clause clause, const std::vector<model::Because>& because)
    : shown_(shown), text_(model::clause_text(clause)), because_(because) {
    if (!because.empty()) evidence_ = because.front().evidence;
    include("stdio.h");
    include("rdma/fabric.h");
}

void Program::helper(std::string_view text) {
    if (std::find(helpers_.begin(), helpers_.end(), text) == helpers_.end()) helpers_.emplace_back(text);
}

void Program::hints(const model::Query& query, std::string_view name, bool constant) {
    if (!query.hints) return;
    include("rdma/fi_domain.h");
    include("rdma/fi_endpoint.h");
    helper(c::define_info(name, *query.hints, constant ? c::Memory::Constant : c::Memory::Writable));
}

void Program::of_anyone() { helper("static int of_provider(const struct fi_info *o)\n{\n\treturn o != NULL;\n}\n"); }

void Program::of_provider() {
    if (shown_.provider.empty()) return of_anyone();
    include("string.h");
    helper(
        "static int of_provider(const struct fi_info *o)\n{\n"
        "\treturn o->fabric_attr && o->fabric_attr->prov_name &&\n"
        "\t       strcmp(o->fabric_attr->prov_name, " +
        c::string(shown_.provider) + ") == 0;\n}\n");
}

void Program::count() {
    of_provider();
    helper(
        "static int count(const struct fi_info *list)\n{\n\tint n = 0;\n\n"
        "\tfor (; list; list = list->next)\n\t\tn += of_provider(list);\n\treturn n;\n}\n");
}

void Program::provider_there() {
    count();
    helper(
        "static int provider_there(void)\n{\n\tstruct fi_info *all = NULL;\n\tint there = 0;\n\n"
        "\tif (fi_getinfo(FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION), NULL, NULL, 0, NULL, &all) == 0) {\n"
        "\t\tthere = count(all) > 0;\n\t\tfi_freeinfo(all);\n\t}\n\treturn there;\n}\n");
}

void Program::find_endpoint() {
    of_provider();
    include("string.h");
    include("rdma/fi_domain.h");
    include("rdma/fi_endpoint.h");
    helper("static int same(const char *a, const char *b)\n{\n\treturn a && b ? strcmp(a, b) == 0 : a == b;\n}\n");
    helper(
        "static int same_endpoint(const struct fi_info *a, const struct fi_info *b)\n{\n"
        "\treturn same(a->fabric_attr->prov_name, b->fabric_attr->prov_name) &&\n"
        "\t       same(a->fabric_attr->name, b->fabric_attr->name) &&\n"
        "\t       same(a->domain_attr->name, b->domain_attr->name) &&\n"
        "\t       a->ep_attr->type == b->ep_attr->type;\n}\n");
}

void Program::kept(std::string_view cleanup) {
    main_ += cleanup;
    if (!shown_.provider.empty()) {
        provider_there();
        main_ += "\tif (!provider_there()) {\n\t\tputs(\"cannot tell: the library offers no provider " +
                 c::for_printf(shown_.provider) + " here\");\n\t\treturn 77;\n\t}\n";
    }
    main_ += "\tputs(\"kept\");\n\treturn 0;\n";
}

std::string Program::head() const {
    std::string out = "/*\n";
    const auto add = [&](std::string_view text, std::string_view lead = " * ") { out += c::comment(text, lead); };
    add(std::string(text_.id) + " (" + std::string(model::name(text_.level)) +
        (text_.status == model::Status::Disputed ? ", disputed)" : ")"));
    out += " *\n";
    add("Promise: " + std::string(text_.promise));
    std::string sources;
    for (const auto s : text_.source) sources.append(sources.empty() ? "" : ", ").append(s);
    if (!sources.empty()) add("Source: " + sources);
    if (text_.status == model::Status::Disputed && !text_.dispute_reading.empty())
        add("Reading: " + std::string(text_.dispute_reading));
    if (!because_.empty()) out += " *\n";
    for (const auto& b : because_)
        add("Because: " + std::string(model::clause_text(b.clause).id) + ": " + model::print_evidence(b.evidence));
    out += " *\n * The case";
    if (!shown_.provider.empty()) out += ", for provider " + c::comment(shown_.provider, "");
    if (out.back() == '\n') out.pop_back();
    out += ":\n";
    add(describe(shown_), " *     ");
    if (shown_.sequence.processes > 1) {
        out += " *\n";
        add("Side B has a process of its own: in one process the case does not show this.");
    }
    out += " *\n * Compile: cc -Wall -Wextra FILE.c -lfabric";
    for (const auto& o : options_) out += " " + o;
    if (!arguments_.empty()) out += "\n" + c::comment(arguments_, " * ");
    if (out.back() == '\n') out.pop_back();
    out += "\n * Exit status: 0 kept, 1 broken (as is crash by a signal), 77 cannot be shown here.\n */\n";
    return out;
}

std::string Program::render() const {
    std::string out = head();
    const bool gnu = options_.contains("-pthread") || includes_.contains("signal.h") ||
                     includes_.contains("malloc.h") || includes_.contains("sys/mman.h") ||
                     includes_.contains("stdlib.h") || includes_.contains("unistd.h");
    if (gnu) out += "#define _GNU_SOURCE\n";
    for (const auto& i : includes_)
        if (!i.starts_with("rdma/")) out += "#include <" + i + ">\n";
    out += "\n";
    for (const auto& i : includes_)
        if (i.starts_with("rdma/")) out += "#include <" + i + ">\n";
    out += "#include <rdma/fi_errno.h>\n\n";
    for (const auto& h : helpers_) out += h + "\n";
    out += std::string(arguments_.empty() ? "int main(void)" : "int main(int argc, char **argv)") + "\n{\n" +
           declarations_;
    if (!declarations_.empty()) out += "\n";
    return out + main_ + "}\n";
}

std::string c_program(const Case& shown, model::Clause clause, const std::vector<model::Because>& because) {
    Program p(shown, clause, because);
    switch (shown.kind) {
        case Case::Kind::Call:
            emit_call(p);
            break;
        case Case::Kind::Pair:
            emit_pair(p);
            break;
        case Case::Kind::SideEffects:
            emit_side_effects(p);
            break;
        case Case::Kind::Lifecycle:
            emit_life(p);
            break;
        case Case::Kind::Text:
            emit_text(p);
            break;
        case Case::Kind::Traffic:
            emit_traffic(p);
            break;
    }
    return p.render();
}

bool program_can_tell(const Case& shown, const std::vector<model::Because>& because) {
    return c_program(shown, because.front().clause, because).find(kCannotTell) == std::string::npos;
}

}  // namespace selvage::conformance
