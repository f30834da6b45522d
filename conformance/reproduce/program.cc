// See program.h.
#include "conformance/reproduce/program.h"

#include <algorithm>

#include "conformance/case/case_text.h"
#include "conformance/reproduce/c_text.h"
#include "conformance/reproduce/reproduce.h"
#include "conformance/reproduce/runtime_part.h"
#include "model/text/call_text.h"

namespace selvage::conformance {

Program::Program(const Case& shown, model::Clause clause, const std::vector<model::Because>& because)
    : shown_(shown), text_(model::clause_text(clause)), because_(because) {
    if (!because.empty()) evidence_ = because.front().evidence;
}

void Program::helper(std::string_view text) {
    if (std::find(helpers_.begin(), helpers_.end(), text) == helpers_.end()) helpers_.emplace_back(text);
}

void Program::part(std::string_view name) {
    constexpr std::string_view kInclude = "#include <";
    std::string text(runtime_part(name));
    for (auto at = text.find(kInclude); at != std::string::npos; at = text.find(kInclude)) {
        const auto from = at + kInclude.size(), to = text.find('>', from);
        includes_.insert(text.substr(from, to - from));
        text.erase(at, text.find_first_not_of('\n', to + 1) - at);
    }
    helper(text);
}

void Program::check(std::string_view file, const std::string& call) {
    part(file);
    main_ += "\tif (!" + call + ")\n\t\treturn 1;\n";
}

void Program::hints(const model::Query& query, std::string_view name, c::Memory memory) {
    if (!query.hints) return;
    helper(c::define_info(name, *query.hints, memory));
}

void Program::query(c::Memory memory) {
    hints(shown_.first, "hints", memory);
    helper("static int query(struct fi_info **answer)\n{\n\treturn fi_getinfo(" +
           c::getinfo_arguments(shown_.first, "hints") + ", answer);\n}\n");
}

void Program::of_anyone() { helper("static int of_provider(const struct fi_info *o)\n{\n\treturn o != NULL;\n}\n"); }

void Program::of_provider() {
    if (shown_.provider.empty()) return of_anyone();
    helper(
        "static int of_provider(const struct fi_info *o)\n{\n"
        "\treturn o->fabric_attr && o->fabric_attr->prov_name &&\n"
        "\t       strcmp(o->fabric_attr->prov_name, " +
        c::string(shown_.provider) + ") == 0;\n}\n");
}

void Program::count() {
    of_provider();
    part("count.c");
}

void Program::provider_there() {
    count();
    part("provider_there.c");
}

void Program::same_endpoint() {
    part("same.c");
    part("same_endpoint.c");
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
    out += "#define _GNU_SOURCE\n";
    for (const auto& i : includes_)
        if (!i.starts_with("rdma/")) out += "#include <" + i + ">\n";
    out += "\n";
    for (const auto& i : includes_)
        if (i.starts_with("rdma/")) out += "#include <" + i + ">\n";
    out += "\n";
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
        case Case::Kind::Group:
            emit_group(p);
            break;
    }
    return p.render();
}

bool program_can_tell(const Case& shown, const std::vector<model::Because>& because) {
    return c_program(shown, because.front().clause, because).find(kCannotTell) == std::string::npos;
}

}  // namespace selvage::conformance
