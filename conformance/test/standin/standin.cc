// A libfabric for tests that stands in front of another one and changes what the kit sees of it:
//   SELVAGE_STANDIN_LIBRARY  the library behind it
//   SELVAGE_STANDIN_VERSION  the interface that it is of, "1.5" or "2.6": what fi_version() returns, newer versions are
//                            refused, and from 1.20 on the library's own symbols of that release answer
//   SELVAGE_STANDIN_PREFIX   stands in front of the names of providers: "selvage_" makes tcp of selvage_tcp
//
// Invariants:
// 1. What the kit passes is laid out as in Debian's headers (1.17). Where a newer symbol answers, a copy with the
//    grown fi_domain_attr is passed on; what was added is zero.
// 2. A setting that cannot be read ends the process: a test must not run without what it asked for.
//
// Loaded by dlopen into a process that tests a library; any thread.
#include <dlfcn.h>
#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

constexpr std::size_t kGrownDomainAttr = 224;  // since FABRIC_1.9

[[noreturn]] void give_up(const char* what) {
    std::fprintf(stderr, "standin: %s\n", what);
    std::exit(2);
}

struct Behind {
    void* handle = nullptr;
    std::uint32_t version = 0;   // 0: the library's own
    const char* node = nullptr;  // of a release that the headers do not know
    std::string prefix;

    Behind() {
        const char* path = std::getenv("SELVAGE_STANDIN_LIBRARY");
        if (path != nullptr) handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        if (handle == nullptr) give_up("SELVAGE_STANDIN_LIBRARY names no library");
        if (const char* text = std::getenv("SELVAGE_STANDIN_VERSION")) set_version(text);
        if (const char* text = std::getenv("SELVAGE_STANDIN_PREFIX")) prefix = text;
    }
    void set_version(const char* text) {
        unsigned major = 0;
        unsigned minor = 0;
        if (std::sscanf(text, "%u.%u", &major, &minor) != 2) give_up("SELVAGE_STANDIN_VERSION is no version");
        version = FI_VERSION(major, minor);
        if (version >= FI_VERSION(1, 20)) node = "FABRIC_1.7";
        if (version >= FI_VERSION(2, 0)) node = "FABRIC_1.8";
        if (version >= FI_VERSION(2, 5)) node = "FABRIC_1.9";
    }
    template <class Function>
    Function* find(const char* name, bool grew = false) const {
        void* found = grew && node != nullptr ? dlvsym(handle, name, node) : dlsym(handle, name);
        if (found == nullptr) give_up(name);
        return reinterpret_cast<Function*>(found);
    }
};

const Behind& behind() {
    static const Behind known;
    return known;
}

// An fi_info as the library behind takes it. The original has to outlive it.
class Passed {
public:
    explicit Passed(const fi_info* from) {
        if (from == nullptr) return;
        info_ = *from;
        to_ = &info_;
        if (from->domain_attr != nullptr && behind().node != nullptr) {
            std::memcpy(domain_.data(), from->domain_attr, sizeof *from->domain_attr);
            info_.domain_attr = reinterpret_cast<fi_domain_attr*>(domain_.data());
        }
        if (from->fabric_attr == nullptr || from->fabric_attr->prov_name == nullptr || behind().prefix.empty()) return;
        fabric_ = *from->fabric_attr;
        name_ = behind().prefix + fabric_.prov_name;
        fabric_.prov_name = name_.data();
        info_.fabric_attr = &fabric_;
    }
    [[nodiscard]] const fi_info* get() const { return to_; }

private:
    fi_info info_;
    const fi_info* to_ = nullptr;
    fi_fabric_attr fabric_;
    std::string name_;
    alignas(8) std::array<unsigned char, kGrownDomainAttr> domain_{};
};

}  // namespace

#define SELVAGE_EXPORT extern "C" __attribute__((visibility("default")))

SELVAGE_EXPORT std::uint32_t fi_version() {
    return behind().version != 0 ? behind().version : behind().find<std::uint32_t()>("fi_version")();
}

SELVAGE_EXPORT int fi_getinfo(std::uint32_t version, const char* node, const char* service, std::uint64_t flags,
                              const fi_info* hints, fi_info** info) {
    if (behind().version != 0 && version > behind().version) return -FI_ENOSYS;
    const Passed passed(hints);
    return behind().find<decltype(fi_getinfo)>("fi_getinfo", true)(version, node, service, flags, passed.get(), info);
}

SELVAGE_EXPORT void fi_freeinfo(fi_info* info) { behind().find<decltype(fi_freeinfo)>("fi_freeinfo", true)(info); }

SELVAGE_EXPORT fi_info* fi_dupinfo(const fi_info* info) {
    const Passed passed(info);
    return behind().find<decltype(fi_dupinfo)>("fi_dupinfo", true)(passed.get());
}

SELVAGE_EXPORT int fi_fabric(fi_fabric_attr* attr, fid_fabric** fabric, void* context) {
    return behind().find<decltype(fi_fabric)>("fi_fabric")(attr, fabric, context);
}

SELVAGE_EXPORT const char* fi_strerror(int error) { return behind().find<decltype(fi_strerror)>("fi_strerror")(error); }

// The version as text, as fi_version() has it.
static const char* own_version(fi_type type) {
    if (type != FI_TYPE_VERSION || behind().version == 0) return nullptr;
    static const std::string text =
        std::to_string(FI_MAJOR(behind().version)) + "." + std::to_string(FI_MINOR(behind().version));
    return text.c_str();
}

SELVAGE_EXPORT char* fi_tostr(const void* data, fi_type type) {
    if (const char* text = own_version(type)) {
        static thread_local std::array<char, 32> to;
        std::snprintf(to.data(), to.size(), "%s", text);
        return to.data();
    }
    return behind().find<decltype(fi_tostr)>("fi_tostr")(data, type);
}

SELVAGE_EXPORT char* fi_tostr_r(char* to, std::size_t size, const void* data, fi_type type) {
    if (const char* text = own_version(type); text != nullptr && to != nullptr && size != 0) {
        std::snprintf(to, size, "%s", text);
        return to;
    }
    return behind().find<decltype(fi_tostr_r)>("fi_tostr_r")(to, size, data, type);
}
