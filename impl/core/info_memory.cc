// See info_memory.h.
#include "impl/core/info_memory.h"

#include <cstdlib>

namespace selvage::impl {
namespace {

// A size that the compiler does not know, so that it calls the C library instead of a string instruction, the start of
// which costs more than the copy.
inline size_t opaque(size_t size) {
    __asm__("" : "+r"(size));
    return size;
}

}  // namespace

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
    if (source.domain_attr) memcpy(&domain, source.domain_attr, size.domain);
    if (source.fabric_attr) memcpy(&fabric, source.fabric_attr, size.fabric);
    relink();
}

namespace {

template <typename T>
T* zeroed() {
    return static_cast<T*>(calloc(1, sizeof(T)));
}

// Copies the first `size` bytes of *source into a new full-size block. False when memory is short.
template <typename T>
bool copy_prefix(T** target, const T* source, size_t size) {
    *target = nullptr;
    if (!source) return true;
    auto* block = static_cast<T*>(malloc(sizeof(T)));
    if (!block) return false;
    if (size == sizeof(T)) {
        *block = *source;
    } else {
        memcpy(static_cast<void*>(block), source, size);
        memset(reinterpret_cast<char*>(block) + size, 0, sizeof(T) - size);
    }
    *target = block;
    return true;
}

bool copy_bytes(void** target, const void* source, size_t length) {
    *target = nullptr;
    if (!source || length == 0) return true;
    *target = malloc(length);
    if (!*target) return false;
    memcpy(*target, source, length);
    return true;
}

bool copy_string(char** target, const char* source) {
    if (!source) return true;
    *target = strdup(source);
    return *target != nullptr;
}

// Address lengths without an address, and addresses without a length, copy as nothing.
bool copy_address(void** target, size_t* length, const void* source, size_t source_length) {
    *length = source && source_length ? source_length : 0;
    return copy_bytes(target, source, *length);
}

bool copy_key(uint8_t** target, const uint8_t* source, size_t length) {
    void* block = nullptr;
    if (!copy_bytes(&block, source, length)) return false;
    *target = static_cast<uint8_t*>(block);
    return true;
}

// The copy functions below own what they have put into `out`: on failure the caller frees the whole of `out`.
bool copy_ep(fi_info* out, const fi_info& source, size_t size) {
    if (!copy_prefix(&out->ep_attr, source.ep_attr, size)) return false;
    if (!out->ep_attr) return true;
    const uint8_t* key = out->ep_attr->auth_key;
    out->ep_attr->auth_key = nullptr;
    return copy_key(&out->ep_attr->auth_key, key, out->ep_attr->auth_key_size);
}

bool copy_domain(fi_info* out, const fi_info& source, size_t size) {
    if (!copy_prefix(&out->domain_attr, source.domain_attr, size)) return false;
    if (!out->domain_attr) return true;
    const char* name = out->domain_attr->name;
    const uint8_t* key = out->domain_attr->auth_key;
    out->domain_attr->name = nullptr;
    out->domain_attr->auth_key = nullptr;
    return copy_string(&out->domain_attr->name, name) &&
           copy_key(&out->domain_attr->auth_key, key, out->domain_attr->auth_key_size);
}

bool copy_fabric(fi_info* out, const fi_info& source, size_t size) {
    if (!copy_prefix(&out->fabric_attr, source.fabric_attr, size)) return false;
    if (!out->fabric_attr) return true;
    const char* name = out->fabric_attr->name;
    const char* provider = out->fabric_attr->prov_name;
    out->fabric_attr->name = nullptr;
    out->fabric_attr->prov_name = nullptr;
    return copy_string(&out->fabric_attr->name, name) && copy_string(&out->fabric_attr->prov_name, provider);
}

bool has_operations(const fid_nic* nic) { return nic->fid.ops && nic->fid.ops->control && nic->fid.ops->close; }

// A nic belongs to the provider that made it: it knows how to copy itself.
bool copy_nic(fi_info* out, const fid_nic* nic) {
    if (!nic || !has_operations(nic)) return true;
    fid* copy = nullptr;
    auto* source = const_cast<fid*>(&nic->fid);
    const int result = source->ops->control(source, FI_DUP, &copy);
    if (result == -FI_ENOSYS) return true;
    if (result || !copy) return false;
    out->nic = reinterpret_cast<fid_nic*>(copy);
    return true;
}

// For what is seldom there: saves the call.
void free_if_any(void* block) {
    if (block) free(block);
}

void free_one(fi_info* info, Layout layout) {
    if (info->ep_attr && layout >= Layout::k1_1) free_if_any(info->ep_attr->auth_key);
    if (info->domain_attr) {
        free(info->domain_attr->name);
        if (layout >= Layout::k1_1) free_if_any(info->domain_attr->auth_key);
    }
    if (info->fabric_attr) {
        free(info->fabric_attr->name);
        free(info->fabric_attr->prov_name);
    }
    if (layout >= Layout::k1_2 && info->nic && has_operations(info->nic)) info->nic->fid.ops->close(&info->nic->fid);
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
    info->domain_attr = zeroed<fi_domain_attr>();
    info->fabric_attr = zeroed<fi_fabric_attr>();
    if (info->tx_attr && info->rx_attr && info->ep_attr && info->domain_attr && info->fabric_attr) return info;
    free_one(info, Layout::k1_3);
    return nullptr;
}

fi_info* duplicate_info(const fi_info& source, Layout layout) {
    const LayoutSizes& size = sizes_of(layout);
    // Copied and then corrected, not cleared and then filled: compilers make calloc of malloc and memset, and the C
    // library serves only malloc from its per-thread cache.
    auto* out = static_cast<fi_info*>(malloc(sizeof(fi_info)));
    if (!out) return nullptr;
    if (size.info == sizeof(fi_info)) {
        *out = source;
    } else {
        memcpy(out, &source, size.info);
    }
    out->next = nullptr;
    out->nic = nullptr;
    out->tx_attr = nullptr;
    out->rx_attr = nullptr;
    out->ep_attr = nullptr;
    out->domain_attr = nullptr;
    out->fabric_attr = nullptr;
    out->src_addr = nullptr;
    out->dest_addr = nullptr;
    const bool complete = copy_prefix(&out->tx_attr, source.tx_attr, size.tx) &&
                          copy_prefix(&out->rx_attr, source.rx_attr, size.rx) && copy_ep(out, source, size.ep) &&
                          copy_domain(out, source, size.domain) && copy_fabric(out, source, size.fabric) &&
                          copy_address(&out->src_addr, &out->src_addrlen, source.src_addr, source.src_addrlen) &&
                          copy_address(&out->dest_addr, &out->dest_addrlen, source.dest_addr, source.dest_addrlen) &&
                          (layout < Layout::k1_2 || copy_nic(out, source.nic));
    if (complete) return out;
    free_one(out, Layout::k1_3);
    return nullptr;
}

void free_info_list(fi_info* list, Layout layout) {
    while (list) {
        fi_info* next = list->next;
        free_one(list, layout);
        list = next;
    }
}

}  // namespace selvage::impl
