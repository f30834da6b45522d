// The memory region: ranges of the process that peers may read or write under a key.
//
// The engine resolves (key, offset, length, access) through it. Regions are usable at once; the modes that would need a
// later fi_mr_enable are never asked of the application, and enabling is then a formality.
#ifndef SELVAGE_IMPL_CORE_MR_H
#define SELVAGE_IMPL_CORE_MR_H

#include "impl/core/object.h"

namespace selvage::impl {

struct Domain;
struct Counter;
struct Endpoint;

struct MemoryRegion {
    fid_mr descriptor{};
    UseCount uses;  // endpoints bound to it
    Domain* domain = nullptr;
    MemoryRegion* next_in_bucket = nullptr;
    uint64_t access = 0;
    uint64_t flags = 0;
    uint64_t base = 0;  // the address that peers count from: 0, or that of the buffer
    size_t length = 0;  // of all ranges together
    size_t range_count = 0;
    iovec* ranges = nullptr;  // malloc'ed
    size_t auth_key_size = 0;
    uint8_t auth_key[64] = {};
    Counter* write_counter = nullptr;  // counts FI_REMOTE_WRITE; holds a use of it

    static MemoryRegion* of(fid_mr* mr) { return object_of<MemoryRegion>(mr); }
};

}  // namespace selvage::impl

#endif
