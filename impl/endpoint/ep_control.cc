// Control of an endpoint: operation flags, options, names, aliases.
#include <algorithm>

#include "impl/base/abi_2x.h"
#include "impl/catalog/capabilities.h"
#include "impl/endpoint/atomic_types.h"
#include "impl/endpoint/collective_calls.h"
#include "impl/endpoint/datapath.h"
#include "impl/endpoint/endpoint_ops.h"
#include "impl/endpoint/ep.h"
#include "impl/endpoint/passive.h"
#include "impl/endpoint/scalable.h"
#include "impl/endpoint/triggering.h"
#include "impl/hmem/hmem.h"

namespace selvage::impl {
namespace {

// The flags carry FI_TRANSMIT or FI_RECV, not both, to say which side they are about.
int pick_side(uint64_t flags, bool* transmit) {
    const uint64_t side = flags & (FI_TRANSMIT | FI_RECV);
    if (side != FI_TRANSMIT && side != FI_RECV) return -FI_EINVAL;
    *transmit = side == FI_TRANSMIT;
    return 0;
}

int get_op_flags(Endpoint* endpoint, uint64_t* flags) {
    bool transmit;
    if (!flags) return -FI_EINVAL;
    const int error = pick_side(*flags, &transmit);
    if (error) return error;
    LockGuard guard(endpoint->base->lock);
    *flags = transmit ? endpoint->tx_flags : endpoint->rx_flags;
    return 0;
}

int apply_op_flags(Endpoint* endpoint, uint64_t flags) {
    bool transmit;
    const int error = pick_side(flags, &transmit);
    if (error) return error;
    const uint64_t value = flags & ~(FI_TRANSMIT | FI_RECV);
    const uint64_t by_alias = endpoint->base != endpoint ? endpoint->caps & FI_TRIGGER : 0;
    const uint64_t known = by_alias | (transmit ? kTransmitOpFlags & ~FI_COMMIT_COMPLETE : kReceiveOpFlags);
    if ((value & ~known) || (value & FI_MULTICAST & ~endpoint->caps)) return -FI_EBADFLAGS;
    LockGuard guard(endpoint->base->lock);
    (transmit ? endpoint->tx_flags : endpoint->rx_flags) = value;
    endpoint->settle_flags();
    if (by_alias && endpoint->path) choose_tables(endpoint);
    return 0;
}

int make_alias(Endpoint* endpoint, struct fi_alias* request) {
    if (!request || !request->fid) return -FI_EINVAL;
    Endpoint* base = endpoint->base;
    Use use(base->uses);
    if (!use) return -FI_EINVAL;
    auto* alias = create<Endpoint>();
    if (!alias) return -FI_ENOMEM;
    alias->base = base;
    alias->domain = base->domain;
    alias->type = base->type;
    alias->caps = base->caps;
    alias->tx = base->tx;
    alias->rx = base->rx;
    {
        LockGuard guard(base->lock);
        alias->tx_flags = endpoint->tx_flags;
        alias->rx_flags = endpoint->rx_flags;
    }
    const int error = apply_op_flags(alias, request->flags);
    if (error) {
        destroy(alias);
        return error;
    }
    init_endpoint_descriptor(alias, endpoint->descriptor.fid.context);
    {
        LockGuard guard(base->lock);
        if (base->path) share_path(*base, alias);
        alias->next_alias = base->aliases;
        base->aliases = alias;
    }
    use.keep();
    *request->fid = &alias->descriptor.fid;
    return 0;
}

template <typename Value>
int get_plain(Value current, void* value, size_t* length) {
    return put_option(&current, sizeof current, value, length);
}

// What 2.x asks of each type of operation: the limits are the same for all, and atomics have one of their own.
int get_size_limit(const Endpoint& endpoint, int option, void* value, size_t* length) {
    switch (option) {
        case kOptMaxMsgSize:
        case kOptMaxTaggedSize:
        case kOptMaxRmaSize:
            return get_plain(endpoint.max_msg_size, value, length);
        case kOptMaxAtomicSize:
            return get_plain(std::min(endpoint.max_msg_size, kAtomicBytesMax), value, length);
        case kOptInjectMsgSize:
        case kOptInjectTaggedSize:
        case kOptInjectRmaSize:
            return get_plain(endpoint.tx.inject_size, value, length);
        case kOptInjectAtomicSize:
            return get_plain(std::min(endpoint.tx.inject_size, kAtomicBytesMax), value, length);
        default:
            return -FI_ENOPROTOOPT;
    }
}

int get_option(fid* descriptor, int level, int option, void* value, size_t* length) {
    Endpoint* endpoint = object_of<Endpoint>(descriptor)->base;
    if (level != FI_OPT_ENDPOINT) return -FI_ENOPROTOOPT;
    LockGuard guard(endpoint->lock);
    switch (option) {
        case FI_OPT_MIN_MULTI_RECV:
            return get_plain(endpoint->min_multi_recv, value, length);
        case FI_OPT_CM_DATA_SIZE:
            return endpoint->connected_type() ? get_connection_option(endpoint->domain->fabric->provider->connections,
                                                                      level, option, value, length)
                                              : -FI_ENOPROTOOPT;
        case FI_OPT_TX_SIZE:
            return get_plain(endpoint->tx.size, value, length);
        case FI_OPT_RX_SIZE:
            return get_plain(endpoint->rx.size, value, length);
        case FI_OPT_FI_HMEM_P2P:
            return get_plain(static_cast<int>(FI_HMEM_P2P_DISABLED), value, length);
        case FI_OPT_XPU_TRIGGER:
            return -FI_EOPNOTSUPP;
        case FI_OPT_BUFFERED_LIMIT:
        case FI_OPT_BUFFERED_MIN:
            if (!endpoint->buffered) return -FI_ENOPROTOOPT;
            return get_plain(endpoint->buffered_options.get(option), value, length);
        default:
            return get_size_limit(*endpoint, option, value, length);
    }
}

template <typename Value>
bool take(const void* value, size_t length, Value* out) {
    if (!value || length != sizeof *out) return false;
    memcpy(out, value, sizeof *out);
    return true;
}

// There is no device memory, so every choice but "required" is kept trivially.
int set_p2p(const void* value, size_t length) {
    int choice;
    if (!take(value, length, &choice)) return -FI_EINVAL;
    if (choice < FI_HMEM_P2P_ENABLED || choice > FI_HMEM_P2P_DISABLED) return -FI_EINVAL;
    return choice == FI_HMEM_P2P_REQUIRED ? -FI_EOPNOTSUPP : 0;
}

// Memory of CUDA is copied by its driver's calls. What is so by default may be asked for.
int set_cuda_calls(const void* value, size_t length) {
    bool permitted;
    if (!take(value, length, &permitted) || !find_hmem_interface(FI_HMEM_CUDA)) return -FI_EINVAL;
    return permitted ? 0 : -FI_EOPNOTSUPP;
}

// Whether peers on this machine are exchanged with through memory; the shm provider knows no other way.
int set_shared_memory(Endpoint& endpoint, const void* value, size_t length) {
    bool permitted;
    if (!take(value, length, &permitted)) return -FI_EINVAL;
    if (endpoint.domain->kind == AddressKind::Shm) return permitted ? 0 : -FI_EOPNOTSUPP;
    if (endpoint.enabled) return -FI_EOPBADSTATE;
    endpoint.shares_memory = permitted;
    return 0;
}

// How many operations may be posted, up to the limit that fi_getinfo has, before the queues are made.
int set_queue_size(const Endpoint& endpoint, size_t* size, size_t most, const void* value, size_t length) {
    size_t requested;
    if (!take(value, length, &requested) || !requested || requested > most) return -FI_EINVAL;
    if (endpoint.enabled) return -FI_EOPBADSTATE;
    *size = requested;
    return 0;
}

// How much of a message is there when it is notified.
int set_buffered(Endpoint& endpoint, int option, const void* value, size_t length) {
    size_t requested;
    if (!endpoint.buffered) return -FI_ENOPROTOOPT;
    if (!take(value, length, &requested)) return -FI_EINVAL;
    return endpoint.enabled ? -FI_EOPBADSTATE : endpoint.buffered_options.set(option, requested);
}

int set_option(fid* descriptor, int level, int option, const void* value, size_t length) {
    Endpoint* endpoint = object_of<Endpoint>(descriptor)->base;
    if (level != FI_OPT_ENDPOINT) return -FI_ENOPROTOOPT;
    LockGuard guard(endpoint->lock);
    switch (option) {
        case FI_OPT_MIN_MULTI_RECV:
            return take(value, length, &endpoint->min_multi_recv) ? 0 : -FI_EINVAL;
        case FI_OPT_FI_HMEM_P2P:
            return set_p2p(value, length);
        case FI_OPT_CM_DATA_SIZE:
        case FI_OPT_XPU_TRIGGER:
            return -FI_EINVAL;  // can be read only
        case FI_OPT_TX_SIZE:
            return set_queue_size(*endpoint, &endpoint->tx.size, endpoint->tx_size_max, value, length);
        case FI_OPT_RX_SIZE:
            return set_queue_size(*endpoint, &endpoint->rx.size, endpoint->rx_size_max, value, length);
        case FI_OPT_BUFFERED_LIMIT:
        case FI_OPT_BUFFERED_MIN:
            return set_buffered(*endpoint, option, value, length);
        case kOptCudaApiPermitted:
            return set_cuda_calls(value, length);
        case kOptSharedMemoryPermitted:
            return set_shared_memory(*endpoint, value, length);
        default:
            return -FI_ENOPROTOOPT;
    }
}

int get_shm_name(const Endpoint& endpoint, void* address, size_t* length) {
    if (!length || (*length && !address)) return -FI_EINVAL;
    const size_t needed = strlen(endpoint.shm_address) + 1;
    const size_t room = *length;
    if (room) memcpy(address, endpoint.shm_address, std::min(room, needed));
    *length = needed;
    return room < needed ? -FI_ETOOSMALL : 0;
}

int get_name(fid* descriptor, void* address, size_t* length) {
    Endpoint* endpoint = object_of<Endpoint>(descriptor)->base;
    if (endpoint->scalable) endpoint = endpoint->scalable;
    LockGuard guard(endpoint->lock);
    if (endpoint->domain->kind == AddressKind::Shm) return get_shm_name(*endpoint, address, length);
    return export_address(reachable_address(*endpoint), endpoint->addr_format, address, length);
}

}  // namespace

SocketAddress reachable_address(const Endpoint& endpoint) {
    if (!endpoint.address.is_wildcard()) return endpoint.address;
    SocketAddress address = endpoint.domain->source;
    address.set_port(endpoint.address.port());
    address.context = endpoint.address.context;
    return address;
}

int set_endpoint_name(fid* descriptor, void* address, size_t length) {
    Endpoint* endpoint = object_of<Endpoint>(descriptor)->base;
    ParsedAddress parsed;
    if (!read_address(endpoint->addr_format, address, length, &parsed)) return -FI_EINVAL;
    LockGuard guard(endpoint->lock);
    if (endpoint->enabled) return -FI_EOPBADSTATE;
    if (parsed.kind != endpoint->domain->kind) return -FI_EINVAL;
    if (parsed.kind == AddressKind::Shm) {
        memcpy(endpoint->shm_address, parsed.shm, sizeof parsed.shm);
    } else {
        endpoint->address = parsed.socket;
    }
    return 0;
}

namespace {

ssize_t transmit_left(fid_ep* descriptor) {
    const Endpoint* endpoint = Endpoint::of(descriptor)->base;
    if (!endpoint->enabled) return -FI_EOPBADSTATE;
    return static_cast<ssize_t>(endpoint->path ? endpoint->path->transmit_left() : endpoint->tx.size);
}

ssize_t receive_left(fid_ep* descriptor) {
    const Endpoint* endpoint = Endpoint::of(descriptor)->base;
    if (!endpoint->enabled) return -FI_EOPBADSTATE;
    return static_cast<ssize_t>(endpoint->path ? endpoint->path->receive_left() : endpoint->rx.size);
}

ssize_t cancel(fid* descriptor, void* context) {
    Endpoint* endpoint = object_of<Endpoint>(descriptor)->base;
    if (endpoint->domain->work.cancel_triggered(*endpoint, context)) return 0;
    return endpoint->path ? endpoint->path->cancel(context) : -FI_EOPBADSTATE;
}

int join_group(fid_ep* descriptor, const void* address, uint64_t flags, fid_mc** result, void* context) {
    Endpoint* endpoint = Endpoint::of(descriptor)->base;
    if (!(endpoint->caps & (flags & FI_COLLECTIVE ? FI_COLLECTIVE : FI_MULTICAST))) return -FI_ENOSYS;
    if (flags & FI_COLLECTIVE) {
        return endpoint->path ? join_collective(*endpoint, address, flags, result, context) : -FI_EOPBADSTATE;
    }
    return endpoint->path ? endpoint->path->join(address, flags, result, context) : -FI_EOPBADSTATE;
}

constexpr fi_ops_ep make_ops() {
    fi_ops_ep ops = kMissingEp;
    ops.cancel = cancel;
    ops.getopt = get_option;
    ops.setopt = set_option;
    ops.rx_size_left = receive_left;
    ops.tx_size_left = transmit_left;
    return ops;
}

constexpr fi_ops_cm make_cm() {
    fi_ops_cm ops = kMissingCm;
    ops.setname = set_endpoint_name;
    ops.getname = get_name;
    ops.join = join_group;
    return ops;
}

// The address is the scalable endpoint's.
constexpr fi_ops_cm make_context_cm() {
    fi_ops_cm ops = kMissingCm;
    ops.getname = get_name;
    return ops;
}

}  // namespace

constinit const fi_ops_ep kEndpointOps = make_ops();
constinit const fi_ops_cm kEndpointCm = make_cm();
constinit const fi_ops_cm kContextCm = make_context_cm();

int get_endpoint_option(fid* descriptor, int level, int option, void* value, size_t* length) {
    return get_option(descriptor, level, option, value, length);
}
int set_endpoint_option(fid* descriptor, int level, int option, const void* value, size_t length) {
    return set_option(descriptor, level, option, value, length);
}

int control_endpoint(fid* descriptor, int command, void* argument) {
    auto* endpoint = object_of<Endpoint>(descriptor);
    switch (command) {
        case FI_ENABLE:
            return enable_endpoint(endpoint->base);
        case FI_GETOPSFLAG:
            return get_op_flags(endpoint, static_cast<uint64_t*>(argument));
        case FI_SETOPSFLAG:
            return argument ? apply_op_flags(endpoint, *static_cast<const uint64_t*>(argument)) : -FI_EINVAL;
        case FI_ALIAS:
            return make_alias(endpoint, static_cast<struct fi_alias*>(argument));
        default:
            return without_command(command);
    }
}

}  // namespace selvage::impl
