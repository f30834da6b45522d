// See domain.h.
#include "impl/domain/domain.h"

#include <cstdio>

#include "impl/catalog/registry.h"
#include "impl/domain/mr.h"
#include "impl/events/eq.h"
#include "impl/fabric/opened.h"

namespace selvage::impl {

namespace {

int close_domain(fid* descriptor) {
    auto* domain = object_of<Domain>(descriptor);
    if (!domain->uses.close()) return -FI_EBUSY;
    note_closed(domain);
    domain->automatic.stop();
    if (domain->eq) domain->eq->uses.release();
    if (const MemoryOps* memory = domain->fabric->provider->memory) memory->close(*domain);
    domain->fabric->uses.release();
    destroy(domain);
    return 0;
}

int bind_domain(fid* descriptor, fid* other, uint64_t flags) {
    auto* domain = object_of<Domain>(descriptor);
    if (!other) return -FI_EINVAL;
    if (flags & ~FI_REG_MR) return -FI_EBADFLAGS;
    if (other->fclass != FI_CLASS_EQ) return -FI_EINVAL;
    auto* eq = object_of<EventQueue>(other);
    if (eq->fabric != domain->fabric) return -FI_EDOMAIN;
    LockGuard guard(domain->lock);
    if (domain->eq && domain->eq != eq) return -FI_EBUSY;
    if (!domain->eq) {
        if (!eq->uses.acquire()) return -FI_EINVAL;
        domain->eq = eq;
    }
    if (flags & FI_REG_MR) domain->register_async = true;
    return 0;
}

// No interface of this library lies below the domain.
int open_ops(fid*, const char* name, uint64_t, void** ops, void*) {
    if (!name || !ops) return -FI_EINVAL;
    *ops = nullptr;
    return -FI_ENOSYS;
}

int set_ops(fid* descriptor, const char* name, uint64_t flags, void* ops, void*) {
    auto* domain = object_of<Domain>(descriptor);
    if (!name) return -FI_EINVAL;
    if (strcmp(name, FI_SET_OPS_HMEM_OVERRIDE) != 0) return -FI_ENOSYS;
    if (flags) return -FI_EBADFLAGS;
    const auto* hmem = static_cast<const fi_hmem_override_ops*>(ops);
    if (!hmem || hmem->size < sizeof *hmem || !hmem->copy_from_hmem_iov || !hmem->copy_to_hmem_iov) return -FI_EINVAL;
    LockGuard guard(domain->lock);
    domain->hmem = *hmem;
    domain->hmem.size = sizeof domain->hmem;
    return 0;
}

constexpr fi_ops kFidOps = make_fid_ops(close_domain, bind_domain, domain_control, open_ops, set_ops);

constexpr fi_ops_domain kDomainOps = {
    .size = sizeof(fi_ops_domain),
    .av_open = domain_open_av,
    .cq_open = domain_open_cq,
    .endpoint = domain_open_endpoint,
    .scalable_ep = domain_open_scalable,
    .cntr_open = domain_open_counter,
    .poll_open = domain_open_poll,
    .stx_ctx = domain_open_shared_transmit,
    .srx_ctx = domain_open_shared_receive,
    .query_atomic = domain_query_atomic,
    .query_collective = domain_query_collective,
    .endpoint2 = domain_open_endpoint2,
};

// Addresses of queue pairs are of domains of their own, for those who name none.
bool speaks(const Offer& offer, uint32_t format) {
    return (format == FI_ADDR_IB_UD) == (offer.kind == AddressKind::IbUd);
}

const Offer* find_interface(const Table& table, const Fabric& fabric, const char* name, uint32_t format) {
    for (const Offer& offer : table) {
        if (!speaks(offer, format)) continue;
        if (offer.provider != fabric.provider || strcmp(offer.fabric_name, fabric.name) != 0) continue;
        if (!name || strcmp(name, offer.domain_name) == 0) return &offer;
    }
    return nullptr;
}

// Attributes that are a choice have been chosen by fi_getinfo; a zero that an application put back is chosen here.
void fill_unspecified(fi_domain_attr& attr, const fi_domain_attr& offered) {
    if (attr.threading == FI_THREAD_UNSPEC) attr.threading = offered.threading;
    if (attr.control_progress == FI_PROGRESS_UNSPEC) attr.control_progress = offered.control_progress;
    if (attr.data_progress == FI_PROGRESS_UNSPEC) attr.data_progress = offered.data_progress;
    if (attr.resource_mgmt == FI_RM_UNSPEC) attr.resource_mgmt = offered.resource_mgmt;
}

int take_attributes(Domain& domain, const fi_info& info, const Offer& offer) {
    domain.attr = info.domain_attr ? *info.domain_attr : static_cast<const fi_domain_attr&>(offer.set.domain);
    if (domain.version() < FI_VERSION(1, 5)) domain.attr.auth_key_size = 0;
    const size_t key_size = domain.attr.auth_key_size;
    if (key_size > sizeof domain.auth_key || (key_size && !domain.attr.auth_key)) return -FI_EINVAL;
    if (key_size) memcpy(domain.auth_key, domain.attr.auth_key, key_size);
    domain.attr.domain = nullptr;
    domain.attr.name = nullptr;
    domain.attr.auth_key = nullptr;
    fill_unspecified(domain.attr, offer.set.domain);
    return 0;
}

// What the caller owns of the info depends on the version the fabric was opened with.
int open_domain(Fabric& fabric, const fi_info& caller_info, fid_domain** result, void* context) {
    InfoSet set;
    set.widen_from(caller_info, layout_of_version(fabric.api_version));
    if (!caller_info.domain_attr) set.info.domain_attr = nullptr;
    TableRef table;
    const int no_table = current_table(fabric.provider->discover_follows_interfaces, &table);
    if (no_table) return no_table;
    const Offer* offer = find_interface(*table, fabric, set.domain.name, set.info.addr_format);
    if (!offer) return -FI_ENODATA;

    auto* domain = create<Domain>();
    if (!domain) return -FI_ENOMEM;
    domain->fabric = &fabric;
    domain->kind = offer->kind;
    domain->source = offer->source;
    domain->host = offer->kind == AddressKind::IbUd ? offer->host : offer->source;
    domain->interface = offer->interface;
    domain->caps = set.info.caps;
    domain->duties = offer->mr_mode;
    domain->addr_format = set.info.addr_format ? set.info.addr_format : offer->set.info.addr_format;
    snprintf(domain->name, sizeof domain->name, "%s", offer->domain_name);
    int error = take_attributes(*domain, set.info, *offer);
    const MemoryOps* memory = fabric.provider->memory;
    if (!error && memory) error = memory->open(*domain);
    if (error) {
        destroy(domain);
        return error;
    }
    init_fid(domain->descriptor.fid, FI_CLASS_DOMAIN, context, kFidOps);
    domain->descriptor.ops = const_cast<fi_ops_domain*>(&kDomainOps);
    domain->descriptor.mr = const_cast<fi_ops_mr*>(&kMrOps);
    note_opened(domain);
    *result = &domain->descriptor;
    return 0;
}

}  // namespace

int fabric_open_domain2(fid_fabric* descriptor, fi_info* info, fid_domain** result, uint64_t flags, void* context) {
    if (!descriptor || !info || !result) return -FI_EINVAL;
    *result = nullptr;
    // The only flag there is opens a domain for a peer provider, which none here is.
    if (flags) return flags == FI_PEER ? -FI_ENOSYS : -FI_EBADFLAGS;
    auto* fabric = Fabric::of(descriptor);
    Use use(fabric->uses);
    if (!use) return -FI_EINVAL;
    const int error = open_domain(*fabric, *info, result, context);
    if (!error) use.keep();
    return error;
}

int fabric_open_domain(fid_fabric* descriptor, fi_info* info, fid_domain** result, void* context) {
    return fabric_open_domain2(descriptor, info, result, 0, context);
}

}  // namespace selvage::impl
