// The memory region: ranges of the process that peers may read or write under a key.
//
// The engine resolves (key, offset, length, access) through it. Regions are usable at once, and enabling is a
// formality, unless the domain insists on more (mr_duties.h).
#pragma once

#include "impl/base/object.h"
#include "impl/hmem/hmem.h"

namespace selvage::impl {

struct Domain;
struct Counter;
struct MemoryRegion;

// What a provider supplies whose device has memory regions of its own, so that it can read and write them by itself.
struct MemoryOps {
    // Of a domain that is being opened: sets Domain::device. 0 or a negative fabric errno.
    int (*open)(Domain& domain);
    void (*close)(Domain& domain);
    // Sets MemoryRegion::device if the device takes the region (the engine serves it in any case), and the part of its
    // key that is not free. The region's ranges, access and base are known.
    void (*add)(Domain& domain, MemoryRegion& region);
    void (*remove)(Domain& domain, MemoryRegion& region);
};

struct MemoryRegion {
    fid_mr descriptor{};
    UseCount uses;  // endpoints bound to it
    Domain* domain = nullptr;
    MemoryRegion* next_in_bucket = nullptr;
    // What peers and operations may do. Of a device's memory it is 0, so that whoever does not know of devices is
    // refused, and the permissions are in hmem_access.
    uint64_t access = 0;
    uint64_t hmem_access = 0;
    Hmem hmem;  // where the memory is
    uint64_t flags = 0;
    uint64_t key = FI_KEY_NOTAVAIL;
    uint64_t base = 0;  // the address that peers count from: 0, or that of the buffer
    size_t length = 0;  // of all ranges together
    size_t range_count = 0;
    iovec* ranges = nullptr;  // malloc'ed
    void* device = nullptr;   // the device's, or nullptr
    uint64_t key_mask = 0;    // bits of a chosen key that the device needs, and what they are
    uint64_t key_bits = 0;
    size_t auth_key_size = 0;
    uint8_t auth_key[64] = {};
    bool bound = false;                // to an endpoint, at some time
    uint8_t awaits = 0;                // calls of the application before peers may use it (mr_duties.h)
    Counter* write_counter = nullptr;  // counts FI_REMOTE_WRITE; holds a use of it

    static MemoryRegion* of(fid_mr* mr) { return object_of<MemoryRegion>(mr); }
};

// Binds a region to an endpoint that fi_mr_bind names. 0 or a negative fabric errno.
int bind_region_to(fid* endpoint, MemoryRegion* region);  // ep_bind.cc

}  // namespace selvage::impl
