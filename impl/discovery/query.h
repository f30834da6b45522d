// One fi_getinfo query in a form that is easy to answer: hints widened to the newest layout, names and addresses
// understood. Lives on the stack of the call; points into the caller's strings and hints, which it never writes.
#pragma once

#include "impl/catalog/info_memory.h"
#include "impl/catalog/registry.h"
#include "impl/net/address.h"

namespace selvage::impl {

// One side of the communication as the caller describes it: by node and service, or by an address in the hints.
struct AddressSpec {
    static constexpr size_t kMax = 8;

    bool given = false;
    bool any_host = false;    // no host named: every interface's own address, with `port`
    bool has_socket = false;  // usable by internet providers
    bool has_shm = false;     // usable by the shm provider
    uint16_t port = 0;
    uint32_t format = FI_FORMAT_UNSPEC;  // the format that a text address named
    size_t count = 0;
    SocketAddress list[kMax];
    char shm[kShmTextMax] = {};
};

struct Query {
    uint32_t version = 0;
    uint64_t flags = 0;
    const char* node = nullptr;
    const char* service = nullptr;
    bool has_hints = false;
    bool has_domain = false;  // hints with attributes of the domain
    bool nic_known = false;   // fi_info::nic belongs to the caller's layout: it will be released with the rest
    // Answers with FI_HMEM: none, as it is not asked for; beside those without it; or no others.
    enum class Hmem : uint8_t { No, Too, Only };
    Hmem hmem = Hmem::No;
    InfoSet hints;
    ProviderName provider;  // meaningful when hints name one
    AddressSpec source;
    AddressSpec destination;

    // nullptr when hints name none; an empty name is none.
    const char* provider_name() const {
        const char* name = hints.fabric.prov_name;
        return name && *name ? name : nullptr;
    }
};

}  // namespace selvage::impl
