// The active endpoint: opened from an fi_info, bound to queues, enabled. Its control part; data moves elsewhere.
//
// Control calls on one endpoint are serialised by its lock. An alias is an Endpoint whose `base` is the endpoint it was
// made from; it has nothing of its own but operation flags.
#ifndef SELVAGE_IMPL_CORE_EP_H
#define SELVAGE_IMPL_CORE_EP_H

#include "impl/core/domain.h"
#include "impl/core/lock.h"
#include "impl/core/object.h"

namespace selvage::impl {

struct AddressVector;
struct CompletionQueue;
struct Counter;
struct EventQueue;
struct MemoryRegion;
struct SharedTransmit;
struct SharedReceive;

// Which kind of operation a counter counts.
enum CounterSlot : uint8_t { kSlotSend, kSlotRecv, kSlotRead, kSlotWrite, kSlotRemoteRead, kSlotRemoteWrite, kSlots };

struct BoundRegion {
    BoundRegion* next;
    MemoryRegion* region;  // holds a use of it
};

struct Endpoint {
    fid_ep descriptor{};
    UseCount uses;  // aliases
    Endpoint* base = this;
    Domain* domain = nullptr;
    fi_ep_type type = FI_EP_UNSPEC;
    uint64_t caps = 0;
    fi_tx_attr tx{};
    fi_rx_attr rx{};
    bool shared_transmit = false;  // tx_ctx_cnt is FI_SHARED_CONTEXT
    bool shared_receive = false;
    uint32_t addr_format = FI_FORMAT_UNSPEC;

    Mutex lock;  // protects what follows
    bool enabled = false;
    SocketAddress address;  // internet providers
    char shm_address[kShmTextMax] = {};
    uint64_t tx_flags = 0;  // FI_SETOPSFLAG
    uint64_t rx_flags = 0;
    size_t min_multi_recv = 0;
    bool selective_transmit = false;
    bool selective_receive = false;
    // Bound objects; the endpoint holds a use of each.
    EventQueue* eq = nullptr;
    AddressVector* av = nullptr;
    CompletionQueue* tx_cq = nullptr;
    CompletionQueue* rx_cq = nullptr;
    Counter* counters[kSlots] = {};
    SharedTransmit* stx = nullptr;
    SharedReceive* srx = nullptr;
    BoundRegion* regions = nullptr;

    bool connected_type() const { return type == FI_EP_MSG; }
    int bind_region(MemoryRegion* region);

    static Endpoint* of(fid_ep* ep) { return object_of<Endpoint>(ep); }
};

int bind_endpoint(fid* descriptor, fid* other, uint64_t flags);      // ep_bind.cc
void release_bindings(Endpoint* endpoint);                           // ep_bind.cc
int enable_endpoint(Endpoint* endpoint);                             // ep_bind.cc
int control_endpoint(fid* descriptor, int command, void* argument);  // ep_control.cc
extern const fi_ops_ep kEndpointOps;                                 // ep_control.cc
extern const fi_ops_cm kEndpointCm;                                  // ep_control.cc
int close_endpoint(fid* descriptor);                                 // ep.cc
void init_endpoint_descriptor(Endpoint* endpoint, void* context);    // ep.cc

}  // namespace selvage::impl

#endif
