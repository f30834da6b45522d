// The entry points of discovery at their versioned symbols. No exception passes here: nothing below throws.
//
// A symbol of an older node belongs to a program that was built against smaller structures; see layout.h.
#include "impl/base/layout.h"
#include "impl/base/rdma.h"
#include "impl/catalog/info_memory.h"
#include "impl/provider/all_providers.h"

namespace selvage::impl {
int open_by_name(uint32_t version, const char* name, uint64_t flags, fid** result, void* context);  // open.cc
}

using selvage::impl::Layout;

#define SELVAGE_EXPORT extern "C" __attribute__((visibility("default"), used))
// Another version of a symbol, and the one that programs are linked to.
#define SELVAGE_OTHER_SYMBOL(function, name, node) __asm__(".symver " #function "," #name "@" #node)
#define SELVAGE_SYMBOL(function, name, node) __asm__(".symver " #function "," #name "@@" #node)

#define SELVAGE_INFO_CALLS(suffix, layout)                                                                        \
    SELVAGE_EXPORT int selvage_getinfo_##suffix(uint32_t version, const char* node, const char* service,          \
                                                uint64_t flags, const fi_info* hints, fi_info** info) {           \
        return selvage::impl::get_info_of_all(layout, version, node, service, flags, hints, info);                \
    }                                                                                                             \
    SELVAGE_EXPORT void selvage_freeinfo_##suffix(fi_info* info) { selvage::impl::free_info_list(info, layout); } \
    SELVAGE_EXPORT fi_info* selvage_dupinfo_##suffix(const fi_info* info) {                                       \
        return info ? selvage::impl::duplicate_callers_info(*info, layout) : selvage::impl::allocate_info();      \
    }

SELVAGE_INFO_CALLS(1_0, Layout::V1_0)
SELVAGE_INFO_CALLS(1_1, Layout::V1_1)
SELVAGE_INFO_CALLS(1_2, Layout::V1_2)
SELVAGE_INFO_CALLS(1_3, Layout::V1_3)
SELVAGE_INFO_CALLS(1_7, Layout::V1_7)
SELVAGE_INFO_CALLS(1_8, Layout::V1_8)
SELVAGE_INFO_CALLS(1_9, Layout::V1_9)

// Programs are linked with this file and the headers at hand, which are those of 1.17: so the version that linking
// takes (@@) is theirs. Programs that were built against newer headers name the node themselves.

// Formatting would take the version of a node apart.
// clang-format off
SELVAGE_OTHER_SYMBOL(selvage_getinfo_1_0, fi_getinfo, FABRIC_1.0);
SELVAGE_OTHER_SYMBOL(selvage_getinfo_1_1, fi_getinfo, FABRIC_1.1);
SELVAGE_OTHER_SYMBOL(selvage_getinfo_1_2, fi_getinfo, FABRIC_1.2);
SELVAGE_SYMBOL(selvage_getinfo_1_3, fi_getinfo, FABRIC_1.3);
SELVAGE_OTHER_SYMBOL(selvage_getinfo_1_7, fi_getinfo, FABRIC_1.7);
SELVAGE_OTHER_SYMBOL(selvage_getinfo_1_8, fi_getinfo, FABRIC_1.8);
SELVAGE_OTHER_SYMBOL(selvage_getinfo_1_9, fi_getinfo, FABRIC_1.9);
SELVAGE_OTHER_SYMBOL(selvage_freeinfo_1_0, fi_freeinfo, FABRIC_1.0);
SELVAGE_OTHER_SYMBOL(selvage_freeinfo_1_1, fi_freeinfo, FABRIC_1.1);
SELVAGE_OTHER_SYMBOL(selvage_freeinfo_1_2, fi_freeinfo, FABRIC_1.2);
SELVAGE_SYMBOL(selvage_freeinfo_1_3, fi_freeinfo, FABRIC_1.3);
SELVAGE_OTHER_SYMBOL(selvage_freeinfo_1_7, fi_freeinfo, FABRIC_1.7);
SELVAGE_OTHER_SYMBOL(selvage_freeinfo_1_8, fi_freeinfo, FABRIC_1.8);
SELVAGE_OTHER_SYMBOL(selvage_freeinfo_1_9, fi_freeinfo, FABRIC_1.9);
SELVAGE_OTHER_SYMBOL(selvage_dupinfo_1_0, fi_dupinfo, FABRIC_1.0);
SELVAGE_OTHER_SYMBOL(selvage_dupinfo_1_1, fi_dupinfo, FABRIC_1.1);
SELVAGE_OTHER_SYMBOL(selvage_dupinfo_1_2, fi_dupinfo, FABRIC_1.2);
SELVAGE_SYMBOL(selvage_dupinfo_1_3, fi_dupinfo, FABRIC_1.3);
SELVAGE_OTHER_SYMBOL(selvage_dupinfo_1_7, fi_dupinfo, FABRIC_1.7);
SELVAGE_OTHER_SYMBOL(selvage_dupinfo_1_8, fi_dupinfo, FABRIC_1.8);
SELVAGE_OTHER_SYMBOL(selvage_dupinfo_1_9, fi_dupinfo, FABRIC_1.9);
// clang-format on

SELVAGE_EXPORT int selvage_fabric_1_0(fi_fabric_attr* attr, fid_fabric** fabric, void* context) {
    return selvage::impl::open_fabric_of_all(Layout::V1_0, attr, fabric, context);
}
SELVAGE_EXPORT int selvage_fabric_1_1(fi_fabric_attr* attr, fid_fabric** fabric, void* context) {
    return selvage::impl::open_fabric_of_all(Layout::V1_3, attr, fabric, context);
}
// Formatting would take the version of a node apart.
// clang-format off
SELVAGE_OTHER_SYMBOL(selvage_fabric_1_0, fi_fabric, FABRIC_1.0);
SELVAGE_SYMBOL(selvage_fabric_1_1, fi_fabric, FABRIC_1.1);
// clang-format on

// Since 2.0. No flags are defined.
SELVAGE_EXPORT int fi_fabric2(fi_info* info, fid_fabric** fabric, uint64_t flags, void* context) {
    if (flags) return -FI_EBADFLAGS;
    if (!info) return -FI_EINVAL;
    return selvage::impl::open_fabric_of_all(Layout::V1_9, info->fabric_attr, fabric, context);
}

extern "C" {

uint32_t fi_version(void) { return selvage::impl::kApiVersion; }

int fi_open(uint32_t version, const char* name, void*, size_t, uint64_t flags, fid** result, void* context) {
    return selvage::impl::open_by_name(version, name, flags, result, context);
}

}  // extern "C"
