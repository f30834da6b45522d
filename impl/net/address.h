// Addresses as the library handles them, and their two outside forms: the raw structure and the FI_ADDR_STR text.
//
// Text forms follow fi_getinfo(3): format[://[node][:[service][/...][?...]]]. Understood are fi_sockaddr,
// fi_sockaddr_in, fi_sockaddr_in6 and this library's own fi_shm. A shm address is text in every form:
// "fi_shm://[node]:service" or any other name behind "fi_shm://"; an empty name lets the library choose one when an
// endpoint is opened. Addresses of queue pairs for datagrams are numbers, with a text for people only (IbAddress).
#pragma once

#include <netinet/in.h>

#include <string_view>

#include "impl/base/rdma.h"

namespace selvage::impl {

inline constexpr size_t kShmTextMax = 128;               // with the terminating zero
inline constexpr size_t kAddressBytesMax = kShmTextMax;  // the longest outside form of any address
inline constexpr std::string_view kShmScheme = "fi_shm://";

enum class AddressKind : uint8_t { None, Inet, Inet6, Shm, IbUd };

// FI_ADDR_IB_UD: a queue pair for datagrams, and the port that it is at. Numbers are in the host's byte order.
struct IbAddress {
    uint8_t gid[16];
    uint32_t queue_pair;
    uint16_t local_id;
    uint16_t partition_key;
    uint16_t service;
    uint8_t service_level;
    uint8_t unused[5];
};
static_assert(sizeof(IbAddress) == 32, "rdma/fabric.h has it as uint64_t[4]");
inline constexpr uint32_t kQueuePairMax = 0xffffff;

// An address of a fixed size: an internet address with port, or one of a device. Invariant: `kind` is Inet, Inet6 or
// IbUd and says which member is valid, or None.
struct SocketAddress {
    AddressKind kind = AddressKind::None;
    uint16_t context = 0;  // of a scalable endpoint (context_id.h)
    union {
        sockaddr any;
        sockaddr_in v4;
        sockaddr_in6 v6;
        IbAddress ib;
    };

    SocketAddress() : ib{} {}
    const void* bytes() const { return &any; }
    // How many bytes of an address of this kind, from its first on, are not zero or say nothing.
    static size_t stored_size(AddressKind kind);
    size_t length() const {
        return kind == AddressKind::Inet ? sizeof v4 : kind == AddressKind::IbUd ? sizeof ib : sizeof v6;
    }
    uint16_t port() const;         // host byte order; a device's address has none
    void set_port(uint16_t port);  // of an internet address
    bool is_wildcard() const;
    // The wildcard of an internet family, with a port.
    static SocketAddress wildcard(AddressKind family, uint16_t port);
    bool is_loopback() const;
    bool same_host(const SocketAddress& other) const;      // family, address and (where both name one) scope; or GID
    bool same_endpoint(const SocketAddress& other) const;  // the same host, and port or queue pair
    // Whether it names one endpoint that messages can be sent to.
    bool names_endpoint() const;
};

// What a text or raw address may say.
struct ParsedAddress {
    AddressKind kind = AddressKind::None;  // None: a format name alone, or fi_sockaddr without a host
    uint32_t format = FI_FORMAT_UNSPEC;    // the format that a text names
    bool any_host = false;                 // no host in the text
    SocketAddress socket;                  // Inet, Inet6; the port also when any_host
    char shm[kShmTextMax] = {};            // Shm: the canonical text
};

// True when the text starts like an FI_ADDR_STR address ("fi_..."), valid or not.
bool looks_like_text_address(std::string_view text);
bool parse_text_address(std::string_view text, ParsedAddress* out);
// Reads an address of a hint or a call. Nothing behind `length` is looked at. False when it is not an address.
bool read_address(uint32_t format, const void* bytes, size_t length, ParsedAddress* out);
// Builds "fi_shm://..."; false when the name is too long or holds a character that no file name may have.
bool make_shm_text(std::string_view name, char (&out)[kShmTextMax]);

// Writes the text form with its terminating zero; returns the length needed, zero included. That of a device's address
// is not read again.
size_t write_text_address(const SocketAddress& address, uint32_t scheme, char* out, size_t size);

}  // namespace selvage::impl
