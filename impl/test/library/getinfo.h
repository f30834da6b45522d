// Short forms for queries to fi_getinfo in tests.
#pragma once

#include <rdma/fabric.h>
#include <rdma/fi_errno.h>

#include <cstdlib>
#include <cstring>
#include <memory>

namespace selvage::test {

inline constexpr uint32_t kVersion = FI_VERSION(1, 17);

struct InfoDeleter {
    void operator()(fi_info* info) const { fi_freeinfo(info); }
};
using InfoPtr = std::unique_ptr<fi_info, InfoDeleter>;

inline InfoPtr make_hints(const char* provider = nullptr, fi_ep_type type = FI_EP_UNSPEC) {
    InfoPtr hints(fi_allocinfo());
    if (provider) hints->fabric_attr->prov_name = strdup(provider);
    hints->ep_attr->type = type;
    return hints;
}

struct Answer {
    int result;
    InfoPtr list;

    size_t size() const {
        size_t count = 0;
        for (const fi_info* info = list.get(); info; info = info->next) ++count;
        return count;
    }
    const fi_info* operator->() const { return list.get(); }
    fi_info* get() const { return list.get(); }
};

inline Answer getinfo(const fi_info* hints, const char* node = nullptr, const char* service = nullptr,
                      uint64_t flags = 0, uint32_t version = kVersion) {
    fi_info* list = reinterpret_cast<fi_info*>(1);  // to be overwritten in every case
    const int result = fi_getinfo(version, node, service, flags, hints, &list);
    return {result, InfoPtr(list)};
}

inline Answer getinfo(const InfoPtr& hints, const char* node = nullptr, const char* service = nullptr,
                      uint64_t flags = 0, uint32_t version = kVersion) {
    return getinfo(hints.get(), node, service, flags, version);
}

}  // namespace selvage::test
