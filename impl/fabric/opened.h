// The fabrics, domains and passive endpoints that the process has open, in the order they were opened.
//
// fi_getinfo reports them and lets hints choose by them. A pointer in hints is compared with the list and never
// followed unless it is in it. Any thread may call; an object is removed before it is freed.
#pragma once

#include "impl/catalog/offer.h"

namespace selvage::impl {

struct Fabric;
struct DomainCore;

// What is known here of a passive endpoint, which begins with it.
struct OpenedPassive {
    fid_pep descriptor{};
    OpenedPassive* next_opened = nullptr;
};

void note_opened(Fabric* fabric);
void note_opened(DomainCore* domain);
void note_opened(OpenedPassive* endpoint);
void note_closed(Fabric* fabric);
void note_closed(DomainCore* domain);
void note_closed(OpenedPassive* endpoint);

// The instances to report for an offer with these names. `want_*` (may be nullptr) are what hints ask for; false when
// they are not open or belong to something else.
bool find_opened(const Provider& provider, const char* fabric_name, const char* domain_name, fid_fabric* want_fabric,
                 fid_domain* want_domain, fid_fabric** fabric, fid_domain** domain);
bool is_open_passive(const fid* handle);
// Whether one of these (either may be nullptr) is an open object of this library.
bool is_opened(const fid_fabric* fabric, const fid_domain* domain);

}  // namespace selvage::impl
