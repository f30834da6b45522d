// The active endpoint: opened from an fi_info, bound to queues, enabled. Its control part; data moves elsewhere.
//
// Control calls on one endpoint are serialised by its lock. An alias is an Endpoint whose `base` is the endpoint it was
// made from; it has nothing of its own but operation flags.
#pragma once

#include "impl/base/lock.h"
#include "impl/base/object.h"
#include "impl/catalog/info_memory.h"
#include "impl/domain/domain.h"
#include "impl/endpoint/buffered_options.h"

namespace selvage::impl {

struct AddressVector;
struct Checks;
class Connection;
class DataPath;
struct CompletionQueue;
class Connection;
struct Counter;
struct EventQueue;
struct MemoryRegion;
struct EndpointWork;
struct ScalableEndpoint;
struct SharedReceive;
struct StatRecord;

// Which kind of operation a counter counts.
enum CounterSlot : uint8_t { kSlotSend, kSlotRecv, kSlotRead, kSlotWrite, kSlotRemoteRead, kSlotRemoteWrite, kSlots };

// Room left in a multi-receive buffer at which it is given back, unless FI_OPT_MIN_MULTI_RECV says otherwise.
inline constexpr size_t kMinMultiRecv = 64;

struct BoundRegion {
    BoundRegion* next;
    MemoryRegion* region;  // holds a use of it
};

struct Endpoint {
    fid_ep descriptor{};
    UseCount uses;  // aliases; of a scalable endpoint: its contexts
    Endpoint* base = this;
    Domain* domain = nullptr;
    fi_ep_type type = FI_EP_UNSPEC;
    uint64_t caps = 0;
    fi_tx_attr tx{};
    fi_rx_attr rx{};
    bool shared_transmit = false;  // tx_ctx_cnt is FI_SHARED_CONTEXT
    bool shared_receive = false;
    uint32_t addr_format = FI_FORMAT_UNSPEC;
    size_t max_msg_size = 0;
    size_t tx_size_max = 0;  // the most that FI_OPT_TX_SIZE can ask for, and FI_OPT_RX_SIZE
    size_t rx_size_max = 0;

    // What the calls that move data look at. `path` is there from fi_enable to fi_close; an alias has its base's.
    DataPath* path = nullptr;
    uint64_t tx_always = FI_COMPLETION;  // 0 when only flagged operations get an entry in the queue
    uint64_t rx_always = FI_COMPLETION;
    uint64_t tx_defaults = FI_COMPLETION;  // tx_flags and tx_always
    uint64_t rx_defaults = FI_COMPLETION;

    Mutex lock;  // protects what follows
    bool enabled = false;
    SocketAddress address;  // internet providers
    char shm_address[kShmTextMax] = {};
    uint64_t tx_flags = 0;  // FI_SETOPSFLAG
    uint64_t rx_flags = 0;
    size_t min_multi_recv = 0;
    bool buffered = false;  // messages are received in buffers of the library (FI_BUFFERED_RECV, FI_VARIABLE_MSG)
    BufferedOptions buffered_options;
    bool shares_memory = true;  // with peers on this machine, where tcp can (FI_OPT_SHARED_MEMORY_PERMITTED)
    bool selective_transmit = false;
    bool selective_receive = false;
    // Bound objects; the endpoint holds a use of each.
    EventQueue* eq = nullptr;
    AddressVector* av = nullptr;
    CompletionQueue* tx_cq = nullptr;
    CompletionQueue* rx_cq = nullptr;
    Counter* counters[kSlots] = {};
    bool stx = false;  // bound to a shared transmit context: nothing of it is used, and it may be closed first
    SharedReceive* srx = nullptr;
    BoundRegion* regions = nullptr;
    StatRecord* stat = nullptr;        // while it is enabled; what the transport counts
    Connection* connection = nullptr;  // FI_EP_MSG (connect.h), from opening to closing
    EndpointWork* work = nullptr;      // from the first work for it on; protected by the lock of domain->work
    Checks* checks = nullptr;          // while duties are insisted on, with `path` (insisted.h)
    Endpoint* aliases = nullptr;       // of a base, linked by next_alias
    Endpoint* next_alias = nullptr;

    // Of scalable endpoints (scalable.h), from opening on.
    size_t fclass = FI_CLASS_EP;  // or of a scalable endpoint, or of a context
    size_t tx_contexts = 1;       // of a scalable endpoint
    size_t rx_contexts = 1;
    ScalableEndpoint* scalable = nullptr;  // of a context, which holds a use of it
    uint16_t context = 0;                  // which one it is (net/context_id.h)

    bool connected_type() const { return type == FI_EP_MSG; }
    int bind_region(MemoryRegion* region);
    // After a change of tx_flags, rx_flags or of what is selective.
    void settle_flags();
    // Whether receives with these attributes are buffered.
    static bool buffers(const fi_rx_attr& attr) {
        return (attr.mode & FI_BUFFERED_RECV) || (attr.caps & FI_VARIABLE_MSG);
    }

    static Endpoint* of(fid_ep* ep) { return object_of<Endpoint>(ep); }
};

int bind_endpoint(fid* descriptor, fid* other, uint64_t flags);                                     // ep_bind.cc
void release_bindings(Endpoint* endpoint);                                                          // ep_bind.cc
int enable_endpoint(Endpoint* endpoint);                                                            // ep_bind.cc
int control_endpoint(fid* descriptor, int command, void* argument);                                 // ep_control.cc
extern const fi_ops_ep kEndpointOps;                                                                // ep_control.cc
extern const fi_ops_cm kEndpointCm;                                                                 // ep_control.cc
int get_endpoint_option(fid* descriptor, int level, int option, void* value, size_t* length);       // ep_control.cc
int set_endpoint_option(fid* descriptor, int level, int option, const void* value, size_t length);  // ep_control.cc
// Where peers reach it: its address, or that of its domain's interface while it listens at every address of the
// machine.
SocketAddress reachable_address(const Endpoint& endpoint);             // ep_control.cc
int set_endpoint_name(fid* descriptor, void* address, size_t length);  // ep_control.cc
int close_endpoint(fid* descriptor);                                   // ep.cc
// What fi_endpoint and fi_scalable_ep do with a new object and what the caller asks for.
int prepare_endpoint(Endpoint* endpoint, Domain& domain, const fi_info& info);  // ep.cc
// Whether a context may have these attributes: what the offer cannot do is refused.
int check_context_limits(const Endpoint& scalable, const InfoSet& set);  // ep.cc
// The data path and its tables, from the base to an alias.
void share_path(const Endpoint& base, Endpoint* alias);            // ep.cc
void init_endpoint_descriptor(Endpoint* endpoint, void* context);  // ep.cc

}  // namespace selvage::impl
