// See info_memory.h.
#include "impl/catalog/info_memory.h"

#include <algorithm>
#include <cstdlib>

#include "impl/catalog/nic.h"

namespace selvage::impl {
namespace {

// A size that the compiler does not know, so that it calls the C library instead of a string instruction, the start of
// which costs more than the copy.
inline size_t opaque(size_t size) {
    __asm__("" : "+r"(size));
    return size;
}

}  // namespace

bool has_operations(const fid_nic& nic) { return nic.fid.ops && nic.fid.ops->control && nic.fid.ops->close; }

void InfoSet::relink() {
    info.tx_attr = &tx;
    info.rx_attr = &rx;
    info.ep_attr = &ep;
    info.domain_attr = &domain;
    info.fabric_attr = &fabric;
}

void InfoSet::clear() {
    memset(static_cast<void*>(this), 0, opaque(sizeof *this));
    relink();
}

void InfoSet::copy_from(const InfoSet& other) {
    memcpy(static_cast<void*>(this), static_cast<const void*>(&other), opaque(sizeof *this));
    relink();
}

void InfoSet::widen_from(const fi_info& source, Layout layout) {
    const LayoutSizes& size = sizes_of(layout);
    clear();
    memcpy(&info, &source, size.info);
    if (source.tx_attr) memcpy(&tx, source.tx_attr, size.tx);
    if (source.rx_attr) memcpy(&rx, source.rx_attr, size.rx);
    if (source.ep_attr) memcpy(&ep, source.ep_attr, size.ep);
    if (source.domain_attr) memcpy(static_cast<void*>(&domain), source.domain_attr, size.domain);
    if (source.fabric_attr) memcpy(&fabric, source.fabric_attr, size.fabric);
    relink();
}

namespace {

template <typename T>
T* zeroed() {
    return static_cast<T*>(calloc(1, sizeof(T)));
}

// The copies below are always set, to nullptr if there is nothing to copy or no memory. `ok` turns false when memory is
// short, and the rest goes on: one release at the end undoes whatever was made.

// Copies the first `size` bytes of *source into a new block of full size (that of Full); what lies behind is zero.
template <typename Full, typename T>
[[gnu::always_inline]] inline T* copied_prefix_in(const T* source, size_t size, bool& ok) {
    if (!source) return nullptr;
    // Not cleared and then filled: compilers make calloc of malloc and memset, and the C library serves only malloc
    // from its per-thread cache.
    auto* block = static_cast<T*>(malloc(sizeof(Full)));
    if (!block) {
        ok = false;
    } else if (size == sizeof(Full)) {
        memcpy(static_cast<void*>(block), source, sizeof(Full));
    } else {
        memcpy(static_cast<void*>(block), source, size);
        memset(reinterpret_cast<char*>(block) + size, 0, sizeof(Full) - size);
    }
    return block;
}
template <typename T>
[[gnu::always_inline]] inline T* copied_prefix(const T* source, size_t size, bool& ok) {
    return copied_prefix_in<T>(source, size, ok);
}

// Copies the first and the last `part` bytes of `length`, which may overlap.
template <size_t part>
[[gnu::always_inline]] inline void copy_ends(char* target, const char* source, size_t length) {
    memcpy(target, source, part);
    memcpy(target + length - part, source + length - part, part);
}

// Names and addresses are short: moving them costs less than the call that would.
[[gnu::always_inline]] inline void copy_short(char* target, const char* source, size_t length) {
    if (length - 4 > 32 - 4) {
        memcpy(target, source, length);
    } else if (length >= 16) {
        copy_ends<16>(target, source, length);
    } else if (length >= 8) {
        copy_ends<8>(target, source, length);
    } else {
        copy_ends<4>(target, source, length);
    }
}

[[gnu::always_inline]] inline void* copied_bytes(const void* source, size_t length, bool& ok) {
    void* block = malloc(length);
    if (block) {
        copy_short(static_cast<char*>(block), static_cast<const char*>(source), length);
    } else {
        ok = false;
    }
    return block;
}

[[gnu::always_inline]] inline char* copied_string(const char* source, bool& ok) {
    return source ? static_cast<char*>(copied_bytes(source, strlen(source) + 1, ok)) : nullptr;
}

[[gnu::always_inline]] inline uint8_t* copied_key(const uint8_t* source, size_t length, bool& ok) {
    return source && length ? static_cast<uint8_t*>(copied_bytes(source, length, ok)) : nullptr;
}

// An address without a length copies as nothing; a length without an address stays what it is.
[[gnu::always_inline]] inline void* copied_address(const void* source, size_t length, bool& ok) {
    return source && length ? copied_bytes(source, length, ok) : nullptr;
}

// Keys came with the second layout.
constexpr bool has_keys(Layout layout) { return layout >= Layout::V1_1; }

[[gnu::always_inline]] inline fi_ep_attr* copied_ep(const fi_ep_attr* source, Layout layout, bool& ok) {
    auto* out = copied_prefix(source, sizes_of(layout).ep, ok);
    if (out) out->auth_key = has_keys(layout) ? copied_key(source->auth_key, source->auth_key_size, ok) : nullptr;
    return out;
}

[[gnu::always_inline]] inline fi_domain_attr* copied_domain(const fi_domain_attr* source, Layout layout, bool& ok) {
    auto* out = copied_prefix_in<DomainAttr>(source, sizes_of(layout).domain, ok);
    if (!out) return nullptr;
    out->name = copied_string(source->name, ok);
    out->auth_key = has_keys(layout) ? copied_key(source->auth_key, source->auth_key_size, ok) : nullptr;
    return out;
}

[[gnu::always_inline]] inline fi_fabric_attr* copied_fabric(const fi_fabric_attr* source, size_t size, bool& ok) {
    auto* out = copied_prefix(source, size, ok);
    if (!out) return nullptr;
    out->name = copied_string(source->name, ok);
    out->prov_name = copied_string(source->prov_name, ok);
    return out;
}

// A nic belongs to the provider that made it: it knows how to copy itself.  One without operations is the
// application's, and what of it is known is copied.
bool copy_nic(fid_nic*& target, const fid_nic* nic) {
    target = nullptr;
    if (!has_operations(*nic)) {
        target = duplicate_nic(*nic);
        return target;
    }
    fid* copy = nullptr;
    auto* source = const_cast<fid*>(&nic->fid);
    const int result = source->ops->control(source, FI_DUP, &copy);
    if (result == -FI_ENOSYS) return true;
    if (result || !copy) return false;
    target = reinterpret_cast<fid_nic*>(copy);
    return true;
}

// For what is seldom there: saves the call.
void free_if_any(void* block) {
    if (block) free(block);
}

[[gnu::always_inline]] inline void free_one(fi_info* info, Layout layout) {
    if (info->ep_attr && layout >= Layout::V1_1) free_if_any(info->ep_attr->auth_key);
    if (info->domain_attr) {
        free(info->domain_attr->name);
        if (layout >= Layout::V1_1) free_if_any(info->domain_attr->auth_key);
    }
    if (info->fabric_attr) {
        free(info->fabric_attr->name);
        free(info->fabric_attr->prov_name);
    }
    if (layout >= Layout::V1_2 && info->nic && has_operations(*info->nic)) info->nic->fid.ops->close(&info->nic->fid);
    free(info->src_addr);
    free_if_any(info->dest_addr);
    free(info->tx_attr);
    free(info->rx_attr);
    free(info->ep_attr);
    free(info->domain_attr);
    free(info->fabric_attr);
    free(info);
}

}  // namespace

fi_info* allocate_info() {
    auto* info = zeroed<fi_info>();
    if (!info) return nullptr;
    info->tx_attr = zeroed<fi_tx_attr>();
    info->rx_attr = zeroed<fi_rx_attr>();
    info->ep_attr = zeroed<fi_ep_attr>();
    info->domain_attr = zeroed<DomainAttr>();
    info->fabric_attr = zeroed<fi_fabric_attr>();
    if (info->tx_attr && info->rx_attr && info->ep_attr && info->domain_attr && info->fabric_attr) return info;
    free_one(info, kNewestLayout);
    return nullptr;
}

namespace {

[[gnu::always_inline]] inline fi_info* duplicate(const fi_info& source, Layout layout) {
    const LayoutSizes& size = sizes_of(layout);
    bool ok = true;
    fi_info* out = copied_prefix(&source, size.info, ok);
    if (!out) return nullptr;
    out->next = nullptr;
    out->tx_attr = copied_prefix(source.tx_attr, size.tx, ok);
    out->rx_attr = copied_prefix(source.rx_attr, size.rx, ok);
    out->ep_attr = copied_ep(source.ep_attr, layout, ok);
    out->domain_attr = copied_domain(source.domain_attr, layout, ok);
    out->fabric_attr = copied_fabric(source.fabric_attr, size.fabric, ok);
    out->src_addr = copied_address(source.src_addr, source.src_addrlen, ok);
    out->dest_addr = copied_address(source.dest_addr, source.dest_addrlen, ok);
    if (layout >= Layout::V1_2 && source.nic && !copy_nic(out->nic, source.nic)) ok = false;
    if (ok) [[likely]]
        return out;
    free_one(out, kNewestLayout);
    return nullptr;
}

[[gnu::noinline]] fi_info* duplicate_older(const fi_info& source, Layout layout) { return duplicate(source, layout); }

// What of the structures is the caller's own: see layout.h.
Layout owned_layout(const fi_info& source, Layout symbol) {
    if (symbol <= Layout::V1_3) return symbol;
    const uint32_t version = source.fabric_attr ? source.fabric_attr->api_version : 0;
    return std::max(Layout::V1_3, older(symbol, layout_of_version(version)));
}

}  // namespace

// Nearly every caller has one of two layouts. With sizes that the compiler knows, its copies need no calls.
fi_info* duplicate_info(const fi_info& source, Layout layout) {
    if (layout == kNewestLayout) return duplicate(source, kNewestLayout);
    return layout == Layout::V1_3 ? duplicate(source, Layout::V1_3) : duplicate_older(source, layout);
}

fi_info* duplicate_callers_info(const fi_info& source, Layout symbol) {
    return duplicate_info(source, owned_layout(source, symbol));
}

void free_info_list(fi_info* list, Layout layout) {
    while (list) {
        fi_info* next = list->next;
        free_one(list, layout);
        list = next;
    }
}

}  // namespace selvage::impl
