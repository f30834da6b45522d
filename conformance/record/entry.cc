// The functions that the recorder exports in the library's place, at each node that the library has them.
//
// A program that is bound to one node's function reaches the library's function of that node. The library is the next
// in the search order, or the libfabric.so.1 that is loaded already: one that a plug-in brought is in no global scope.
#include <dlfcn.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <string_view>

#include "conformance/record/call.h"

namespace selvage::record {
namespace {

void* find_function(const char* name, const char* node) {
    if (void* function = dlvsym(RTLD_NEXT, name, node)) return function;
    void* library = dlopen("libfabric.so.1", RTLD_LAZY | RTLD_NOLOAD);
    void* function = library != nullptr ? dlvsym(library, name, node) : nullptr;
    if (library != nullptr) dlclose(library);  // whoever loaded it keeps it
    if (function != nullptr) return function;
    Line line;
    line.text("selvage-record: the program calls ");
    line.text(name);
    line.put('@');
    line.text(node);
    line.text(", which no loaded libfabric.so.1 has\n");
    const ssize_t ignored = write(STDERR_FILENO, line.view().data(), line.view().size());
    static_cast<void>(ignored);
    return nullptr;
}

// One function of the library, found once.
template <class Function>
class Next {
public:
    Function get(const char* name, const char* node) {
        void* known = found_.load(std::memory_order_acquire);
        if (known == nullptr) {
            known = find_function(name, node);
            found_.store(known, std::memory_order_release);
        }
        return reinterpret_cast<Function>(known);
    }

private:
    std::atomic<void*> found_{nullptr};
};

using GetInfo = int (*)(std::uint32_t, const char*, const char*, std::uint64_t, const fi_info*, fi_info**);
using FreeInfo = void (*)(fi_info*);
using DupInfo = fi_info* (*)(const fi_info*);
using Fabric = int (*)(fi_fabric_attr*, fid_fabric**, void*);
using Fabric2 = int (*)(fi_info*, fid_fabric**, std::uint64_t, void*);
using Open = int (*)(std::uint32_t, const char*, void*, std::size_t, std::uint64_t, fid**, void*);

// The version that the program named last: its structures are what it says, where a call names none.
std::atomic<std::uint32_t> version_named{FI_VERSION(1, 17)};

struct Node {
    const char* name;
    int number;
    [[nodiscard]] Layout layout() const { return {number, version_named.load(std::memory_order_relaxed)}; }
};

template <class F>
const void* address(F* function) {
    return reinterpret_cast<const void*>(function);
}

void begin(Line& line, std::string_view call, const Node& node) {
    line.text(call);
    line.put('@');
    line.text(node.name);
}

int get_info(Next<GetInfo>& next, const Node& node, std::uint32_t version, const char* host, const char* service,
             std::uint64_t flags, const fi_info* hints, fi_info** info) {
    const auto call = next.get("fi_getinfo", node.name);
    if (call == nullptr) return -FI_ENOSYS;
    const Scope scope;
    if (!scope.outermost() || !recording(address(call))) return call(version, host, service, flags, hints, info);
    version_named.store(version, std::memory_order_relaxed);
    Line line;
    begin(line, "fi_getinfo", node);
    put_query(line, version, host, service, flags, hints, node.layout());
    const std::uint64_t start = clock_now();
    const int result = call(version, host, service, flags, hints, info);
    line.text(" -> ");
    put_result(line, result);
    if (result == 0 && info != nullptr) {
        line.name("list");
        put_pointer(line, *info);
        line.name("info");
        put_infos(line, *info, node.layout());
    }
    append(line.view(), start, false);
    return result;
}

void free_info(Next<FreeInfo>& next, const Node& node, fi_info* info) {
    const auto call = next.get("fi_freeinfo", node.name);
    if (call == nullptr) return;
    const Scope scope;
    const bool write = scope.outermost() && recording(address(call));
    const std::uint64_t start = clock_now();
    call(info);
    if (!write) return;
    Line line;
    begin(line, "fi_freeinfo", node);
    line.name("list");
    put_pointer(line, info);
    line.text(" -> 0");
    append(line.view(), start, false);
}

fi_info* duplicate(Next<DupInfo>& next, const Node& node, const fi_info* info) {
    const auto call = next.get("fi_dupinfo", node.name);
    if (call == nullptr) return nullptr;
    const Scope scope;
    const bool write = scope.outermost() && recording(address(call));
    const std::uint64_t start = clock_now();
    fi_info* copy = call(info);
    if (!write) return copy;
    Line line;
    begin(line, "fi_dupinfo", node);
    line.name("info");
    put_info(line, info, node.layout());
    line.text(" -> 0");
    line.name("list");
    put_pointer(line, copy);
    append(line.view(), start, false);
    return copy;
}

void end_open(Line& line, int result, fid_fabric* const* fabric, const Node& node) {
    line.text(" -> ");
    put_result(line, result);
    if (result != 0 || fabric == nullptr || *fabric == nullptr) return;
    adopt(*fabric, Origin{nullptr, nullptr, FI_CQ_FORMAT_UNSPEC, {3, node.layout().version}});
    line.name("fabric");
    put_object(line, *fabric);
}

int open_fabric(Next<Fabric>& next, const Node& node, fi_fabric_attr* attr, fid_fabric** fabric, void* context) {
    const auto call = next.get("fi_fabric", node.name);
    if (call == nullptr) return -FI_ENOSYS;
    const Scope scope;
    if (!scope.outermost() || !recording(address(call))) return call(attr, fabric, context);
    Line line;
    begin(line, "fi_fabric", node);
    line.name("attr");
    put_fabric_attr(line, attr, node.layout());
    line.name("context");
    put_pointer(line, context);
    const std::uint64_t start = clock_now();
    const int result = call(attr, fabric, context);
    end_open(line, result, fabric, node);
    append(line.view(), start, false);
    return result;
}

}  // namespace
}  // namespace selvage::record

using namespace selvage::record;

#define SELVAGE_EXPORT extern "C" __attribute__((visibility("default"), used))
// Another version of a symbol.
#define SELVAGE_SYMBOL(function, name, number) __asm__(".symver " #function "," #name "@FABRIC_1." #number)

#define SELVAGE_INFO_CALLS(number)                                                                             \
    SELVAGE_EXPORT int record_getinfo_1_##number(std::uint32_t version, const char* host, const char* service, \
                                                 std::uint64_t flags, const fi_info* hints, fi_info** info) {  \
        static constinit Next<GetInfo> next;                                                                   \
        return get_info(next, {"FABRIC_1." #number, number}, version, host, service, flags, hints, info);      \
    }                                                                                                          \
    SELVAGE_EXPORT void record_freeinfo_1_##number(fi_info* info) {                                            \
        static constinit Next<FreeInfo> next;                                                                  \
        free_info(next, {"FABRIC_1." #number, number}, info);                                                  \
    }                                                                                                          \
    SELVAGE_EXPORT fi_info* record_dupinfo_1_##number(const fi_info* info) {                                   \
        static constinit Next<DupInfo> next;                                                                   \
        return duplicate(next, {"FABRIC_1." #number, number}, info);                                           \
    }                                                                                                          \
    SELVAGE_SYMBOL(record_getinfo_1_##number, fi_getinfo, number);                                             \
    SELVAGE_SYMBOL(record_freeinfo_1_##number, fi_freeinfo, number);                                           \
    SELVAGE_SYMBOL(record_dupinfo_1_##number, fi_dupinfo, number);

SELVAGE_INFO_CALLS(0)
SELVAGE_INFO_CALLS(1)
SELVAGE_INFO_CALLS(2)
SELVAGE_INFO_CALLS(3)
SELVAGE_INFO_CALLS(7)
SELVAGE_INFO_CALLS(8)
SELVAGE_INFO_CALLS(9)

SELVAGE_EXPORT int record_fabric_1_0(fi_fabric_attr* attr, fid_fabric** fabric, void* context) {
    static constinit Next<Fabric> next;
    return open_fabric(next, {"FABRIC_1.0", 0}, attr, fabric, context);
}
SELVAGE_EXPORT int record_fabric_1_1(fi_fabric_attr* attr, fid_fabric** fabric, void* context) {
    static constinit Next<Fabric> next;
    return open_fabric(next, {"FABRIC_1.1", 3}, attr, fabric, context);
}
SELVAGE_SYMBOL(record_fabric_1_0, fi_fabric, 0);
SELVAGE_SYMBOL(record_fabric_1_1, fi_fabric, 1);

SELVAGE_EXPORT int fi_fabric2(fi_info* info, fid_fabric** fabric, std::uint64_t flags, void* context) {
    static constinit Next<Fabric2> next;
    const Node node = {"FABRIC_1.8", 8};
    const auto call = next.get("fi_fabric2", node.name);
    if (call == nullptr) return -FI_ENOSYS;
    const Scope scope;
    if (!scope.outermost() || !recording(address(call))) return call(info, fabric, flags, context);
    Line line;
    begin(line, "fi_fabric2", node);
    line.name("info");
    put_info(line, info, node.layout());
    line.name("flags");
    line.hex(flags);
    line.name("context");
    put_pointer(line, context);
    const std::uint64_t start = clock_now();
    const int result = call(info, fabric, flags, context);
    end_open(line, result, fabric, node);
    append(line.view(), start, false);
    return result;
}

extern "C" __attribute__((visibility("default"), used)) int fi_open(std::uint32_t version, const char* name, void* attr,
                                                                    std::size_t attr_len, std::uint64_t flags,
                                                                    fid** opened, void* context) {
    static constinit Next<Open> next;
    const Node node = {"FABRIC_1.5", 3};
    const auto call = next.get("fi_open", node.name);
    if (call == nullptr) return -FI_ENOSYS;
    const Scope scope;
    if (!scope.outermost() || !recording(address(call)))
        return call(version, name, attr, attr_len, flags, opened, context);
    Line line;
    begin(line, "fi_open", node);
    line.name("version");
    line.number(std::uint64_t{version >> 16});
    line.put('.');
    line.number(std::uint64_t{version & 0xffffU});
    line.name("name");
    name != nullptr ? put_quoted(line, name) : line.text("NULL");
    line.name("attr");
    put_bytes(line, attr, attr_len);
    line.name("flags");
    line.hex(flags);
    line.name("context");
    put_pointer(line, context);
    const std::uint64_t start = clock_now();
    const int result = call(version, name, attr, attr_len, flags, opened, context);
    line.text(" -> ");
    put_result(line, result);
    if (result == 0 && opened != nullptr && *opened != nullptr) {
        adopt(*opened, Origin{nullptr, nullptr, FI_CQ_FORMAT_UNSPEC, {3, version}});
        line.name("object");
        put_object(line, *opened);
    }
    append(line.view(), start, false);
    return result;
}
