// fi_getinfo and fi_fabric over the providers of this library and the external ones: what abi.cc calls.
//
// Arguments and results are those of get_info() and open_fabric() (discovery/getinfo.h, fabric/fabric.h), which alone
// are called if there are no external providers. Any thread.
#pragma once

#include "impl/discovery/getinfo.h"
#include "impl/fabric/fabric.h"
#include "impl/provider/external.h"

namespace selvage::impl {

namespace external_detail {
int get_merged_info(Layout layout, uint32_t version, const char* node, const char* service, uint64_t flags,
                    const fi_info* hints, fi_info** info);
int open_fabric_of(const ExternalProvider& provider, Layout layout, const fi_fabric_attr& attr, fid_fabric** fabric,
                   void* context);
}  // namespace external_detail

inline int get_info_of_all(Layout layout, uint32_t version, const char* node, const char* service, uint64_t flags,
                           const fi_info* hints, fi_info** info) {
    return has_external_providers()
               ? external_detail::get_merged_info(layout, version, node, service, flags, hints, info)
               : get_info(layout, version, node, service, flags, hints, info);
}

inline int open_fabric_of_all(Layout layout, const fi_fabric_attr* attr, fid_fabric** fabric, void* context) {
    const bool may_be_external = has_external_providers() && attr && attr->prov_name;
    const ExternalProvider* provider = may_be_external ? find_external_provider(attr->prov_name) : nullptr;
    return provider ? external_detail::open_fabric_of(*provider, layout, *attr, fabric, context)
                    : open_fabric(layout, attr, fabric, context);
}

}  // namespace selvage::impl
