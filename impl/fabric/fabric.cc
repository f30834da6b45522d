// See fabric.h.
#include "impl/fabric/fabric.h"

#include <cstdio>

#include "impl/catalog/registry.h"
#include "impl/fabric/opened.h"

namespace selvage::impl {
namespace {

int close_fabric(fid* descriptor) {
    auto* fabric = object_of<Fabric>(descriptor);
    if (!fabric->uses.close()) return -FI_EBUSY;
    note_closed(fabric);
    destroy(fabric);
    return 0;
}

constexpr fi_ops kFidOps = make_fid_ops(close_fabric);

constexpr fi_ops_fabric kFabricOps = {
    .size = sizeof(fi_ops_fabric),
    .domain = fabric_open_domain,
    .passive_ep = fabric_open_passive,
    .eq_open = fabric_open_eq,
    .wait_open = fabric_open_wait,
    .trywait = fabric_trywait,
    .domain2 = fabric_open_domain2,
};

// The name as the table spells it, or nullptr when no interface is on that network (any more).
const Offer* find_network(const Table& table, const Provider& provider, const char* name) {
    for (const Offer& offer : table) {
        if (offer.provider != &provider) continue;
        if (!name || strcmp(name, offer.fabric_name) == 0) return &offer;
    }
    return nullptr;
}

const Provider* provider_of(const char* text) {
    const ProviderName name = parse_provider_name(text);
    if (!name.valid) return nullptr;
    if (name.provider) return name.provider;
    for (const Provider* provider : all_providers()) {
        // A layer alone: the first provider that carries it.
        if (name.admits(*provider) && is_registered(provider->name)) return provider;
    }
    return nullptr;
}

}  // namespace

int open_fabric(Layout layout, const fi_fabric_attr* attr, fid_fabric** result, void* context) {
    if (!attr || !attr->prov_name || !result) return -FI_EINVAL;
    *result = nullptr;
    const uint32_t version = layout == Layout::V1_0 ? FI_VERSION(1, 0) : attr->api_version;
    if (version > newest_version()) return -FI_ENOSYS;
    const Provider* provider = provider_of(attr->prov_name);
    if (!provider) return -FI_ENODEV;
    TableRef table;
    const int no_table = current_table(provider->discover_follows_interfaces, &table);
    if (no_table) return no_table;
    const Offer* network = find_network(*table, *provider, attr->name);
    if (!network) return -FI_ENODATA;

    auto* fabric = create<Fabric>();
    if (!fabric) return -FI_ENOMEM;
    init_fid(fabric->descriptor.fid, FI_CLASS_FABRIC, context, kFidOps);
    fabric->descriptor.ops = const_cast<fi_ops_fabric*>(&kFabricOps);
    fabric->descriptor.api_version = version;
    fabric->provider = provider;
    fabric->api_version = version;
    snprintf(fabric->name, sizeof fabric->name, "%s", network->fabric_name);
    note_opened(fabric);
    *result = &fabric->descriptor;
    return 0;
}

}  // namespace selvage::impl
