// See base.h.
#include "conformance/mutants/base.h"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

namespace selvage::mutants {
namespace {

[[noreturn]] void give_up(const char* path, const char* why) {
    std::fprintf(stderr, "mutant: %s: %s\n", path, why != nullptr ? why : "no reason given");
    std::_Exit(2);
}

template <typename Function>
void find(void* handle, const char* path, const char* name, Function& into) {
    into = reinterpret_cast<Function>(dlsym(handle, name));
    if (into == nullptr) give_up(path, name);
}

Base open_base() {
    const char* named = std::getenv("SELVAGE_MUTANT_BASE");
    const char* path = named != nullptr ? named : SELVAGE_MUTANT_BASE_PATH;
    void* handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) give_up(path, dlerror());
    Base b = {};
    find(handle, path, "fi_getinfo", b.getinfo);
    find(handle, path, "fi_freeinfo", b.freeinfo);
    find(handle, path, "fi_dupinfo", b.dupinfo);
    find(handle, path, "fi_version", b.version);
    find(handle, path, "fi_fabric", b.fabric);
    find(handle, path, "fi_tostr", b.tostr);
    find(handle, path, "fi_tostr_r", b.tostr_r);
    find(handle, path, "fi_strerror", b.strerror);
    find(handle, path, "fi_open", b.open);
    return b;
}

}  // namespace

const Base& base() {
    static const Base kBase = open_base();
    return kBase;
}

}  // namespace selvage::mutants
