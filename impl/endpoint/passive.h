// The passive endpoint: a listening address of a fabric.
#pragma once

#include "impl/base/lock.h"
#include "impl/base/object.h"
#include "impl/fabric/fabric.h"
#include "impl/fabric/opened.h"

namespace selvage::impl {

struct EventQueue;
class Listener;
struct ConnectionRequest;

struct PassiveEndpoint : OpenedPassive {
    UseCount uses;
    Fabric* fabric = nullptr;
    uint32_t addr_format = FI_FORMAT_UNSPEC;
    SocketAddress address;
    SocketAddress interface;  // an address of the fabric, for peers while `address` is the wildcard
    int backlog = 128;
    fi_info* info = nullptr;  // as it was opened with: what connection requests are made from
    uint8_t auth_key[64] = {};
    size_t auth_key_size = 0;
    Mutex lock;                    // protects what follows
    EventQueue* eq = nullptr;      // bound; holds a use of it
    Listener* listener = nullptr;  // once it listens
    bool spent = false;            // an active endpoint took its address over

    static PassiveEndpoint* of(fid_pep* pep) { return object_of<PassiveEndpoint>(pep); }
};

// An active endpoint takes over the address (fi_endpoint with the passive endpoint as handle); it listens no more.
int spend_passive(PassiveEndpoint& endpoint, SocketAddress* address);

// The outside form of an address, into a buffer that may be too small: -FI_ETOOSMALL, with the length needed.
int export_address(const SocketAddress& address, uint32_t format, void* out, size_t* length);

}  // namespace selvage::impl
