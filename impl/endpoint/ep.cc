// See ep.h: opening and closing.
#include "impl/endpoint/ep.h"

#include "impl/catalog/capabilities.h"
#include "impl/catalog/registry.h"
#include "impl/endpoint/atomic_types.h"
#include "impl/endpoint/connect.h"
#include "impl/endpoint/datapath.h"
#include "impl/endpoint/endpoint_ops.h"
#include "impl/endpoint/insisted.h"
#include "impl/endpoint/scalable.h"
#include "impl/endpoint/triggering.h"
#include "impl/fabric/opened.h"

namespace selvage::impl {
namespace {

constexpr fi_ops kFidOps = make_fid_ops(close_endpoint, bind_endpoint, control_endpoint);

int take_shm_address(Endpoint* endpoint, const fi_info& info) {
    ParsedAddress parsed;
    if (info.src_addr) {
        if (!read_address(FI_ADDR_STR, info.src_addr, info.src_addrlen, &parsed)) return -FI_EINVAL;
        if (parsed.kind != AddressKind::Shm) return -FI_EINVAL;
    }
    if (parsed.kind == AddressKind::Shm && strlen(parsed.shm) > kShmScheme.size()) {
        memcpy(endpoint->shm_address, parsed.shm, sizeof parsed.shm);
        return 0;
    }
    return endpoint->domain->fabric->provider->choose_address(endpoint->shm_address);
}

// The source of a connection request is whatever address of this machine it came to.
int take_socket_address(Endpoint* endpoint, const fi_info& info) {
    endpoint->address = endpoint->domain->source;
    if (!info.src_addr) return 0;
    ParsedAddress parsed;
    if (!read_address(info.addr_format, info.src_addr, info.src_addrlen, &parsed)) return -FI_EINVAL;
    if (parsed.kind != endpoint->domain->kind && !parsed.any_host) return -FI_EINVAL;
    if (parsed.any_host || parsed.socket.is_wildcard()) {
        const uint16_t port = parsed.socket.port();
        endpoint->address.set_port(port);
        if (endpoint->domain->fabric->provider->binds_wildcard) {
            endpoint->address = SocketAddress::wildcard(endpoint->domain->kind, port);
        }
    } else if (info.handle || parsed.socket.same_host(endpoint->domain->source)) {
        endpoint->address = parsed.socket;
    } else {
        return -FI_EADDRNOTAVAIL;
    }
    return 0;
}

int take_address(Endpoint* endpoint, const fi_info& info) {
    if (endpoint->domain->kind == AddressKind::Shm) return take_shm_address(endpoint, info);
    return take_socket_address(endpoint, info);
}

// The offer for this type on the domain, in the table of now or, when the interface is gone, none.
const Offer* find_offer(const Table& table, const Domain& domain, fi_ep_type type) {
    for (const Offer& offer : table) {
        if (offer.provider != domain.fabric->provider || offer.set.ep.type != type) continue;
        if (offer.kind != domain.kind) continue;
        if (strcmp(offer.domain_name, domain.name) == 0 && strcmp(offer.fabric_name, domain.fabric->name) == 0) {
            return &offer;
        }
    }
    return nullptr;
}

fi_ep_type type_of(const InfoSet& set, bool given) {
    return given && set.ep.type != FI_EP_UNSPEC ? set.ep.type : FI_EP_RDM;
}

// Attributes may have been edited since fi_getinfo; what the offer cannot do is refused here as it would be there.
int check_limits(const InfoSet& set, const Domain& domain, const Offer& offer) {
    const uint64_t offered = offer.set.info.caps | offer.by_name | (offer.caps() & domain.caps & FI_HMEM);
    if ((set.info.caps | set.tx.caps | set.rx.caps) & ~offered) return -FI_EINVAL;
    if (set.tx.caps && !(set.tx.caps & kTransmitCaps)) return -FI_EINVAL;
    if (set.rx.caps && !(set.rx.caps & kReceiveCaps)) return -FI_EINVAL;
    if (set.tx.size > offer.tx_size_max || set.rx.size > offer.rx_size_max) return -FI_EINVAL;
    if (set.tx.inject_size > offer.set.tx.inject_size) return -FI_EINVAL;
    if (set.tx.iov_limit > offer.set.tx.iov_limit || set.rx.iov_limit > offer.set.rx.iov_limit) return -FI_EINVAL;
    if (set.tx.rma_iov_limit > offer.set.tx.rma_iov_limit) return -FI_EINVAL;
    if ((set.tx.op_flags & ~offer.set.tx.op_flags) || (set.rx.op_flags & ~offer.set.rx.op_flags)) return -FI_EBADFLAGS;
    const auto counts = [](size_t requested, size_t most) {
        return requested <= most || requested == FI_SHARED_CONTEXT;
    };
    const fi_domain_attr& most = offer.set.domain;
    return counts(set.ep.tx_ctx_cnt, most.max_ep_tx_ctx) && counts(set.ep.rx_ctx_cnt, most.max_ep_rx_ctx) ? 0
                                                                                                          : -FI_EINVAL;
}

void take_attributes(Endpoint* endpoint, const InfoSet& set, const Offer& offer) {
    endpoint->caps = set.info.caps ? with_implied_modifiers(set.info.caps) : offer.set.info.caps;
    endpoint->tx = set.info.tx_attr ? set.tx : offer.set.tx;
    endpoint->rx = set.info.rx_attr ? set.rx : offer.set.rx;
    endpoint->tx.caps &= kTransmitCaps;  // what is of the other side counts for nothing
    endpoint->rx.caps &= kReceiveCaps;
    if (!endpoint->tx.caps) endpoint->tx.caps = context_caps(endpoint->caps, kTransmitCaps);
    if (!endpoint->rx.caps) endpoint->rx.caps = context_caps(endpoint->caps, kReceiveCaps);
    if (!endpoint->tx.size) endpoint->tx.size = offer.set.tx.size;
    if (!endpoint->rx.size) endpoint->rx.size = offer.set.rx.size;
    endpoint->tx_flags = set.tx.op_flags;
    endpoint->rx_flags = set.rx.op_flags;
    endpoint->min_multi_recv = kMinMultiRecv;
    endpoint->rx.mode |= set.info.mode & FI_BUFFERED_RECV;
    endpoint->buffered = Endpoint::buffers(endpoint->rx);
    endpoint->shared_transmit = set.ep.tx_ctx_cnt == FI_SHARED_CONTEXT;
    endpoint->shared_receive = set.ep.rx_ctx_cnt == FI_SHARED_CONTEXT;
    const auto contexts = [](size_t count, bool shared) { return shared || !count ? 1 : count; };
    endpoint->tx_contexts = contexts(set.ep.tx_ctx_cnt, endpoint->shared_transmit);
    endpoint->rx_contexts = contexts(set.ep.rx_ctx_cnt, endpoint->shared_receive);
    endpoint->addr_format = endpoint->domain->addr_format;
    endpoint->tx_size_max = offer.tx_size_max;
    endpoint->rx_size_max = offer.rx_size_max;
    endpoint->max_msg_size = set.ep.max_msg_size ? set.ep.max_msg_size : offer.set.ep.max_msg_size;
}

int current_offer(const Domain& domain, fi_ep_type type, TableRef* table, const Offer** offer) {
    const int no_table = current_table(domain.fabric->provider->discover_follows_interfaces, table);
    if (no_table) return no_table;
    *offer = find_offer(**table, domain, type);
    return *offer ? 0 : -FI_EINVAL;
}

int open_endpoint(Domain& domain, const fi_info& info, fid_ep** result, void* context) {
    auto* endpoint = create<Endpoint>();
    if (!endpoint) return -FI_ENOMEM;
    int error = prepare_endpoint(endpoint, domain, info);
    if (!error && endpoint->connected_type()) error = open_connection(endpoint, info.handle);
    if (error) {
        destroy(endpoint);
        return error;
    }
    init_endpoint_descriptor(endpoint, context);
    *result = &endpoint->descriptor;
    return 0;
}

void drop_alias(Endpoint* alias) {
    LockGuard guard(alias->base->lock);
    Endpoint** link = &alias->base->aliases;
    while (*link && *link != alias) link = &(*link)->next_alias;
    if (*link) *link = alias->next_alias;
}

// What it depends on.
UseCount& parent_of(const Endpoint& endpoint) {
    return endpoint.scalable ? endpoint.scalable->uses : endpoint.domain->uses;
}

}  // namespace

int prepare_endpoint(Endpoint* endpoint, Domain& domain, const fi_info& info) {
    InfoSet set;
    set.widen_from(info, layout_of_version(domain.version()));
    endpoint->domain = &domain;
    endpoint->type = type_of(set, info.ep_attr != nullptr);
    TableRef table;
    const Offer* offer;
    int error = current_offer(domain, endpoint->type, &table, &offer);
    if (!error) error = check_limits(set, domain, *offer);
    if (error) return error;
    if (!info.tx_attr) set.info.tx_attr = nullptr;
    if (!info.rx_attr) set.info.rx_attr = nullptr;
    take_attributes(endpoint, set, *offer);
    return take_address(endpoint, set.info);
}

int check_context_limits(const Endpoint& scalable, const InfoSet& set) {
    TableRef table;
    const Offer* offer;
    const int error = current_offer(*scalable.domain, scalable.type, &table, &offer);
    return error ? error : check_limits(set, *scalable.domain, *offer);
}

void Endpoint::settle_flags() {
    tx_always = base->selective_transmit ? 0 : FI_COMPLETION;
    rx_always = base->selective_receive ? 0 : FI_COMPLETION;
    tx_defaults = tx_flags | tx_always;
    rx_defaults = rx_flags | rx_always;
}

void share_path(const Endpoint& base, Endpoint* alias) {
    alias->path = base.path;
    choose_tables(alias);
    alias->settle_flags();
}

void init_endpoint_descriptor(Endpoint* endpoint, void* context) {
    fid_ep& descriptor = endpoint->descriptor;
    const Endpoint& base = *endpoint->base;
    init_fid(descriptor.fid, base.fclass, context, kFidOps);
    descriptor.ops = const_cast<fi_ops_ep*>(&kEndpointOps);
    descriptor.cm = const_cast<fi_ops_cm*>(base.scalable           ? &kContextCm
                                           : base.connected_type() ? &kConnectedCm
                                                                   : &kEndpointCm);
    descriptor.msg = const_cast<fi_ops_msg*>(&kDisabledMsg);
    descriptor.rma = const_cast<fi_ops_rma*>(&kDisabledRma);
    descriptor.tagged = const_cast<fi_ops_tagged*>(&kDisabledTagged);
    descriptor.atomic = const_cast<fi_ops_atomic*>(&kDisabledAtomic);
    descriptor.collective =
        const_cast<fi_ops_collective*>(endpoint->caps & FI_COLLECTIVE ? &kDisabledCollective : &kMissingCollective);
}

int close_endpoint(fid* descriptor) {
    auto* endpoint = object_of<Endpoint>(descriptor);
    if (!endpoint->uses.close()) return -FI_EBUSY;
    if (endpoint->base != endpoint) {
        drop_alias(endpoint);
        endpoint->base->uses.release();
    } else {
        detach_connection(endpoint);
        if (endpoint->path) {
            endpoint->domain->region_counters.remove_path(endpoint->path);
            endpoint->domain->work.stop(*endpoint);
            endpoint->path->close();
            if (endpoint->checks) drop_checks(*endpoint);
            endpoint->domain->work.forget(*endpoint);
        }
        destroy_connection(endpoint);
        if (endpoint->scalable) forget_context(endpoint);
        release_bindings(endpoint);
        parent_of(*endpoint).release();
    }
    destroy(endpoint);
    return 0;
}

int domain_open_endpoint2(fid_domain* descriptor, fi_info* info, fid_ep** result, uint64_t flags, void* context) {
    if (!descriptor || !info || !result) return -FI_EINVAL;
    *result = nullptr;
    if (flags) return flags & (FI_PEER | FI_PEER_TRANSFER) ? -FI_ENOSYS : -FI_EBADFLAGS;
    auto* domain = Domain::of(descriptor);
    Use use(domain->uses);
    if (!use) return -FI_EINVAL;
    const int error = open_endpoint(*domain, *info, result, context);
    if (!error) use.keep();
    return error;
}

int domain_open_endpoint(fid_domain* domain, fi_info* info, fid_ep** result, void* context) {
    return domain_open_endpoint2(domain, info, result, 0, context);
}

}  // namespace selvage::impl
