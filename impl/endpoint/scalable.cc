// See scalable.h.
#include "impl/endpoint/scalable.h"

#include "impl/av/av.h"
#include "impl/base/layout.h"
#include "impl/catalog/capabilities.h"
#include "impl/catalog/offer.h"
#include "impl/endpoint/endpoint_ops.h"
#include "impl/events/cq.h"

namespace selvage::impl {
namespace {

size_t index_of(const Endpoint& context) { return context.context & (kContextsMax - 1); }

Endpoint*& slot_of(const Endpoint& context) {
    ScalableEndpoint& scalable = *context.scalable;
    const size_t index = index_of(context);
    return is_transmit_context(context.context) ? scalable.transmits[index] : scalable.receives[index];
}

// With its lock.
int use_address(ScalableEndpoint& scalable) {
    if (scalable.enabled) return 0;
    if (!scalable.av) return -FI_ENOAV;
    const auto listen = scalable.domain->fabric->provider->listen_for_contexts;
    const int error = listen ? listen(scalable) : 0;
    if (!error) scalable.enabled = true;
    return error;
}

// scalable.h, 3. With both locks. That of the same index before any other.
void borrow_queue(Endpoint* context) {
    if (context->rx_cq || context->tx_cq || (context->rx.caps & kMessageCaps)) return;
    const auto& queues = context->scalable->queues;
    CompletionQueue* queue = queues[index_of(*context)];
    for (size_t i = 0; !queue && i < kContextsMax; ++i) queue = queues[i];
    if (queue && queue->uses.acquire()) context->tx_cq = queue;
}

// Attributes of a context: those of the endpoint, but where the caller says otherwise. What is zero is not said; flags
// always are, as none is a choice.
template <typename Value>
void choose(Value asked, Value* out) {
    if (asked) *out = asked;
}

void choose_attributes(const fi_tx_attr& asked, fi_tx_attr* out) {
    choose(asked.caps & kTransmitCaps, &out->caps);
    out->op_flags = asked.op_flags;
    choose(asked.msg_order, &out->msg_order);
    choose(asked.comp_order, &out->comp_order);
    choose(asked.inject_size, &out->inject_size);
    choose(asked.size, &out->size);
    choose(asked.iov_limit, &out->iov_limit);
    choose(asked.rma_iov_limit, &out->rma_iov_limit);
    choose(asked.tclass, &out->tclass);
}

void choose_attributes(const fi_rx_attr& asked, fi_rx_attr* out) {
    choose(asked.caps & kReceiveCaps, &out->caps);
    out->op_flags = asked.op_flags;
    choose(asked.msg_order, &out->msg_order);
    choose(asked.comp_order, &out->comp_order);
    choose(asked.total_buffered_recv, &out->total_buffered_recv);
    choose(asked.size, &out->size);
    choose(asked.iov_limit, &out->iov_limit);
}

// A primary capability that is named without its modifiers has those of the endpoint.
uint64_t narrowed(uint64_t asked, uint64_t endpoint) { return asked | (with_implied_modifiers(asked) & endpoint); }

int take_attributes(Endpoint* context, fi_tx_attr* attr) {
    const Endpoint& scalable = *context->scalable;
    context->tx = scalable.tx;
    context->tx.op_flags = scalable.tx_flags;
    if (attr) {
        const size_t size = sizes_of(layout_of_version(scalable.domain->version())).tx;
        InfoSet set;
        memcpy(&set.tx, attr, size);
        const int error = check_context_limits(scalable, set);
        if (error) return error;
        choose_attributes(set.tx, &context->tx);
        if (context->tx.caps & ~scalable.tx.caps) return -FI_EINVAL;
        context->tx.caps = narrowed(context->tx.caps, scalable.tx.caps);
        memcpy(attr, &context->tx, size);
    }
    context->tx_flags = context->tx.op_flags;
    context->caps = (scalable.caps & ~kTransmitCaps) | context->tx.caps;
    return 0;
}

int take_attributes(Endpoint* context, fi_rx_attr* attr) {
    const Endpoint& scalable = *context->scalable;
    context->rx = scalable.rx;
    context->rx.op_flags = scalable.rx_flags;
    context->shared_receive = scalable.shared_receive;
    if (attr) {
        InfoSet set;
        set.rx = *attr;
        const int error = check_context_limits(scalable, set);
        if (error) return error;
        choose_attributes(set.rx, &context->rx);
        if (context->rx.caps & ~scalable.rx.caps) return -FI_EINVAL;
        context->rx.caps = narrowed(context->rx.caps, scalable.rx.caps);
        *attr = context->rx;
    }
    context->rx_flags = context->rx.op_flags;
    context->buffered = Endpoint::buffers(context->rx);
    context->caps = (scalable.caps & ~kReceiveCaps) | context->rx.caps;
    return 0;
}

// A disabled context with the number; its attributes follow.
Endpoint* make_context(ScalableEndpoint& scalable, size_t fclass, uint16_t number) {
    auto* context = create<Endpoint>();
    if (!context) return nullptr;
    context->domain = scalable.domain;
    context->type = scalable.type;
    context->fclass = fclass;
    context->scalable = &scalable;
    context->context = number;
    context->addr_format = scalable.addr_format;
    context->max_msg_size = scalable.max_msg_size;
    LockGuard guard(scalable.lock);
    context->min_multi_recv = scalable.min_multi_recv;
    context->buffered_options = scalable.buffered_options;
    return context;
}

int enter_slot(Endpoint* context) {
    LockGuard guard(context->scalable->lock);
    Endpoint*& slot = slot_of(*context);
    if (slot) return -FI_EBUSY;
    slot = context;
    return 0;
}

template <typename Attributes>
int open_context(ScalableEndpoint& scalable, size_t fclass, uint16_t number, Attributes* attr, fid_ep** result,
                 void* user_context) {
    Use use(scalable.uses);
    if (!use) return -FI_EINVAL;
    Endpoint* context = make_context(scalable, fclass, number);
    if (!context) return -FI_ENOMEM;
    int error = enter_slot(context);
    if (!error) {
        error = take_attributes(context, attr);
        if (error) forget_context(context);
    }
    if (error) {
        destroy(context);
        return error;
    }
    init_endpoint_descriptor(context, user_context);
    use.keep();
    *result = &context->descriptor;
    return 0;
}

int open_transmit(fid_ep* descriptor, int index, fi_tx_attr* attr, fid_ep** result, void* context) {
    auto& scalable = *ScalableEndpoint::of(descriptor);
    if (!result) return -FI_EINVAL;
    *result = nullptr;
    if (index < 0 || static_cast<size_t>(index) >= scalable.tx_contexts) return -FI_EINVAL;
    const uint16_t number = transmit_context(static_cast<size_t>(index));
    return open_context(scalable, FI_CLASS_TX_CTX, number, attr, result, context);
}

int open_receive(fid_ep* descriptor, int index, fi_rx_attr* attr, fid_ep** result, void* context) {
    auto& scalable = *ScalableEndpoint::of(descriptor);
    if (!result) return -FI_EINVAL;
    *result = nullptr;
    if (index < 0 || static_cast<size_t>(index) >= scalable.rx_contexts) return -FI_EINVAL;
    const uint16_t number = receive_context(static_cast<size_t>(index));
    return open_context(scalable, FI_CLASS_RX_CTX, number, attr, result, context);
}

int control_scalable(fid* descriptor, int command, void* argument) {
    auto* scalable = object_of<ScalableEndpoint>(descriptor);
    switch (command) {
        case FI_ENABLE: {
            LockGuard guard(scalable->lock);
            return use_address(*scalable);
        }
        case FI_ALIAS:
            return -FI_EINVAL;  // of what? An alias is another way to send and receive
        default:
            return control_endpoint(descriptor, command, argument);
    }
}

int close_scalable(fid* descriptor) {
    auto* scalable = object_of<ScalableEndpoint>(descriptor);
    if (!scalable->uses.close()) return -FI_EBUSY;
    if (scalable->listener) scalable->listener->close();
    release_bindings(scalable);
    scalable->domain->uses.release();
    destroy(scalable);
    return 0;
}

constexpr fi_ops kFidOps = make_fid_ops(close_scalable, bind_endpoint, control_scalable);

// The options of the endpoint are what its contexts begin with.
constexpr fi_ops_ep make_ops() {
    fi_ops_ep ops = kMissingEp;
    ops.getopt = get_endpoint_option;
    ops.setopt = set_endpoint_option;
    ops.tx_ctx = open_transmit;
    ops.rx_ctx = open_receive;
    return ops;
}

constexpr fi_ops_ep kOps = make_ops();

void init_descriptor(ScalableEndpoint* scalable, void* context) {
    init_endpoint_descriptor(scalable, context);
    fid_ep& descriptor = scalable->descriptor;
    init_fid(descriptor.fid, FI_CLASS_SEP, context, kFidOps);
    descriptor.ops = const_cast<fi_ops_ep*>(&kOps);
}

int open_scalable(Domain& domain, const fi_info& info, fid_ep** result, void* context) {
    if (!domain.fabric->provider->scales) return -FI_ENOSYS;
    auto* scalable = create<ScalableEndpoint>();
    if (!scalable) return -FI_ENOMEM;
    scalable->fclass = FI_CLASS_SEP;
    int error = prepare_endpoint(scalable, domain, info);
    if (!error && scalable->connected_type()) error = -FI_ENOSYS;
    if (error) {
        destroy(scalable);
        return error;
    }
    init_descriptor(scalable, context);
    *result = &scalable->descriptor;
    return 0;
}

}  // namespace

int join_scalable(Endpoint* context) {
    ScalableEndpoint& scalable = *context->scalable;
    LockGuard guard(scalable.lock);
    const int error = use_address(scalable);
    if (error) return error;
    if (!context->av) {
        if (!scalable.av->uses.acquire()) return -FI_ENOAV;
        context->av = scalable.av;
    }
    if (is_transmit_context(context->context)) {
        scalable.queues[index_of(*context)] = context->tx_cq;
    } else {
        borrow_queue(context);
    }
    context->address = scalable.address;
    context->address.context = context->context;
    memcpy(context->shm_address, scalable.shm_address, sizeof context->shm_address);
    return add_context(context->context, context->shm_address) ? 0 : -FI_EINVAL;
}

void forget_context(Endpoint* context) {
    LockGuard guard(context->scalable->lock);
    slot_of(*context) = nullptr;
    if (is_transmit_context(context->context)) context->scalable->queues[index_of(*context)] = nullptr;
}

int domain_open_scalable(fid_domain* descriptor, fi_info* info, fid_ep** result, void* context) {
    if (!descriptor || !info || !result) return -FI_EINVAL;
    *result = nullptr;
    auto* domain = Domain::of(descriptor);
    Use use(domain->uses);
    if (!use) return -FI_EINVAL;
    const int error = open_scalable(*domain, *info, result, context);
    if (!error) use.keep();
    return error;
}

}  // namespace selvage::impl
