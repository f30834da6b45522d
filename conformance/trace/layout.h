// Which part of an fi_info belongs to a program of an older release.
//
// Structures only grew at their ends, so what an older symbol or version takes is a prefix of what the headers have;
// the rest is neither the caller's nor read here (fabric(7), "ABI CHANGES"). What newer nodes have behind the
// structures of 1.17 is left alone. Pure functions; any thread.
#pragma once

#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace selvage::conformance {

/// Whose structures a call takes: the node that its symbol is of, and the version that it names.
struct Layout {
    int node = 3;  ///< FABRIC_1.node
    std::uint32_t version = FI_VERSION(1, 17);
};

struct LayoutSizes {
    std::size_t info, tx, ep, domain, fabric;
};

/// The older of what the symbol and what the version says. A version below 1.5 is that of FABRIC_1.0, and so on.
inline LayoutSizes sizes_of(Layout layout) {
    int node = layout.node;
    const auto at_most = [&](int limit) { node = node < limit ? node : limit; };
    if (layout.version < FI_VERSION(1, 5)) {
        at_most(0);
    } else if (layout.version < FI_VERSION(1, 7)) {
        at_most(1);
    } else if (layout.version < FI_VERSION(1, 9)) {
        at_most(2);
    }
    LayoutSizes s = {sizeof(fi_info), sizeof(fi_tx_attr), sizeof(fi_ep_attr), sizeof(fi_domain_attr),
                     sizeof(fi_fabric_attr)};
    if (node <= 2) {
        s.tx = offsetof(fi_tx_attr, tclass);
        s.domain = offsetof(fi_domain_attr, tclass);
    }
    if (node <= 1) s.info = offsetof(fi_info, nic);
    if (node <= 0) {
        s.ep = offsetof(fi_ep_attr, auth_key_size);
        s.domain = offsetof(fi_domain_attr, cntr_cnt);
        s.fabric = offsetof(fi_fabric_attr, api_version);
    }
    return s;
}

namespace layout_detail {
template <class T>
void take(T* from, std::size_t size, T& copy, T*& to) {
    std::memset(&copy, 0, sizeof copy);
    if (from != nullptr) std::memcpy(static_cast<void*>(&copy), from, size);
    to = from != nullptr ? &copy : nullptr;
}

}  // namespace layout_detail

/// The caller's structures, as wide as those of the headers.
struct Widened {
    fi_info info;
    fi_tx_attr tx;
    fi_ep_attr ep;
    fi_domain_attr domain;
    fi_fabric_attr fabric;

    Widened(const fi_info& from, Layout layout) {
        const LayoutSizes sizes = sizes_of(layout);
        std::memset(&info, 0, sizeof info);
        std::memcpy(static_cast<void*>(&info), &from, sizes.info);
        layout_detail::take(info.tx_attr, sizes.tx, tx, info.tx_attr);
        layout_detail::take(info.ep_attr, sizes.ep, ep, info.ep_attr);
        layout_detail::take(info.domain_attr, sizes.domain, domain, info.domain_attr);
        layout_detail::take(info.fabric_attr, sizes.fabric, fabric, info.fabric_attr);
    }
};

}  // namespace selvage::conformance
