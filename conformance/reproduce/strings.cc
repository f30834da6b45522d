// A string conversion as a C program: the buffer ends where a page begins that nobody may touch.
#include <rdma/fabric.h>

#include "conformance/reproduce/c_text.h"
#include "conformance/reproduce/check.h"
#include "conformance/reproduce/program.h"

namespace selvage::conformance {
namespace {

using model::Field;
using model::Observable;
using model::Relation;

// enum fi_type values that take a structure, and the member of fi_info that is one.
struct StructureRow {
    std::string_view type;
    std::string_view data;
};
constexpr StructureRow kStructures[] = {
    {"FI_TYPE_INFO", "&info"},
    {"FI_TYPE_TX_ATTR", "info.tx_attr"},
    {"FI_TYPE_RX_ATTR", "info.rx_attr"},
    {"FI_TYPE_EP_ATTR", "info.ep_attr"},
    {"FI_TYPE_DOMAIN_ATTR", "info.domain_attr"},
    {"FI_TYPE_FABRIC_ATTR", "info.fabric_attr"},
};

std::string type_of(const StringProbe& s) { return c::value(model::Family::fi_type, s.datatype == 0 ? 0 : s.datatype); }

std::string type_name(const StringProbe& s) {
    const std::string name = type_of(s);
    return name == "0" ? "FI_TYPE_INFO" : name;
}

// Emits the data and gives the pointer to it.
std::string data(Program& p) {
    const auto& s = p.shown().string;
    if (s.data_null) return "NULL";
    const std::string type = type_name(s);
    for (const auto& r : kStructures) {
        if (r.type != type) continue;
        p.helper(c::define_info("info", s.info.value_or(model::Info{}), c::Memory::Writable));
        return std::string(r.data);
    }
    p.helper("static uint64_t value = " + c::number(s.value) + ";\n");
    return "&value";
}

std::string cast_type(const StringProbe& s) {
    const std::string type = type_name(s);
    return type.starts_with("FI_") ? type : "(enum fi_type)" + type;
}

void fail_if(Program& p, const std::string& condition, const std::string& promise, const std::string& sight,
             const std::string& arguments = "") {
    p.main("\tif (" + condition + ") {\n\t\tprintf(\"broken: promised: " + c::for_printf(promise) + "; seen: " + sight +
           "\\n\"" + arguments + ");\n\t\treturn 1;\n\t}\n");
}

void emit_contents(Program& p, const std::string& arguments) {
    const auto& e = p.evidence();
    const auto& s = p.shown().string;
    if (s.datatype == FI_TYPE_VERSION && e.relation == Relation::TextContains) {  // of the library that this runs on
        p.declare("\tchar version[32];\n");
        p.main("\tsnprintf(version, sizeof version, \"%u.%u\", FI_MAJOR(fi_version()), FI_MINOR(fi_version()));\n");
        fail_if(p, "!text || !strstr(text, version)", "the text holds the version of the library", "'%.200s'",
                ", text ? text : \"NULL\"");
    } else if (e.relation == Relation::TextContains && e.expected_text) {
        fail_if(p, "!text || !strstr(text, " + c::string(*e.expected_text) + ")",
                "the text contains '" + *e.expected_text + "'", "'%.200s'", ", text ? text : \"NULL\"");
    } else if (e.relation == Relation::TextEquals && e.expected_text) {
        fail_if(p, "!text || strcmp(text, " + c::string(*e.expected_text) + ") != 0",
                "the text is '" + *e.expected_text + "'", "'%.200s'", ", text ? text : \"NULL\"");
    } else if (e.observed.what == Observable::Beginning) {
        p.helper("static char full[65536];\n");
        p.main("\tfi_tostr_r(full, sizeof full, " + arguments + ");\n");
        fail_if(p, "strncmp(full, text, strlen(text)) != 0", "a short buffer gets the beginning of the text",
                "'%.200s'", ", text");
    } else if (e.observed.what == Observable::Printable) {
        p.check("printable.c", "printable(text)");
    } else if (e.actual_text && !e.actual_text->empty() && s.length >= e.actual_text->size() + 1) {
        // What is wrong is in the evidence only: the text that was seen is the one that must not be.
        fail_if(p, "text && strcmp(text, " + c::string(*e.actual_text) + ") == 0",
                e.note.empty() ? "another text" : e.note, "'%.200s'", ", text");
    }
}

void emit_reentrant(Program& p) {
    const auto& s = p.shown().string;
    const std::string arguments = data(p) + ", " + cast_type(s);
    const std::string length = std::to_string(s.length);
    p.part("guarded.c");
    p.declare("\tchar *buffer, *text;\n");
    p.main("\tbuffer = guarded(" + length +
           ");\n\t/* A byte written past the end is a SIGSEGV here. */\n"
           "\ttext = fi_tostr_r(buffer, " +
           length + ", " + arguments + ");\n");
    if (s.length == 0) {
        fail_if(p, "buffer[-1] != 'Z'", "with length 0 nothing is written", "the byte before the buffer changed");
        p.main("\t(void)text;\n");
        return;
    }
    if (p.evidence().field == Field::call_return) {
        fail_if(p, "text != buffer", "the start of the buffer is returned", "%s",
                ", text ? \"another pointer\" : \"NULL\"");
        return;
    }
    fail_if(p, "!memchr(buffer, 0, " + length + ")", "the text is terminated within " + length + " bytes", "it is not");
    p.main("\ttext = buffer;\n");
    emit_contents(p, arguments);
    p.main("\t(void)text;\n");
}

void emit_static(Program& p) {
    const auto& s = p.shown().string;
    const std::string arguments = data(p) + ", " + cast_type(s);
    p.declare("\tchar *text;\n");
    p.main("\ttext = fi_tostr(" + arguments + ");\n");
    // Of a call that did not come back nothing is known but that.
    if (p.evidence().field != Field::subject) fail_if(p, "!text", "a string", "NULL");
    emit_contents(p, arguments);
    p.main("\tif (text)\n\t\tprintf(\"the text is '%.200s'\\n\", text);\n");
}

// Four threads convert at once: two the data of the case, two something else.
void emit_concurrent(Program& p) {
    const auto& s = p.shown().string;
    p.option("-pthread");
    p.helper("#define DATA " + data(p) + ", " + cast_type(s) + "\n");
    p.check("conversions.c", "converts_in_threads()");
}

}  // namespace

void emit_text(Program& p) {
    const auto& s = p.shown().string;
    if (s.concurrent) {
        emit_concurrent(p);
    } else if (s.reentrant) {
        emit_reentrant(p);
    } else {
        emit_static(p);
    }
    p.main("\tputs(\"kept\");\n\treturn 0;\n");
}

}  // namespace selvage::conformance
