// The fabric object: one network as one provider sees it. Parent of domains, event queues, wait sets and passive
// endpoints.
#pragma once

#include "impl/base/layout.h"
#include "impl/base/object.h"
#include "impl/catalog/offer.h"

namespace selvage::impl {

struct Fabric {
    fid_fabric descriptor{};
    UseCount uses;
    const Provider* provider = nullptr;
    uint32_t api_version = 0;
    char name[FI_NAME_MAX] = {};
    Fabric* next_opened = nullptr;  // opened.cc

    static Fabric* of(fid_fabric* fabric) { return object_of<Fabric>(fabric); }
};

// fi_fabric. The layout is that of the symbol the caller is linked to.
int open_fabric(Layout layout, const fi_fabric_attr* attr, fid_fabric** fabric, void* context);

// The table in ops, one function per file of its subject.
int fabric_open_domain(fid_fabric*, fi_info*, fid_domain**, void* context);                   // domain.cc
int fabric_open_domain2(fid_fabric*, fi_info*, fid_domain**, uint64_t flags, void* context);  // domain.cc
int fabric_open_passive(fid_fabric*, fi_info*, fid_pep**, void* context);                     // passive.cc
int fabric_open_eq(fid_fabric*, fi_eq_attr*, fid_eq**, void* context);                        // eq.cc
int fabric_open_wait(fid_fabric*, fi_wait_attr*, fid_wait**);                                 // wait_set_open.cc
int fabric_trywait(fid_fabric*, fid** fids, int count);                                       // trywait.cc

}  // namespace selvage::impl
