// A transport of this library as a provider of another libfabric: the entry of libselvage_PROVIDER-fi.so, which other
// libfabrics load from the folders of FI_PROVIDER_PATH. fi_prov(3) has the contract.
//
// Each file has the whole engine and one provider (SELVAGE_PROVIDER, "shm"), which it answers for as "selvage_shm", so
// that it stands beside the host's own. Nothing but fi_prov_ini is exported: the file uses nothing of the host, and its
// own functions are not the host's.
//
//   - The host adds the name of the provider to answers and frees them: every pointer in them is a malloc block.
//   - Flags of the host's own may be in a call; what is not of fi_getinfo(3) is passed over.
//   - FI_PROVIDER is the host's to read: its names are those of the host's providers.
#include "impl/base/layout.h"
#include "impl/base/rdma.h"
#include "impl/catalog/info_memory.h"
#include "impl/catalog/registry.h"
#include "impl/discovery/getinfo.h"
#include "impl/fabric/fabric.h"

#include <algorithm>
#include <cstdlib>

namespace selvage::impl {
namespace {

constexpr char kInner[] = SELVAGE_PROVIDER;
constexpr char kOuter[] = "selvage_" SELVAGE_PROVIDER;

// The host's hints with this library's name in place of the one that the host knows it by.
class Hints {
public:
    Hints(const fi_info* hints, Layout layout) {
        if (hints) set_.widen_from(*hints, layout);
        set_.fabric.prov_name = const_cast<char*>(kInner);
    }
    const fi_info* get() const { return &set_.info; }

private:
    InfoSet set_;
};

int get_info_for_host(uint32_t version, const char* node, const char* service, uint64_t flags, const fi_info* hints,
                      fi_info** info) {
    if (version > kNewestVersion) version = kNewestVersion;
    // A host has the structures of 1.17 at least.
    const Layout layout = std::max(Layout::V1_3, layout_of_version(version));
    constexpr uint64_t kPublicFlags = FI_NUMERICHOST | FI_SOURCE;
    const Hints inner(hints, layout);
    const int result = get_info(layout, version, node, service, flags & kPublicFlags, inner.get(), info);
    if (result) return result;
    for (fi_info* each = *info; each; each = each->next) {
        free(each->fabric_attr->prov_name);
        each->fabric_attr->prov_name = nullptr;
    }
    return 0;
}

int open_fabric_for_host(fi_fabric_attr* attr, fid_fabric** fabric, void* context) {
    if (!attr) return -FI_EINVAL;
    fi_fabric_attr inner = *attr;
    inner.prov_name = const_cast<char*>(kInner);
    return open_fabric(Layout::V1_3, &inner, fabric, context);
}

void clean_up() {}  // threads end with the objects that they serve

fi_provider provider = {.version = kProviderVersion,
                        .fi_version = kNewestVersion,
                        .context = {},
                        .name = kOuter,
                        .getinfo = get_info_for_host,
                        .fabric = open_fabric_for_host,
                        .cleanup = clean_up};

}  // namespace
}  // namespace selvage::impl

extern "C" __attribute__((visibility("default"))) fi_provider* fi_prov_ini() {
    selvage::impl::admit_all_providers();
    return &selvage::impl::provider;
}
