// What a provider can do, as prepared tables.
//
// An Offer is one endpoint type of one domain with everything it supports. Matching compares hints with it; an answer
// is a copy of it, narrowed to what was asked. A Table is an immutable snapshot of all offers, best first, shared by
// reference count: a reader keeps it alive while interfaces change under it.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>

#include "impl/base/rdma.h"
#include "impl/catalog/info_memory.h"
#include "impl/catalog/nic.h"
#include "impl/net/address.h"

namespace selvage::impl {

class TableBuilder;
struct ConnectionOps;
struct Domain;
struct Endpoint;
struct MemoryOps;
struct ScalableEndpoint;

// The bit of an endpoint type in Provider::endpoint_types.
constexpr unsigned type_bit(fi_ep_type type) { return 1U << type; }

// One per provider, static storage, never changes.
struct Provider {
    const char* name;
    uint32_t version;          // of the provider itself
    const char* layered_name;  // a second component under which its FI_EP_RDM offers are known ("ofi_rxm"), or nullptr
    // Adds the provider's offers. Returns 0 or a negative fabric errno; no device is not an error.
    int (*discover)(const Provider& self, TableBuilder& table);
    unsigned endpoint_types;           // bits 1 << fi_ep_type of what it may offer
    bool discover_follows_interfaces;  // what it offers changes with the network interfaces
    // Opens the data path of an endpoint that is being enabled: Endpoint::path and its tables. 0 or a negative errno.
    int (*start)(Endpoint& endpoint) = nullptr;
    // With AddressKind::Shm: chooses the address of an endpoint that was given none. 0 or a negative fabric errno.
    int (*choose_address)(char (&text)[kShmTextMax]) = nullptr;
    const ConnectionOps* connections = nullptr;  // with FI_EP_MSG (connect.h)
    const MemoryOps* memory = nullptr;           // of a device that knows memory regions (mr.h)
    bool binds_wildcard = false;                 // listens at every address of the machine where none is named
    bool scales = false;                         // has scalable endpoints (scalable.h), of FI_EP_RDM
    // What all contexts of one share: ScalableEndpoint::listener, and its address. nullptr: nothing.
    int (*listen_for_contexts)(ScalableEndpoint& endpoint) = nullptr;

    bool offers(fi_ep_type type) const { return static_cast<unsigned>(type) < 32 && (endpoint_types >> type & 1U); }
};

// Invariant: `set` holds the most that the offer can do; its strings and address point into this object.
struct Offer {
    const Provider* provider = nullptr;
    InfoSet set;
    SocketAddress source;    // the address of the interface; with IbUd that of its port, without a queue pair
    SocketAddress host;      // with IbUd: the internet address of the interface, by which it can be asked for
    unsigned prefix = 0;     // length of its network part
    unsigned interface = 0;  // kernel's index
    bool loopback = false;
    bool layered = false;  // listed under the provider's layered name
    AddressKind kind = AddressKind::None;
    size_t tx_size_max = 0;  // set.tx.size and set.rx.size are the defaults; these are the limits
    size_t rx_size_max = 0;
    size_t auth_key_max = 0;
    bool reaches_own_only = false;  // on this machine: addresses of this provider's own offers, and no loopback
    // Duties of memory registration that are left to an application that takes them on, since the device gains by them;
    // otherwise the engine does without.
    int mr_mode_kept = 0;
    // What applications have to accept (duties.h), as bits of fi_info::mode and domain_attr.mr_mode.
    uint64_t mode = 0;
    int mr_mode = 0;
    // Offered once more with FI_HMEM, to applications that register memory of devices (FI_MR_HMEM).
    bool hmem = false;
    // Capabilities that change what the calls do, and so are granted to who names them: hints without any capability,
    // which stand for all others, do not get these.
    uint64_t by_name = 0;
    NicValues nic;
    std::array<uint32_t, 2>
        known_as{};              // protocols of other libraries that a hint may name in place of set.ep.protocol
    char layered_name[32] = {};  // of a layered offer: "tcp;ofi_rxm"
    char domain_name[FI_NAME_MAX] = {};
    char fabric_name[FI_NAME_MAX] = {};
    char source_text[kAddressBytesMax] = {};  // shm: the address as text

    // All that it can do.
    uint64_t caps() const { return set.info.caps | by_name | (hmem ? FI_HMEM : 0); }
    bool reaches_others() const { return set.info.caps & FI_REMOTE_COMM; }
    bool has_protocol(uint32_t protocol) const {
        return protocol && (protocol == set.ep.protocol || std::ranges::find(known_as, protocol) != known_as.end());
    }
    // Sets the strings and the source address of `set` from the fields above.
    void link();
};

class Table {
public:
    static Table* create(size_t capacity);
    void retain() { references_.fetch_add(1, std::memory_order_relaxed); }
    void release();

    size_t size() const { return size_; }
    const Offer& operator[](size_t index) const { return offers_[index]; }
    const Offer* begin() const { return offers_; }
    const Offer* end() const { return offers_ + size_; }
    // True when the address belongs to this machine.
    bool is_local(const SocketAddress& address) const;
    // An offer (of that provider, if one is named) whose own address it is, or nullptr.
    const Offer* owner(const SocketAddress& address, const Provider* provider = nullptr) const;

private:
    friend class TableBuilder;
    std::atomic<size_t> references_{1};
    size_t size_ = 0;
    size_t capacity_ = 0;
    Offer* offers_ = nullptr;
};

// Grows a table while discovery runs. Not shared between threads.
class TableBuilder {
public:
    ~TableBuilder();
    // A new, empty offer at the end, or nullptr when memory is short. Valid until the next call.
    Offer* add();
    // Repeats the plain FI_EP_RDM offers of a provider that has a layered name under that name. 0 or -FI_ENOMEM.
    int add_layered(const Provider& provider);
    // Hands the table over with every offer linked; nullptr when memory is short.
    Table* finish();

private:
    bool grow();
    // Room for one more, not yet made; nullptr when memory is short.
    Offer* room();
    Table* table_ = nullptr;
};

}  // namespace selvage::impl
