// What has to do with memory, as a C program: leaks, failing allocations, fi_allocinfo, fi_dupinfo, fi_freeinfo.
#include "conformance/reproduce/c_text.h"
#include "conformance/reproduce/check.h"
#include "conformance/reproduce/program.h"
#include "conformance/reproduce/side_effects.h"

namespace selvage::conformance {
namespace {

using model::Field;
using model::Observable;
using model::SideEffects;

// `act()` does once what is watched; it returns the code of the watched call, or 0.
void emit_act(Program& p, const std::string& body) { p.helper("static int act(void)\n{\n" + body + "}\n"); }

void emit_getinfo_act(Program& p) {
    p.hints(p.shown().first, "hints");
    emit_act(p, "\tstruct fi_info *list = NULL;\n\tint ret = fi_getinfo(" +
                    c::getinfo_arguments(p.shown().first, "hints") +
                    ", &list);\n\n\tif (ret == 0)\n\t\tfi_freeinfo(list);\n\treturn ret;\n");
}

// The answer that fi_dupinfo and others work on, fetched once.
void fetch_answer(Program& p) {
    p.hints(p.shown().first, "hints");
    p.helper("static struct fi_info *list;\n");
    p.main(
        "\tif (fi_getinfo(" + c::getinfo_arguments(p.shown().first, "hints") +
        ", &list) != 0 || !list) {\n\t\tputs(\"cannot tell: the call that gives something to work on is refused\");\n"
        "\t\treturn 77;\n\t}\n");
}

void emit_dup_act(Program& p) {
    fetch_answer(p);
    p.include("rdma/fi_errno.h");
    const std::string hints = p.shown().first.hints ? "\tcopy = fi_dupinfo(&hints);\n\tif (!copy)\n\t\treturn "
                                                      "-FI_ENOMEM;\n\tfi_freeinfo(copy);\n"
                                                    : "";
    emit_act(p, "\tstruct fi_info *copy;\n\n" + hints +
                    "\tcopy = fi_dupinfo(list);\n\tif (!copy)\n\t\treturn -FI_ENOMEM;\n"
                    "\tfi_freeinfo(copy);\n\treturn 0;\n");
}

void emit_alloc_act(Program& p) {
    emit_act(p,
             "\tstruct fi_info *info = fi_allocinfo();\n\n\tif (!info)\n\t\treturn -FI_ENOMEM;\n"
             "\tfi_freeinfo(info);\n\treturn 0;\n");
}

// Opens fabric and domain of the first entry, and closes them.
void emit_open_act(Program& p) {
    fetch_answer(p);
    p.include("rdma/fi_domain.h");
    emit_act(p,
             "\tstruct fid_fabric *fabric;\n\tstruct fid_domain *domain;\n"
             "\tint ret = fi_fabric(list->fabric_attr, &fabric, NULL);\n\n\tif (ret)\n\t\treturn ret;\n"
             "\tret = fi_domain(fabric, list, &domain, NULL);\n\tif (ret == 0)\n\t\tfi_close(&domain->fid);\n"
             "\tfi_close(&fabric->fid);\n\treturn ret;\n");
}

// A name that nobody has: opening must fail, and leave nothing.
void emit_failed_open_act(Program& p) {
    fetch_answer(p);
    p.include("rdma/fi_domain.h");
    if (p.evidence().field == Field::part_domain) {
        emit_act(p,
                 "\tchar nobody[] = \"nobody\", *name = list->domain_attr->name;\n\tstruct fid_fabric *fabric;\n"
                 "\tstruct fid_domain *domain;\n\tint ret = fi_fabric(list->fabric_attr, &fabric, NULL);\n\n"
                 "\tif (ret)\n\t\treturn ret;\n\tlist->domain_attr->name = nobody;\n"
                 "\tret = fi_domain(fabric, list, &domain, NULL);\n\tif (ret == 0)\n\t\tfi_close(&domain->fid);\n"
                 "\tlist->domain_attr->name = name;\n\tfi_close(&fabric->fid);\n\treturn ret;\n");
    } else {
        emit_act(p,
                 "\tchar nobody[] = \"nobody\", *name = list->fabric_attr->prov_name;\n\tstruct fid_fabric *fabric;\n"
                 "\tint ret;\n\n\tlist->fabric_attr->prov_name = nobody;\n"
                 "\tret = fi_fabric(list->fabric_attr, &fabric, NULL);\n\tif (ret == 0)\n\t\tfi_close(&fabric->fid);\n"
                 "\tlist->fabric_attr->prov_name = name;\n\treturn ret;\n");
    }
}

void emit_any_act(Program& p) {
    switch (p.shown().act) {
        case SideEffects::Act::DupInfo:
        case SideEffects::Act::DupInfoNoMemory:
            return emit_dup_act(p);
        case SideEffects::Act::AllocInfo:
            return emit_alloc_act(p);
        case SideEffects::Act::OpenAnswer:
            return p.evidence().observed.what == Observable::BlocksAfterError ? emit_failed_open_act(p)
                                                                              : emit_open_act(p);
        default:
            return emit_getinfo_act(p);
    }
}

// A thousand repetitions after a hundred must not make the heap grow by a byte for each.
void emit_leak(Program& p) {
    emit_any_act(p);
    p.include("malloc.h");
    p.declare("\tsize_t before, after;\n\tint i;\n");
    p.main(
        "\tfor (i = 0; i < 100; i++)\n\t\tact();\n\tbefore = mallinfo2().uordblks;\n\tfor (i = 0; i < 1000; i++)\n"
        "\t\tact();\n\tafter = mallinfo2().uordblks;\n\tif (after > before + 8000) {\n"
        "\t\tprintf(\"broken: promised: nothing remains; seen: %zu bytes more after 1000 repetitions\\n\", after - "
        "before);\n"
        "\t\treturn 1;\n\t}\n");
    p.kept();
}

// Memory, threads and descriptors after many rounds of open and close.
void emit_releases(Program& p) {
    emit_any_act(p);
    p.include("malloc.h");
    p.include("dirent.h");
    p.helper(
        "static int entries(const char *folder)\n{\n\tDIR *d = opendir(folder);\n\tint n = 0;\n\n"
        "\twhile (d && readdir(d))\n\t\tn++;\n\tif (d)\n\t\tclosedir(d);\n\treturn n;\n}\n");
    p.declare("\tsize_t before, after;\n\tint i, files, threads;\n");
    p.main(
        "\tfor (i = 0; i < 10; i++)\n\t\tact();\n\tbefore = mallinfo2().uordblks;\n\tfiles = "
        "entries(\"/proc/self/fd\");\n"
        "\tthreads = entries(\"/proc/self/task\");\n\tfor (i = 0; i < 100; i++)\n\t\tact();\n"
        "\tafter = mallinfo2().uordblks;\n\tfiles = entries(\"/proc/self/fd\") - files;\n"
        "\tthreads = entries(\"/proc/self/task\") - threads;\n"
        "\tif (after > before + 800 || files > 0 || threads > 0) {\n"
        "\t\tprintf(\"broken: promised: nothing remains; seen: %zd bytes, %d descriptors, %d threads more after 100 "
        "rounds\\n\",\n"
        "\t\t       (ssize_t)(after - before), files, threads);\n\t\treturn 1;\n\t}\n");
    p.include("sys/types.h");
    p.kept();
}

// malloc, calloc and realloc of this program, also as the library calls them; the n-th from now on returns NULL.
void emit_failing_malloc(Program& p) {
    p.include("stddef.h");
    p.helper(
        "/* The allocator of this program and of the library: the one that counts down to zero fails. */\n"
        "extern void *__libc_malloc(size_t);\nextern void *__libc_calloc(size_t, size_t);\n"
        "extern void *__libc_realloc(void *, size_t);\n\nstatic volatile long countdown;\n\n"
        "static int fails(void)\n{\n\treturn countdown > 0 && --countdown == 0;\n}\n\n"
        "void *malloc(size_t size)\n{\n\treturn fails() ? NULL : __libc_malloc(size);\n}\n\n"
        "void *calloc(size_t n, size_t size)\n{\n\treturn fails() ? NULL : __libc_calloc(n, size);\n}\n\n"
        "void *realloc(void *old, size_t size)\n{\n\treturn fails() ? NULL : __libc_realloc(old, size);\n}\n");
}

void emit_no_memory(Program& p) {
    p.include("malloc.h");
    const auto nth = std::max<std::uint64_t>(p.shown().fail_allocation, 1);
    emit_failing_malloc(p);
    p.declare("\tsize_t before, after;\n\tint i, ret;\n");
    watch_return(p, "a call without memory");
    emit_any_act(p);
    const bool getinfo = p.shown().act == SideEffects::Act::GetInfoNoMemory;
    p.include("signal.h");
    p.main(
        "\tact(); /* what is made once is made now */\n"
        "\tfor (i = 1; i < 32; i++) /* handlers that loading has put there would hide a crash */\n"
        "\t\tif (i != SIGALRM)\n\t\t\tsignal(i, SIG_DFL);\n"
        "\tputs(\"promised: a call without memory returns; calling it\");\n\tcountdown = " +
        std::to_string(nth) + ";\n\tret = act();\n\tcountdown = 0;\n");
    if (getinfo) {
        p.main(
            "\tif (ret != 0 && ret != -FI_ENOMEM && ret != -FI_ENODATA) {\n"
            "\t\tprintf(\"broken: promised: 0, -FI_ENOMEM or -FI_ENODATA; seen: %d (%s)\\n\", ret, "
            "fi_strerror(-ret));\n"
            "\t\treturned = 1;\n\t\treturn 1;\n\t}\n");
    }
    p.main("\tbefore = mallinfo2().uordblks;\n\tfor (i = 0; i < 100; i++) {\n\t\tcountdown = " + std::to_string(nth) +
           ";\n\t\tact();\n\t\tcountdown = 0;\n\t}\n\tafter = mallinfo2().uordblks;\n\talarm(0);\n\treturned = 1;\n"
           "\tif (after > before + 800) {\n"
           "\t\tprintf(\"broken: promised: nothing remains of a call without memory (it returns %d); seen: %zu bytes "
           "more \"\n"
           "\t\t       \"after 100 such calls\\n\", ret, after - before);\n\t\treturn 1;\n\t}\n");
    p.kept();
}

// fi_allocinfo: complete, and zero but for the pointers to substructures.
void emit_alloc(Program& p) {
    p.include("rdma/fi_domain.h");
    p.include("rdma/fi_endpoint.h");
    p.include("string.h");
    p.helper(
        "static int zero(const void *at, size_t size)\n{\n\tconst char *c = at;\n\n\twhile (size && !*c)\n"
        "\t\tc++, size--;\n\treturn size == 0;\n}\n");
    p.declare("\tstruct fi_info *info = fi_allocinfo(), *other = fi_allocinfo(), plain;\n");
    p.main(
        "\tif (!info || !other)\n\t\treturn 77;\n"
        "\tif (!info->tx_attr || !info->rx_attr || !info->ep_attr || !info->domain_attr || !info->fabric_attr) {\n"
        "\t\tputs(\"broken: promised: all substructures are there; seen: one is NULL\");\n\t\treturn 1;\n\t}\n"
        "\tif (info == other || info->tx_attr == other->tx_attr || info->domain_attr == other->domain_attr) {\n"
        "\t\tputs(\"broken: promised: memory of its own; seen: two calls share some\");\n\t\treturn 1;\n\t}\n"
        "\tplain = *info;\n\tplain.tx_attr = NULL;\n\tplain.rx_attr = NULL;\n\tplain.ep_attr = NULL;\n"
        "\tplain.domain_attr = NULL;\n\tplain.fabric_attr = NULL;\n"
        "\tif (!zero(&plain, sizeof plain) || !zero(info->tx_attr, sizeof *info->tx_attr) ||\n"
        "\t    !zero(info->rx_attr, sizeof *info->rx_attr) || !zero(info->ep_attr, sizeof *info->ep_attr) ||\n"
        "\t    !zero(info->domain_attr, sizeof *info->domain_attr) ||\n"
        "\t    !zero(info->fabric_attr, sizeof *info->fabric_attr)) {\n"
        "\t\tputs(\"broken: promised: all members are zero; seen: one is not\");\n\t\treturn 1;\n\t}\n"
        "\tfi_freeinfo(info);\n\tfi_freeinfo(other);\n\tputs(\"kept\");\n\treturn 0;\n");
}

// The statement that compares a member of original and copy, by the evidence.
std::string dup_comparison(Program& p) {
    const auto field = p.evidence().field;
    if (!speaks_of_offers(p.evidence())) return "strcmp(text, fi_tostr(copy, FI_TYPE_INFO)) != 0";
    const std::string a = c::member("o", field);
    const std::string b = c::member("copy", field);
    if (model::part_of(field) != nullptr) {
        const std::string path(model::row(field).path);
        return "!o->" + path + " != !copy->" + path;
    }
    if (model::row(field).form == model::Form::String) return "!same(" + a + ", " + b + ")";
    if (model::row(field).form == model::Form::Bytes)
        return c::part_guard("o", field) + c::part_guard("copy", field) + "(!" + c::plain_member("o", field) + " != !" +
               c::plain_member("copy", field) + " ||\n\t    (" + c::plain_member("o", field) + " && memcmp(" +
               c::plain_member("o", field) + ", " + c::plain_member("copy", field) + ",\n\t     " +
               c::plain_member("o", c::length_of(field)) + ") != 0))";
    return a + " != " + b;
}

std::string dup_fault(Program& p) {
    const auto& e = p.evidence();
    if (e.observed.what == Observable::Next) return "copy->next != NULL";
    if (e.field == Field::handle) return "copy->handle != o->handle && copy->handle != NULL";
    if (e.field == Field::part_nic) return "o->nic && (!copy->nic || copy->nic == o->nic)";
    if (e.observed.what == Observable::SharedMemory)
        return "(o->src_addr && o->src_addr == copy->src_addr) || (o->dest_addr && o->dest_addr == copy->dest_addr) "
               "||\n"
               "\t    (o->tx_attr && o->tx_attr == copy->tx_attr) || (o->rx_attr && o->rx_attr == copy->rx_attr) ||\n"
               "\t    (o->ep_attr && o->ep_attr == copy->ep_attr) ||\n"
               "\t    (o->domain_attr && (o->domain_attr == copy->domain_attr ||\n"
               "\t     (o->domain_attr->name && o->domain_attr->name == copy->domain_attr->name))) ||\n"
               "\t    (o->fabric_attr && (o->fabric_attr == copy->fabric_attr ||\n"
               "\t     (o->fabric_attr->name && o->fabric_attr->name == copy->fabric_attr->name))) ||\n"
               "\t    (o->nic && o->nic == copy->nic)";
    return dup_comparison(p);
}

// fi_dupinfo of the hints, if the case has some, and of every entry of the answer.
void emit_dup(Program& p) {
    const auto& query = p.shown().first;
    p.include("string.h");
    p.include("stdlib.h");
    p.include("rdma/fi_domain.h");
    p.include("rdma/fi_endpoint.h");
    p.hints(query, "hints");
    const std::string fault = dup_fault(p);
    if (fault.starts_with("!same"))
        p.helper(
            "static int same(const char *a, const char *b)\n{\n\treturn a && b ? strcmp(a, b) == 0 : a == b;\n}\n");
    const bool strings = fault.starts_with("strcmp");
    const std::string what = strings ? "equal" : "as promised";
    p.helper("static int check(const struct fi_info *o)\n{\n\tstruct fi_info *copy = fi_dupinfo(o);\n" +
             std::string(strings ? "\tchar *text = strdup(fi_tostr(o, FI_TYPE_INFO));\n" : "") +
             "\n\tif (!copy) {\n\t\tputs(\"broken: promised: a duplicate; seen: NULL\");\n\t\treturn 1;\n\t}\n\tif (" +
             fault + ") {\n\t\tputs(\"broken: promised: the duplicate is " + what + "; seen: it is not (" +
             c::for_printf(model::row(p.evidence().field).path) + ")\");\n\t\treturn 1;\n\t}\n" +
             (strings ? "\tfree(text);\n" : "") + "\tfi_freeinfo(copy);\n\treturn 0;\n}\n");
    p.declare("\tstruct fi_info *list = NULL, *o;\n\tint ret;\n");
    if (query.hints) p.main("\tif (check(&hints))\n\t\treturn 1;\n");
    p.main("\tret = fi_getinfo(" + c::getinfo_arguments(query, "hints") +
           ", &list);\n\tfor (o = ret == 0 ? list : NULL; o; o = o->next)\n\t\tif (check(o))\n\t\t\treturn 1;\n");
    p.kept("\tif (ret == 0)\n\t\tfi_freeinfo(list);\n");
}

void emit_dup_null(Program& p) {
    p.declare("\tstruct fi_info *copy;\n");
    watch_return(p, "fi_dupinfo(NULL)");
    p.main(
        "\tputs(\"promised: fi_dupinfo(NULL) returns; calling it\");\n\tcopy = fi_dupinfo(NULL);\n"
        "\tif (copy)\n\t\tfi_freeinfo(copy);\n\talarm(0);\n\treturned = 1;\n\tputs(\"kept\");\n\treturn 0;\n");
}

// The caller fills what fi_allocinfo gave with names and addresses of malloc; fi_freeinfo must release them.
void emit_free_changed(Program& p) {
    p.include("string.h");
    p.include("stdlib.h");
    p.include("malloc.h");
    p.include("rdma/fi_domain.h");
    emit_act(p,
             "\tstruct fi_info *info = fi_allocinfo();\n\n\tif (!info)\n\t\treturn -FI_ENOMEM;\n"
             "\tinfo->fabric_attr->prov_name = strdup(\"provider\");\n\tinfo->fabric_attr->name = strdup(\"fabric\");\n"
             "\tinfo->domain_attr->name = strdup(\"domain\");\n\tinfo->src_addr = calloc(1, 16);\n"
             "\tinfo->src_addrlen = 16;\n\tinfo->dest_addr = calloc(1, 16);\n\tinfo->dest_addrlen = 16;\n"
             "\tfi_freeinfo(info);\n\treturn 0;\n");
    p.declare("\tsize_t before, after;\n\tint i;\n");
    p.main(
        "\tfor (i = 0; i < 100; i++)\n\t\tact();\n\tbefore = mallinfo2().uordblks;\n\tfor (i = 0; i < 1000; i++)\n"
        "\t\tact();\n\tafter = mallinfo2().uordblks;\n\tif (after > before + 8000) {\n"
        "\t\tprintf(\"broken: promised: nothing remains; seen: %zu bytes more after 1000 rounds\\n\", after - "
        "before);\n"
        "\t\treturn 1;\n\t}\n\tputs(\"kept\");\n\treturn 0;\n");
}

// Freeing one answer leaves another intact.
void emit_independent(Program& p) {
    const auto& query = p.shown().first;
    p.include("string.h");
    p.include("stdlib.h");
    p.hints(query, "hints");
    const std::string call = "fi_getinfo(" + c::getinfo_arguments(query, "hints");
    p.declare("\tstruct fi_info *first = NULL, *second = NULL;\n\tchar *before;\n");
    p.main("\tif (" + call + ", &first) != 0 ||\n\t    " + call +
           ", &second) != 0)\n\t\treturn 77;\n"
           "\tbefore = strdup(fi_tostr(second, FI_TYPE_INFO));\n\tfi_freeinfo(first);\n"
           "\tif (before && strcmp(before, fi_tostr(second, FI_TYPE_INFO)) != 0) {\n"
           "\t\tputs(\"broken: promised: answers share no memory; seen: freeing one changed the other\");\n"
           "\t\treturn 1;\n\t}\n\tfree(before);\n");
    p.kept("\tfi_freeinfo(second);\n");
}

// A passive endpoint as handle must live on after the fi_info that names it was freed.
void emit_free_handle(Program& p) {
    p.include("rdma/fi_endpoint.h");
    p.include("rdma/fi_cm.h");
    fetch_answer(p);
    p.declare("\tstruct fid_fabric *fabric;\n\tstruct fid_pep *pep;\n\tstruct fi_info *copy;\n\tint ret;\n");
    p.main(
        "\tif (fi_fabric(list->fabric_attr, &fabric, NULL) || fi_passive_ep(fabric, list, &pep, NULL))\n\t\treturn "
        "77;\n"
        "\tcopy = fi_dupinfo(list);\n\tif (!copy)\n\t\treturn 77;\n\tcopy->handle = &pep->fid;\n\tfi_freeinfo(copy);\n"
        "\tret = fi_close(&pep->fid);\n\tif (ret) {\n"
        "\t\tprintf(\"broken: promised: the handle outlives fi_freeinfo; seen: fi_close returns %d\\n\", ret);\n"
        "\t\treturn 1;\n\t}\n\tfi_close(&fabric->fid);\n");
    p.kept("\tfi_freeinfo(list);\n");
}

}  // namespace

void emit_memory(Program& p) {
    using Act = SideEffects::Act;
    const auto& e = p.evidence();
    const auto act = p.shown().act;
    if (act == Act::GetInfoNoMemory || act == Act::DupInfoNoMemory || p.shown().fail_allocation != 0)
        return emit_no_memory(p);
    if (act == Act::OpenAnswer) return emit_releases(p);
    if (act == Act::AllocInfo) return model::is_crash(e) ? emit_dup_null(p) : emit_alloc(p);
    if (e.field == Field::call_return) return emit_free_handle(p);
    if (act == Act::DupInfo) {
        const bool of_null = model::is_crash(e) && !p.shown().first.hints;
        return of_null ? emit_dup_null(p) : emit_dup(p);
    }
    if (e.observed.what == Observable::BlocksAfterChange) return emit_free_changed(p);
    if (e.observed.what == Observable::SharedMemory) return emit_independent(p);
    emit_leak(p);
}

}  // namespace selvage::conformance
