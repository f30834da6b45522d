// The exported functions: each asks the mutation that is switched on, or the base.
#include <dlfcn.h>

#include <string>
#include <string_view>

#include "conformance/mutants/base.h"
#include "conformance/mutants/life.h"
#include "conformance/mutants/mutant.h"

#define SELVAGE_EXPORT extern "C" __attribute__((visibility("default")))

namespace selvage::mutants {
namespace {

const Mutant& find_self() {
    Dl_info about = {};
    static const char kHere = 0;
    std::string_view path = dladdr(&kHere, &about) != 0 && about.dli_fname != nullptr ? about.dli_fname : "";
    path.remove_prefix(path.rfind('/') + 1);  // npos + 1 is 0
    constexpr std::string_view kBefore = "libmutant-";
    if (path.starts_with(kBefore)) path.remove_prefix(kBefore.size());
    const Mutant* found = find_mutant(path.substr(0, path.find(".so")));
    return found != nullptr ? *found : all_mutants().front();
}

const Mutant& self() {
    static const Mutant& mutant = find_self();
    return mutant;
}

// Ahead of every call, like the constructors of the library that it looks like.
__attribute__((constructor)) void on_load() {
    if (self().load) self().load();
    base();
}

}  // namespace
}  // namespace selvage::mutants

using namespace selvage::mutants;

SELVAGE_EXPORT int fi_getinfo(std::uint32_t version, const char* node, const char* service, std::uint64_t flags,
                              const fi_info* hints, fi_info** info) {
    Call call{version, node, service, flags, hints, info};
    return self().getinfo ? self().getinfo(call) : issue(call);
}

SELVAGE_EXPORT void fi_freeinfo(fi_info* info) { self().freeinfo ? self().freeinfo(info) : base().freeinfo(info); }

SELVAGE_EXPORT fi_info* fi_dupinfo(const fi_info* info) {
    return self().dupinfo ? self().dupinfo(info) : base().dupinfo(info);
}

SELVAGE_EXPORT std::uint32_t fi_version() { return base().version(); }

SELVAGE_EXPORT int fi_fabric(fi_fabric_attr* attr, fid_fabric** fabric, void* context) {
    const int ret = self().fabric ? self().fabric(attr, fabric, context) : base().fabric(attr, fabric, context);
    return fabric_opened(self().life, ret, fabric);
}

SELVAGE_EXPORT char* fi_tostr_r(char* buffer, std::size_t length, const void* data, enum fi_type type) {
    return self().tostr_r ? self().tostr_r(buffer, length, data, type) : base().tostr_r(buffer, length, data, type);
}

SELVAGE_EXPORT char* fi_tostr(const void* data, enum fi_type type) {
    return self().tostr ? self().tostr(data, type) : base().tostr(data, type);
}

SELVAGE_EXPORT const char* fi_strerror(int error) { return base().strerror(error); }

SELVAGE_EXPORT int fi_open(std::uint32_t version, const char* name, void* attr, std::size_t length, std::uint64_t flags,
                           fid** out, void* context) {
    return base().open(version, name, attr, length, flags, out, context);
}
