// What is seen around a call (crash, hang, written hints, threads, environment) as a C program.  What has to
// do with memory is in side_effects_memory.cc.
#include "conformance/reproduce/side_effects.h"

#include "conformance/reproduce/c_text.h"
#include "conformance/reproduce/check.h"
#include "conformance/reproduce/program.h"

namespace selvage::conformance {

using model::Observable;
using model::SideEffects;

void watch_return(Program& p, std::string_view call) {
    p.include("signal.h");
    p.include("stdlib.h");
    p.include("unistd.h");
    p.helper("static volatile int returned;\n");
    p.helper("static void hung(int sig)\n{\n\t(void)sig;\n\tputs(\"broken: promised: " + std::string(call) +
             " returns; seen: no return within 10 seconds\");\n\tfflush(stdout);\n\t_exit(1);\n}\n");
    p.helper("static void left(void)\n{\n\tif (!returned) {\n\t\tputs(\"broken: promised: " + std::string(call) +
             " returns; seen: the library ended the process\");\n\t\tfflush(stdout);\n\t\t_exit(1);\n\t}\n}\n");
    p.main("\tsetvbuf(stdout, NULL, _IONBF, 0);\n\tatexit(left);\n\tsignal(SIGALRM, hung);\n\talarm(10);\n");
}

namespace {

// Puts the addresses of the hints where an inaccessible page begins after their last byte.
void emit_guarded_addresses(Program& p, const model::Query& query) {
    if (!query.hints || (!query.hints->src_addr && !query.hints->dest_addr)) return;
    p.include("string.h");
    p.include("sys/mman.h");
    p.helper(
        "/* The same bytes, followed by memory that nobody may touch. */\n"
        "static void *guarded(const void *bytes, size_t size)\n{\n\tlong page = sysconf(_SC_PAGESIZE);\n"
        "\tchar *at = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);\n\n"
        "\tif (at == MAP_FAILED || size > (size_t)page || mprotect(at + page, page, PROT_NONE))\n\t\texit(77);\n"
        "\treturn memcpy(at + page - size, bytes, size);\n}\n");
    const auto guard = [&](const std::string& member, const model::Text& bytes) {
        if (!bytes || bytes->size() > 4096) return;
        p.main("\thints." + member + " = guarded(hints." + member + ", " + std::to_string(bytes->size()) + ");\n");
    };
    guard("src_addr", query.hints->src_addr);
    guard("dest_addr", query.hints->dest_addr);
}

// The call must come back at all.
void emit_returns(Program& p) {
    const auto& query = p.shown().first;
    p.hints(query, "hints");
    p.declare("\tstruct fi_info *list = NULL;\n\tint ret;\n");
    watch_return(p, "fi_getinfo");
    emit_guarded_addresses(p, query);
    if (!p.shown().env_provider.empty())
        p.main("\tsetenv(\"FI_PROVIDER\", " + quote_c(p.shown().env_provider) + ", 1);\n");
    p.main("\tputs(\"promised: fi_getinfo returns; calling it\");\n\tret = fi_getinfo(" +
           c::getinfo_arguments(query, "hints") +
           ", &list);\n\tif (ret == 0)\n\t\tfi_freeinfo(list);\n"
           "\talarm(0);\n\treturned = 1;\n\tprintf(\"it returned %d\\n\", ret);\n");
    p.kept();
}

// The hints lie in constant memory, which is mapped read-only: a store into them is a SIGSEGV at their address.
void emit_never_written(Program& p) {
    const auto& query = p.shown().first;
    p.include("signal.h");
    p.include("unistd.h");
    p.include("stdlib.h");
    p.hints(query, "hints", true);
    std::string inside = "\tinside(at, &hints, sizeof hints, \"hints\");\n";
    if (query.hints) {
        for (const auto part :
             {model::Part::Tx, model::Part::Rx, model::Part::Ep, model::Part::Domain, model::Part::Fabric}) {
            if (!query.hints->has(part)) continue;
            const std::string name(c::part_name(part));
            inside += "\tinside(at, hints." + name + ", sizeof *hints." + name + ", \"hints->" + name + "\");\n";
        }
        for (const auto& r : model::text_fields()) {
            const auto& t = model::text(*query.hints, r.field);
            if (!t) continue;
            std::string path(r.path);
            if (const auto dot = path.find('.'); dot != std::string::npos) path.replace(dot, 1, "->");
            inside +=
                "\tinside(at, hints." + path + ", " + std::to_string(t->size() + 1) + ", \"hints->" + path + "\");\n";
        }
    }
    p.helper(
        "static void inside(const char *at, const void *start, size_t size, const char *what)\n{\n"
        "\tif (at >= (const char *)start && at < (const char *)start + size) {\n"
        "\t\tprintf(\"broken: promised: the hints are only read; seen: a store %d bytes into %s\\n\",\n"
        "\t\t       (int)(at - (const char *)start), what);\n\t\tfflush(stdout);\n\t\t_exit(1);\n\t}\n}\n");
    p.helper(
        "static void caught(int sig, siginfo_t *info, void *context)\n{\n\tconst char *at = info->si_addr;\n\n"
        "\t(void)context;\n" +
        inside + "\tsignal(sig, SIG_DFL); /* something else: let it be seen */\n}\n");
    p.declare("\tstruct sigaction action = { 0 };\n\tstruct fi_info *list = NULL;\n\tint ret;\n");
    p.main(
        "\taction.sa_sigaction = caught;\n\taction.sa_flags = SA_SIGINFO;\n"
        "\tsigaction(SIGSEGV, &action, NULL);\n\tsigaction(SIGBUS, &action, NULL);\n\tret = fi_getinfo(" +
        c::getinfo_arguments(query, "hints") + ", &list);\n\tif (ret == 0)\n\t\tfi_freeinfo(list);\n");
    p.kept();
}

// After the call the memory of the hints gets other contents: the answer must not change with it.
void emit_not_kept(Program& p) {
    const auto& query = p.shown().first;
    p.hints(query, "hints");
    p.include("string.h");
    p.include("stdlib.h");
    p.declare("\tstruct fi_info *list = NULL;\n\tchar *before;\n\tint ret;\n");
    p.main("\tret = fi_getinfo(" + c::getinfo_arguments(query, "hints") +
           ", &list);\n\tif (ret != 0)\n\t\treturn 77;\n\tbefore = strdup(fi_tostr(list, FI_TYPE_INFO));\n");
    if (query.hints) {
        for (const auto& r : model::text_fields()) {
            const auto& t = model::text(*query.hints, r.field);
            if (!t || t->empty()) continue;
            std::string path(r.path);
            if (const auto dot = path.find('.'); dot != std::string::npos) path.replace(dot, 1, "->");
            p.main("\tmemset(hints." + path + ", 'x', " + std::to_string(t->size()) + ");\n");
        }
    }
    p.main(
        "\tif (before && strcmp(before, fi_tostr(list, FI_TYPE_INFO)) != 0) {\n"
        "\t\tputs(\"broken: promised: the answer keeps nothing of the hints; seen: it changed with them\");\n"
        "\t\treturn 1;\n\t}\n\tfree(before);\n");
    p.kept("\tfi_freeinfo(list);\n");
}

void emit_threads(Program& p) {
    const auto& query = p.shown().first;
    p.option("-pthread");
    p.include("pthread.h");
    p.hints(query, "hints");
    p.count();
    p.helper("static int alone_ret, alone_count;\nstatic volatile int differs;\n");
    p.helper(
        "static void *ask(void *unused)\n{\n\tint i, n, ret;\n\n\tfor (i = 0; i < 500 && !differs; i++) {\n"
        "\t\tstruct fi_info *list = NULL;\n\n\t\tret = fi_getinfo(" +
        c::getinfo_arguments(query, "hints") +
        ", &list);\n\t\tn = ret == 0 ? count(list) : 0;\n\t\tif (ret == 0)\n\t\t\tfi_freeinfo(list);\n"
        "\t\tif (ret != alone_ret || n != alone_count) {\n\t\t\tdiffers = 1;\n"
        "\t\t\tprintf(\"broken: promised: %d with %d entries, as alone; seen: %d with %d\\n\", alone_ret,\n"
        "\t\t\t       alone_count, ret, n);\n\t\t}\n\t}\n\treturn unused;\n}\n");
    p.declare("\tpthread_t threads[4];\n\tstruct fi_info *list = NULL;\n\tint i;\n");
    watch_return(p, "fi_getinfo from four threads");
    p.main(
        "\talone_ret = fi_getinfo(" + c::getinfo_arguments(query, "hints") +
        ", &list);\n\talone_count = alone_ret == 0 ? count(list) : 0;\n\tif (alone_ret == 0)\n\t\tfi_freeinfo(list);\n"
        "\tfor (i = 0; i < 4; i++)\n\t\tif (pthread_create(&threads[i], NULL, ask, NULL))\n\t\t\t_exit(77);\n"
        "\tfor (i = 0; i < 4; i++)\n\t\tpthread_join(threads[i], NULL);\n\talarm(0);\n\treturned = 1;\n"
        "\tif (differs)\n\t\treturn 1;\n");
    p.kept();
}

// FI_PROVIDER must be there before the library first looks, so it is set before the first call.
void emit_environment(Program& p) {
    const auto& query = p.shown().first;
    const auto& e = p.evidence();
    const bool must_be_there = e.observed.what == Observable::ProviderPresent;
    const std::string who = e.actual_text && !e.actual_text->empty() ? *e.actual_text : p.shown().provider;
    p.include("stdlib.h");
    p.include("string.h");
    p.hints(query, "hints");
    p.helper(
        "/* `name` is one of the layers of an entry's provider. */\n"
        "static int names(const struct fi_info *o, const char *name)\n{\n"
        "\tconst char *at = o->fabric_attr->prov_name;\n\tsize_t length = strlen(name);\n\n"
        "\tfor (; at && *at; at = strchr(at, ';') ? strchr(at, ';') + 1 : NULL)\n"
        "\t\tif (strncmp(at, name, length) == 0 && (at[length] == 0 || at[length] == ';'))\n\t\t\treturn 1;\n"
        "\treturn strcmp(o->fabric_attr->prov_name, name) == 0;\n}\n");
    p.declare("\tstruct fi_info *list = NULL, *o;\n\tint ret, seen = 0;\n");
    p.main("\tsetenv(\"FI_PROVIDER\", " + quote_c(p.shown().env_provider) + ", 1);\n\tret = fi_getinfo(" +
           c::getinfo_arguments(query, "hints") +
           ", &list);\n\tfor (o = ret == 0 ? list : NULL; o; o = o->next)\n\t\tseen += names(o, " + quote_c(who) +
           ");\n\tif (seen " + (must_be_there ? "== 0" : "> 0") +
           ") {\n\t\tprintf(\"broken: promised: with FI_PROVIDER=%s provider %s is " +
           (must_be_there ? "there" : "not there") + "; seen: %d entries of it\\n\",\n\t\t       " +
           quote_c(p.shown().env_provider) + ", " + quote_c(who) +
           ", seen);\n\t\treturn 1;\n\t}\n\tif (ret == 0)\n\t\tfi_freeinfo(list);\n\tputs(\"kept\");\n\treturn 0;\n");
}

// No name is looked up: the program's own resolver stands before the system's, and counts.
void emit_lookups(Program& p) {
    const auto& query = p.shown().first;
    for (const char* h : {"arpa/inet.h", "dlfcn.h", "netdb.h"}) p.include(h);
    p.helper(
        "#ifndef RTLD_NEXT\n#define RTLD_NEXT ((void *)-1L)\n#endif\n\nstatic int lookups;\n\n"
        "int getaddrinfo(const char *node, const char *service, const struct addrinfo *hints, struct addrinfo **res)\n"
        "{\n\tint (*real)(const char *, const char *, const struct addrinfo *, struct addrinfo **);\n"
        "\tstruct in6_addr v6;\n\n"
        "\t*(void **)&real = dlsym(RTLD_NEXT, \"getaddrinfo\");\n"
        "\tif (node && !(hints && hints->ai_flags & AI_NUMERICHOST) && inet_addr(node) == INADDR_NONE &&\n"
        "\t    inet_pton(AF_INET6, node, &v6) != 1) {\n"
        "\t\tprintf(\"the resolver is asked for '%s'\\n\", node);\n\t\tlookups++;\n\t}\n"
        "\treturn real(node, service, hints, res);\n}\n");
    p.hints(query, "hints");
    p.declare("\tstruct fi_info *list = NULL;\n");
    p.main("\tif (fi_getinfo(" + c::getinfo_arguments(query, "hints") +
           ", &list) == 0)\n\t\tfi_freeinfo(list);\n"
           "\tif (lookups) {\n\t\tputs(\"broken: promised: no name is looked up; seen: it is\");\n"
           "\t\treturn 1;\n\t}\n");
    p.kept();
}

}  // namespace

std::string quote_c(std::string_view text) { return c::string(std::string(text)); }

void emit_side_effects(Program& p) {
    const auto& e = p.evidence();
    const auto act = p.shown().act;
    switch (e.observed.what) {
        case Observable::HintsWritten:
            return emit_never_written(p);
        case Observable::LookUps:
            return emit_lookups(p);
        case Observable::ProviderPresent:
        case Observable::ProviderAbsent:
            return emit_environment(p);
        case Observable::SharedMemory:
            if (act == SideEffects::Act::GetInfo) return emit_not_kept(p);
            break;
        default:
            break;
    }
    switch (act) {
        case SideEffects::Act::GetInfoThreads:
            return emit_threads(p);
        case SideEffects::Act::GetInfo:
        case SideEffects::Act::Load:
        case SideEffects::Act::ProvAttrOnly:
        case SideEffects::Act::EnvProvider:
            if (model::is_crash(e)) return emit_returns(p);
            return e.observed.what == Observable::Blocks ? emit_memory(p) : emit_call(p);
        default:
            return emit_memory(p);
    }
}

}  // namespace selvage::conformance
