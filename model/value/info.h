// struct fi_info and its substructures as values: what hints ask for and what an answer offers.
//
// Invariants: owns everything it names; no pointers into a library.  Every number is 64 bits wide whatever its width
// in the ABI, so that one table (field.h) reaches them all; the codec in conformance/ narrows and widens.  A
// substructure whose bit in `present` is clear is a NULL pointer in the ABI, and its fields are then zero.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace selvage::model {

/// The parts of an fi_info.
enum class Part : std::uint8_t { Info, Tx, Rx, Ep, Domain, Fabric, Nic, Call };

/// Text or bytes that may be absent (a NULL pointer).
using Text = std::optional<std::string>;

/// An opened object, by number: 0 is NULL; the one who asks gives numbers to what it opened; kForeign is a pointer
/// that nobody opened.
using Handle = std::uint64_t;
inline constexpr Handle kForeign = ~Handle{0};

struct TxAttr {
    std::uint64_t caps = 0, mode = 0, op_flags = 0, msg_order = 0, comp_order = 0;
    std::uint64_t inject_size = 0, size = 0, iov_limit = 0, rma_iov_limit = 0, tclass = 0;
    bool operator==(const TxAttr&) const = default;
};

struct RxAttr {
    std::uint64_t caps = 0, mode = 0, op_flags = 0, msg_order = 0, comp_order = 0;
    std::uint64_t total_buffered_recv = 0, size = 0, iov_limit = 0;
    bool operator==(const RxAttr&) const = default;
};

struct EpAttr {
    std::uint64_t type = 0, protocol = 0, protocol_version = 0, max_msg_size = 0, msg_prefix_size = 0;
    std::uint64_t max_order_raw_size = 0, max_order_war_size = 0, max_order_waw_size = 0, mem_tag_format = 0;
    std::uint64_t tx_ctx_cnt = 0, rx_ctx_cnt = 0, auth_key_size = 0;
    Text auth_key;
    bool operator==(const EpAttr&) const = default;
};

struct DomainAttr {
    Handle domain = 0;
    Text name;
    std::uint64_t threading = 0, control_progress = 0, data_progress = 0, resource_mgmt = 0, av_type = 0, mr_mode = 0;
    std::uint64_t mr_key_size = 0, cq_data_size = 0, cq_cnt = 0, ep_cnt = 0, tx_ctx_cnt = 0, rx_ctx_cnt = 0;
    std::uint64_t max_ep_tx_ctx = 0, max_ep_rx_ctx = 0, max_ep_stx_ctx = 0, max_ep_srx_ctx = 0;
    std::uint64_t cntr_cnt = 0, mr_iov_limit = 0, caps = 0, mode = 0;
    Text auth_key;
    std::uint64_t auth_key_size = 0, max_err_data = 0, mr_cnt = 0, tclass = 0;
    bool operator==(const DomainAttr&) const = default;
};

struct FabricAttr {
    Handle fabric = 0;
    Text name, prov_name;
    std::uint64_t prov_version = 0, api_version = 0;
    bool operator==(const FabricAttr&) const = default;
};

/// One fi_info.  `next` has no counterpart: a list is a vector.
struct Info {
    std::uint64_t caps = 0, mode = 0, addr_format = 0, src_addrlen = 0, dest_addrlen = 0;
    Text src_addr, dest_addr;  ///< raw bytes; their size may differ from the length fields in hostile hints
    Handle handle = 0;
    std::uint8_t present = 0;  ///< bit 1 << Part for each substructure that is not NULL
    TxAttr tx;
    RxAttr rx;
    EpAttr ep;
    DomainAttr domain;
    FabricAttr fabric;

    [[nodiscard]] bool has(Part p) const { return (present >> static_cast<unsigned>(p) & 1U) != 0; }
    void add(Part p) { present = static_cast<std::uint8_t>(present | 1U << static_cast<unsigned>(p)); }
    void drop(Part p) { present = static_cast<std::uint8_t>(present & ~(1U << static_cast<unsigned>(p))); }
    bool operator==(const Info&) const = default;
};

/// The five attribute structures, all present: what fi_allocinfo gives.
inline constexpr std::uint8_t kAllParts = 1U << unsigned(Part::Tx) | 1U << unsigned(Part::Rx) |
                                          1U << unsigned(Part::Ep) | 1U << unsigned(Part::Domain) |
                                          1U << unsigned(Part::Fabric);

}  // namespace selvage::model
