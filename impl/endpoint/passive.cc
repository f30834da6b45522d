// See passive.h.
#include "impl/endpoint/passive.h"

#include <algorithm>

#include "impl/catalog/info_memory.h"
#include "impl/catalog/registry.h"
#include "impl/endpoint/connect.h"
#include "impl/endpoint/endpoint_ops.h"
#include "impl/events/eq.h"

namespace selvage::impl {

int export_address(const SocketAddress& address, uint32_t format, void* out, size_t* length) {
    if (!length || (*length && !out)) return -FI_EINVAL;
    char bytes[kAddressBytesMax];
    size_t needed;
    if (format == FI_ADDR_STR) {
        needed = write_text_address(address, FI_SOCKADDR_IN, bytes, sizeof bytes);
    } else {
        needed = address.length();
        memcpy(bytes, address.bytes(), needed);
    }
    const size_t room = *length;
    if (room) memcpy(out, bytes, std::min(room, needed));
    *length = needed;
    return room < needed ? -FI_ETOOSMALL : 0;
}

namespace {

// In opened objects the address is as it was asked for; the port is chosen when the endpoint listens.
int get_name(fid* descriptor, void* address, size_t* length) {
    auto* endpoint = object_of<PassiveEndpoint>(descriptor);
    LockGuard guard(endpoint->lock);
    SocketAddress name = endpoint->address;
    if (name.is_wildcard()) {
        name = endpoint->interface;
        name.set_port(endpoint->address.port());
    }
    return export_address(name, endpoint->addr_format, address, length);
}

int set_name(fid* descriptor, void* address, size_t length) {
    auto* endpoint = object_of<PassiveEndpoint>(descriptor);
    ParsedAddress parsed;
    if (!read_address(endpoint->addr_format, address, length, &parsed) || parsed.kind == AddressKind::Shm ||
        parsed.kind == AddressKind::IbUd || parsed.any_host) {
        return -FI_EINVAL;
    }
    LockGuard guard(endpoint->lock);
    if (endpoint->listener || endpoint->spent) return -FI_EOPBADSTATE;
    endpoint->address = parsed.socket;
    return 0;
}

const ConnectionOps* ops_of(const PassiveEndpoint& endpoint) { return endpoint.fabric->provider->connections; }

int listen_on(fid_pep* descriptor) {
    auto* endpoint = PassiveEndpoint::of(descriptor);
    LockGuard guard(endpoint->lock);
    if (!endpoint->eq) return -FI_ENOEQ;
    if (endpoint->spent) return -FI_EOPBADSTATE;
    if (endpoint->listener) return -FI_EALREADY;
    const ConnectionOps* ops = ops_of(*endpoint);
    if (!ops) return -FI_ENOSYS;
    Listener* listener = nullptr;
    int error = ops->listen(*endpoint, &listener);
    if (error) return error;
    error = endpoint->eq->attach(listener);
    if (error) {
        listener->close();
        return error;
    }
    endpoint->listener = listener;
    return 0;
}

int reject(fid_pep* descriptor, fid* handle, const void* data, size_t size) {
    auto* endpoint = PassiveEndpoint::of(descriptor);
    if (size && !data) return -FI_EINVAL;
    ConnectionRequest* request = take_request(*endpoint, handle);
    if (!request) return -FI_EINVAL;
    const ConnectionOps& ops = *ops_of(*endpoint);
    destroy_request(request, ops, true, data, std::min(size, ops.data_max));
    return 0;
}

// Nobody is inside the listener any more when the requests are refused.
void stop_listening(PassiveEndpoint& endpoint) {
    if (!endpoint.listener) return;
    endpoint.eq->detach(endpoint.listener);
    while (ConnectionRequest* request = take_request(endpoint, nullptr)) {
        destroy_request(request, *ops_of(endpoint), false, nullptr, 0);
    }
    endpoint.listener->close();
    endpoint.listener = nullptr;
}

int close_passive(fid* descriptor) {
    auto* endpoint = object_of<PassiveEndpoint>(descriptor);
    if (!endpoint->uses.close()) return -FI_EBUSY;
    note_closed(endpoint);
    stop_listening(*endpoint);
    if (endpoint->eq) endpoint->eq->uses.release();
    endpoint->fabric->uses.release();
    free_info_list(endpoint->info, kNewestLayout);
    destroy(endpoint);
    return 0;
}

int bind_passive(fid* descriptor, fid* other, uint64_t flags) {
    auto* endpoint = object_of<PassiveEndpoint>(descriptor);
    if (!other || other->fclass != FI_CLASS_EQ) return -FI_EINVAL;
    if (flags) return -FI_EBADFLAGS;
    auto* eq = object_of<EventQueue>(other);
    if (eq->fabric != endpoint->fabric) return -FI_EINVAL;
    LockGuard guard(endpoint->lock);
    if (endpoint->eq) return -FI_EBUSY;
    if (!eq->uses.acquire()) return -FI_EINVAL;
    endpoint->eq = eq;
    return 0;
}

int control_passive(fid* descriptor, int command, void* argument) {
    auto* endpoint = object_of<PassiveEndpoint>(descriptor);
    if (command != FI_BACKLOG) return without_command(command);
    if (!argument) return -FI_EINVAL;
    LockGuard guard(endpoint->lock);
    endpoint->backlog = *static_cast<const int*>(argument);
    return 0;
}

constexpr fi_ops kFidOps = make_fid_ops(close_passive, bind_passive, control_passive);

constexpr fi_ops_cm make_cm_ops() {
    fi_ops_cm ops = kMissingCm;
    ops.setname = set_name;
    ops.getname = get_name;
    ops.listen = listen_on;
    ops.reject = reject;
    return ops;
}
constexpr fi_ops_cm kCmOps = make_cm_ops();

int get_option(fid* descriptor, int level, int option, void* value, size_t* length) {
    return get_connection_option(ops_of(*object_of<PassiveEndpoint>(descriptor)), level, option, value, length);
}

constexpr fi_ops_ep make_ep_ops() {
    fi_ops_ep ops = kMissingEp;
    ops.getopt = get_option;
    ops.setopt = set_connection_option;
    return ops;
}
constexpr fi_ops_ep kEpOps = make_ep_ops();

bool interface_of(const Fabric& fabric, SocketAddress* out) {
    TableRef table;
    if (current_table(true, &table)) return false;
    for (const Offer& offer : *table) {
        if (offer.kind == AddressKind::IbUd) continue;
        if (offer.provider == fabric.provider && strcmp(offer.fabric_name, fabric.name) == 0) {
            *out = offer.source;
            return true;
        }
    }
    return false;
}

// Where it listens, and what peers get who ask for its name while that is the wildcard.
bool take_addresses(PassiveEndpoint& endpoint, const fi_info& info) {
    const bool known = interface_of(*endpoint.fabric, &endpoint.interface);
    endpoint.address = endpoint.interface;
    if (!info.src_addr) return known;
    ParsedAddress parsed;
    if (!read_address(info.addr_format, info.src_addr, info.src_addrlen, &parsed)) return false;
    if (parsed.kind == AddressKind::Shm || parsed.kind == AddressKind::IbUd || parsed.any_host) return false;
    endpoint.address = parsed.socket;
    return known || !endpoint.address.is_wildcard();
}

// What the requests of callers are made from, and the key that callers have to hold, as far as it is known here.
bool keep_info(PassiveEndpoint& endpoint, const fi_info& info) {
    const Layout layout = layout_of_version(endpoint.fabric->api_version);
    endpoint.info = duplicate_info(info, layout);
    if (!endpoint.info) return false;
    InfoSet set;
    set.widen_from(info, layout);
    if (!info.domain_attr || endpoint.fabric->api_version < FI_VERSION(1, 5)) return true;
    if (set.domain.auth_key && set.domain.auth_key_size <= sizeof endpoint.auth_key) {
        endpoint.auth_key_size = set.domain.auth_key_size;
        memcpy(endpoint.auth_key, set.domain.auth_key, endpoint.auth_key_size);
    }
    return true;
}

}  // namespace

int spend_passive(PassiveEndpoint& endpoint, SocketAddress* address) {
    LockGuard guard(endpoint.lock);
    if (endpoint.spent) return -FI_EOPBADSTATE;
    stop_listening(endpoint);
    endpoint.spent = true;
    *address = endpoint.address;
    return 0;
}

int fabric_open_passive(fid_fabric* descriptor, fi_info* info, fid_pep** result, void* context) {
    if (!descriptor || !info || !result) return -FI_EINVAL;
    *result = nullptr;
    auto* fabric = Fabric::of(descriptor);
    // Shared memory has no connected endpoints, and so nothing that listens.
    if (!fabric->provider->offers(FI_EP_MSG)) return -FI_ENOSYS;
    if (info->ep_attr && info->ep_attr->type != FI_EP_MSG && info->ep_attr->type != FI_EP_UNSPEC) return -FI_EINVAL;
    Use use(fabric->uses);
    if (!use) return -FI_EINVAL;
    auto* endpoint = create<PassiveEndpoint>();
    if (!endpoint) return -FI_ENOMEM;
    endpoint->fabric = fabric;
    if (!take_addresses(*endpoint, *info)) {
        destroy(endpoint);
        return -FI_EINVAL;
    }
    endpoint->addr_format = info->addr_format;
    if (!endpoint->addr_format) {
        endpoint->addr_format = endpoint->address.kind == AddressKind::Inet ? FI_SOCKADDR_IN : FI_SOCKADDR_IN6;
    }
    if (!keep_info(*endpoint, *info)) {
        free_info_list(endpoint->info, kNewestLayout);
        destroy(endpoint);
        return -FI_ENOMEM;
    }
    init_fid(endpoint->descriptor.fid, FI_CLASS_PEP, context, kFidOps);
    endpoint->descriptor.ops = const_cast<fi_ops_ep*>(&kEpOps);
    endpoint->descriptor.cm = const_cast<fi_ops_cm*>(&kCmOps);
    note_opened(endpoint);
    use.keep();
    *result = &endpoint->descriptor;
    return 0;
}

}  // namespace selvage::impl
