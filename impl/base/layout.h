// The binary layouts of the info structures (fabric(7), "ABI CHANGES"; abi_2x.h).
//
// Structures only ever grew at the end, so a layout is a prefix length per structure. What lies behind the prefix does
// not belong to the caller: it is neither read nor written. The layout of one call is the older of two: that of the
// symbol the program was linked to, and that of the interface version it asks for (an application built from source
// against newer headers leaves the fields it does not know of uninitialised). Where a call has no version, the fields
// of abi_2x.h are the caller's only if fabric_attr says that it asked for a release that has them.
//
// Invariant: what the library itself allocates always has the newest, full size; older callers see its prefix.
#pragma once

#include <atomic>

#include "impl/base/abi_2x.h"
#include "impl/base/rdma.h"

namespace selvage::impl {

enum class Layout : uint8_t { V1_0, V1_1, V1_2, V1_3, V1_7, V1_8, V1_9 };
inline constexpr Layout kNewestLayout = Layout::V1_9;

struct LayoutSizes {
    size_t info, tx, rx, ep, domain, fabric;
};

namespace layout_detail {
inline constexpr size_t kRx = sizeof(fi_rx_attr);
inline constexpr size_t kTxNoTclass = offsetof(fi_tx_attr, tclass);
inline constexpr size_t kDomainNoTclass = offsetof(fi_domain_attr, tclass);
inline constexpr size_t kInfoNoNic = offsetof(fi_info, nic);
inline constexpr LayoutSizes kSizes[] = {
    {kInfoNoNic, kTxNoTclass, kRx, offsetof(fi_ep_attr, auth_key_size), offsetof(fi_domain_attr, cntr_cnt),
     offsetof(fi_fabric_attr, api_version)},
    {kInfoNoNic, kTxNoTclass, kRx, sizeof(fi_ep_attr), kDomainNoTclass, sizeof(fi_fabric_attr)},
    {sizeof(fi_info), kTxNoTclass, kRx, sizeof(fi_ep_attr), kDomainNoTclass, sizeof(fi_fabric_attr)},
    {sizeof(fi_info), sizeof(fi_tx_attr), kRx, sizeof(fi_ep_attr), sizeof(fi_domain_attr), sizeof(fi_fabric_attr)},
    {sizeof(fi_info), sizeof(fi_tx_attr), kRx, sizeof(fi_ep_attr), kDomainAttrBytes1_7, sizeof(fi_fabric_attr)},
    {sizeof(fi_info), sizeof(fi_tx_attr), kRx, sizeof(fi_ep_attr), kDomainAttrBytes1_8, sizeof(fi_fabric_attr)},
    {sizeof(fi_info), sizeof(fi_tx_attr), kRx, sizeof(fi_ep_attr), sizeof(DomainAttr), sizeof(fi_fabric_attr)},
};
}  // namespace layout_detail

constexpr const LayoutSizes& sizes_of(Layout layout) { return layout_detail::kSizes[static_cast<size_t>(layout)]; }

constexpr Layout layout_of_version(uint32_t version) {
    if (version < FI_VERSION(1, 5)) return Layout::V1_0;
    if (version < FI_VERSION(1, 7)) return Layout::V1_1;
    if (version < FI_VERSION(1, 9)) return Layout::V1_2;
    if (version < kVersionOfGrownStructures) return Layout::V1_3;
    if (version < FI_VERSION(2, 0)) return Layout::V1_7;
    if (version < FI_VERSION(2, 5)) return Layout::V1_8;
    return Layout::V1_9;
}

constexpr Layout older(Layout a, Layout b) { return a < b ? a : b; }

// Whether a program of this process is bound to a symbol of 1.20 or later. Calls without such a symbol of their own
// (fi_fabric, fi_open) take newer versions only then, so an object of a newer version belongs to a program whose
// structures have that size: layout_of_version() says it for calls on objects.
// Relaxed: who is bound so has called fi_getinfo before it hands over anything else.
inline std::atomic<bool> newer_symbols_used{false};

inline void note_symbol(Layout symbol) {
    if (symbol > Layout::V1_3) newer_symbols_used.store(true, std::memory_order_relaxed);
}

inline uint32_t newest_version() {
    return newer_symbols_used.load(std::memory_order_relaxed) ? kNewestVersion : kApiVersion;
}

}  // namespace selvage::impl
