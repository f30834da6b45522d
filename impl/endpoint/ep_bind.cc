// What an endpoint is bound to, and what it needs before it can be enabled (fi_endpoint(3), fi_ep_bind and fi_enable).
#include <cstdlib>

#include "impl/av/av.h"
#include "impl/catalog/capabilities.h"
#include "impl/catalog/duties.h"
#include "impl/domain/mr.h"
#include "impl/endpoint/datapath.h"
#include "impl/endpoint/ep.h"
#include "impl/endpoint/insisted.h"
#include "impl/endpoint/scalable.h"
#include "impl/endpoint/shared.h"
#include "impl/events/cntr.h"
#include "impl/events/cq.h"
#include "impl/events/eq.h"

namespace selvage::impl {
namespace {

// What an enabled endpoint can still be bound to: what its data path takes up while it runs, or does not need.
bool binds_late(const fid& other) {
    return other.fclass == FI_CLASS_EQ || other.fclass == FI_CLASS_CNTR || other.fclass == FI_CLASS_STX_CTX;
}

// Queues, counters and shared contexts are bound to its contexts.
bool binds_to_scalable(const fid& other) { return other.fclass == FI_CLASS_AV || other.fclass == FI_CLASS_EQ; }

// Takes a use of `object` into an empty slot.
template <typename Object>
int put(Object** slot, Object* object) {
    if (*slot) return -FI_EINVAL;
    if (!object->uses.acquire()) return -FI_EINVAL;
    *slot = object;
    return 0;
}

template <typename Object>
void drop(Object** slot) {
    if (*slot) (*slot)->uses.release();
    *slot = nullptr;
}

// With FI_RESTRICTED_COMP the endpoints of a queue or counter have the same capabilities.
template <typename Object>
int check_sharing(const Endpoint& endpoint, Object& object) {
    if (!(duties().mode & FI_RESTRICTED_COMP)) return 0;
    uint64_t served = 0;
    if (object.served_caps.compare_exchange_strong(served, endpoint.caps) || served == endpoint.caps) return 0;
    log_breach("fi_ep_bind", "FI_RESTRICTED_COMP", "fi_getinfo(3)",
               "endpoints of other capabilities share the queue or counter");
    return -FI_EINVAL;
}

int bind_cq(Endpoint* endpoint, CompletionQueue* cq, uint64_t flags) {
    if (flags & ~(FI_TRANSMIT | FI_RECV | FI_SELECTIVE_COMPLETION)) return -FI_EBADFLAGS;
    if (!(flags & (FI_TRANSMIT | FI_RECV))) return -FI_EBADFLAGS;
    if (cq->domain != endpoint->domain) return -FI_EDOMAIN;
    const bool transmit = flags & FI_TRANSMIT;
    const bool receive = flags & FI_RECV;
    if ((transmit && endpoint->tx_cq) || (receive && endpoint->rx_cq)) return -FI_EINVAL;
    int error = check_sharing(*endpoint, *cq);
    if (is_driven_by_events(*endpoint) && endpoint->domain->serialised()) cq->share();
    if (!error && transmit) error = put(&endpoint->tx_cq, cq);
    if (!error && receive) error = put(&endpoint->rx_cq, cq);
    if (error) return error;
    if (transmit) endpoint->selective_transmit = flags & FI_SELECTIVE_COMPLETION;
    if (receive) endpoint->selective_receive = flags & FI_SELECTIVE_COMPLETION;
    return 0;
}

struct SlotFlag {
    uint64_t flag;
    CounterSlot slot;
};
constexpr SlotFlag kSlotFlags[] = {
    {FI_SEND, kSlotSend},
    {FI_RECV, kSlotRecv},
    {FI_READ, kSlotRead},
    {FI_WRITE, kSlotWrite},
    {FI_REMOTE_READ, kSlotRemoteRead},
    {FI_REMOTE_WRITE, kSlotRemoteWrite},
};

// Takes a use of the counter for one kind of operation, and on an enabled endpoint lets it count from now on.
int put_counter(Endpoint* endpoint, CounterSlot slot, Counter* counter) {
    if (is_driven_by_events(*endpoint) && endpoint->domain->serialised()) counter->share();
    const int error = put(&endpoint->counters[slot], counter);
    if (error || !endpoint->path) return error;
    const int detached = counter->attach(endpoint->path);
    if (detached) {
        drop(&endpoint->counters[slot]);
    } else {
        endpoint->path->set_counter(slot, counter);
    }
    return detached;
}

void take_back_counter(Endpoint* endpoint, CounterSlot slot, Counter* counter) {
    if (endpoint->path) {
        endpoint->path->set_counter(slot, nullptr);
        counter->detach(endpoint->path);
    }
    drop(&endpoint->counters[slot]);
}

int bind_counter(Endpoint* endpoint, Counter* counter, uint64_t flags) {
    if (!flags || (flags & ~kModifiers)) return -FI_EBADFLAGS;
    if (counter->domain != endpoint->domain) return -FI_EDOMAIN;
    // What happens at the target makes events with FI_RMA_EVENT alone; programs ask for it without, and count nothing.
    if (!(endpoint->caps & FI_RMA_EVENT)) flags &= ~(FI_REMOTE_READ | FI_REMOTE_WRITE);
    for (const SlotFlag& row : kSlotFlags) {
        if ((flags & row.flag) && endpoint->counters[row.slot]) return -FI_EINVAL;
    }
    if (const int shared = check_sharing(*endpoint, *counter)) return shared;
    for (const SlotFlag& row : kSlotFlags) {
        const int error = flags & row.flag ? put_counter(endpoint, row.slot, counter) : 0;
        if (!error) continue;
        for (const SlotFlag* done = kSlotFlags; done != &row; ++done) {
            if (flags & done->flag) take_back_counter(endpoint, done->slot, counter);
        }
        return error;
    }
    return 0;
}

int bind_av(Endpoint* endpoint, AddressVector* av, uint64_t flags) {
    if (flags) return -FI_EBADFLAGS;
    if (av->domain != endpoint->domain) return -FI_EDOMAIN;
    // A context has its scalable endpoint's.
    if (endpoint->connected_type() || endpoint->scalable) return -FI_EINVAL;
    return put(&endpoint->av, av);
}

int bind_eq(Endpoint* endpoint, EventQueue* eq, uint64_t flags) {
    if (flags) return -FI_EBADFLAGS;
    if (eq->fabric != endpoint->domain->fabric) return -FI_EDOMAIN;
    return put(&endpoint->eq, eq);
}

int bind_shared_transmit(Endpoint* endpoint, SharedTransmit* stx, uint64_t flags) {
    if (flags) return -FI_EBADFLAGS;
    if (stx->domain != endpoint->domain) return -FI_EDOMAIN;
    endpoint->stx = true;
    return 0;
}

int bind_shared_receive(Endpoint* endpoint, SharedReceive* srx, uint64_t flags) {
    if (flags) return -FI_EBADFLAGS;
    if (srx->domain != endpoint->domain) return -FI_EDOMAIN;
    const bool may_share = endpoint->shared_receive || endpoint->fclass == FI_CLASS_RX_CTX;
    return may_share ? put(&endpoint->srx, srx) : -FI_EINVAL;
}

int bind_any(Endpoint* endpoint, fid* other, uint64_t flags) {
    switch (other->fclass) {
        case FI_CLASS_CQ:
            return bind_cq(endpoint, object_of<CompletionQueue>(other), flags);
        case FI_CLASS_CNTR:
            return bind_counter(endpoint, object_of<Counter>(other), flags);
        case FI_CLASS_AV:
            return bind_av(endpoint, object_of<AddressVector>(other), flags);
        case FI_CLASS_EQ:
            return bind_eq(endpoint, object_of<EventQueue>(other), flags);
        case FI_CLASS_STX_CTX:
            return bind_shared_transmit(endpoint, object_of<SharedTransmit>(other), flags);
        case FI_CLASS_SRX_CTX:
            return bind_shared_receive(endpoint, object_of<SharedReceive>(other), flags);
        default:
            return -FI_EINVAL;
    }
}

// Of an endpoint that could not be enabled: as it was before.
void stop_path(Endpoint* endpoint) {
    if (!endpoint->path) return;
    endpoint->path->close();
    endpoint->path = nullptr;
    if (endpoint->checks) drop_checks(*endpoint);
    init_endpoint_descriptor(endpoint, endpoint->descriptor.fid.context);
}

}  // namespace

bool is_driven_by_events(const Endpoint& endpoint) { return endpoint.connected_type(); }

bool is_shared_by_work(const Endpoint& endpoint) {
    return endpoint.domain->serialised() && endpoint.domain->attr.threading == FI_THREAD_COMPLETION;
}

bool meets_closing_regions(const Endpoint& endpoint) {
    return endpoint.domain->attr.threading == FI_THREAD_COMPLETION &&
           (endpoint.rx.caps & (FI_REMOTE_READ | FI_REMOTE_WRITE));
}

int bind_endpoint(fid* descriptor, fid* other, uint64_t flags) {
    auto* endpoint = object_of<Endpoint>(descriptor);
    if (!other || endpoint->base != endpoint) return -FI_EINVAL;
    if (other->fclass == FI_CLASS_MR) {
        return flags ? -FI_EBADFLAGS : endpoint->bind_region(object_of<MemoryRegion>(other));
    }
    LockGuard guard(endpoint->lock);
    if (endpoint->enabled && !binds_late(*other)) return -FI_EOPBADSTATE;
    if (endpoint->fclass == FI_CLASS_SEP && !binds_to_scalable(*other)) return -FI_EINVAL;
    return bind_any(endpoint, other, flags);
}

int Endpoint::bind_region(MemoryRegion* region) {
    if (region->domain != domain) return -FI_EDOMAIN;
    auto* entry = static_cast<BoundRegion*>(malloc(sizeof(BoundRegion)));
    if (!entry) return -FI_ENOMEM;
    if (!region->uses.acquire()) {
        free(entry);
        return -FI_EINVAL;
    }
    LockGuard guard(lock);
    *entry = {.next = regions, .region = region};
    regions = entry;
    region->bound = true;
    return 0;
}

int bind_region_to(fid* endpoint, MemoryRegion* region) { return object_of<Endpoint>(endpoint)->bind_region(region); }

void release_bindings(Endpoint* endpoint) {
    drop(&endpoint->eq);
    drop(&endpoint->av);
    drop(&endpoint->tx_cq);
    drop(&endpoint->rx_cq);
    for (Counter*& counter : endpoint->counters) drop(&counter);
    drop(&endpoint->srx);
    while (BoundRegion* entry = endpoint->regions) {
        endpoint->regions = entry->next;
        entry->region->uses.release();
        free(entry);
    }
}

int enable_endpoint(Endpoint* endpoint) {
    LockGuard guard(endpoint->lock);
    if (endpoint->enabled) return 0;
    if (endpoint->scalable) {
        const int error = join_scalable(endpoint);
        if (error) return error;
    }
    if (endpoint->tx.caps && !endpoint->tx_cq) return -FI_ENOCQ;
    if ((endpoint->rx.caps & kMessageCaps) && !endpoint->rx_cq) return -FI_ENOCQ;
    // A mere target of RMA still needs a queue through which it makes progress.
    if (endpoint->rx.caps && !endpoint->rx_cq && !endpoint->tx_cq) return -FI_ENOCQ;
    if (endpoint->connected_type()) {
        if (!endpoint->eq && !endpoint->domain->eq) return -FI_ENOEQ;
    } else if (!endpoint->av) {
        return -FI_ENOAV;
    }
    if (endpoint->shared_receive && !endpoint->srx) return -FI_EOPBADSTATE;
    const Provider& provider = *endpoint->domain->fabric->provider;
    endpoint->settle_flags();
    int error = provider.start ? provider.start(*endpoint) : 0;
    if (!error && endpoint->path && duties().on_calls()) error = put_checks_before(*endpoint);
    // Whom only its own threads may move until there is work for it, is known to other counters from then on.
    if (!error && endpoint->path && !is_shared_by_work(*endpoint)) {
        error = endpoint->domain->region_counters.add_path(endpoint->path);
    }
    if (error) {
        stop_path(endpoint);
        return error;
    }
    endpoint->enabled = true;
    if (endpoint->path) endpoint->domain->work.add_path(*endpoint->path);
    for (Endpoint* alias = endpoint->aliases; alias; alias = alias->next_alias) share_path(*endpoint, alias);
    return 0;
}

}  // namespace selvage::impl
