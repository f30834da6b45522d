// The AV set (fi_av_set(3)): addresses of an address vector in an order, of which a collective group is made.
#pragma once

#include "impl/av/av.h"
#include "impl/base/lock.h"

namespace selvage::impl {

// FI_BARRIER_SET << n is of the n-th collective of fi_collective_op.
inline constexpr uint64_t kCollectiveSets = FI_BARRIER_SET | FI_BROADCAST_SET | FI_ALLTOALL_SET | FI_ALLREDUCE_SET |
                                            FI_ALLGATHER_SET | FI_REDUCE_SCATTER_SET | FI_REDUCE_SET | FI_SCATTER_SET |
                                            FI_GATHER_SET;
static_assert(kCollectiveSets == (FI_GATHER_SET << 1) - FI_BARRIER_SET && FI_BARRIER_SET << FI_GATHER == FI_GATHER_SET);

struct AvSet {
    fid_av_set descriptor{};
    AddressVector* av = nullptr;  // holds a use of it
    uint64_t supported = 0;       // FI_BARRIER_SET and its kin
    uint64_t key_digest = 0;      // of the communication key
    fi_addr_t address = FI_ADDR_NOTAVAIL;

    Mutex lock;                    // protects what follows
    fi_addr_t* members = nullptr;  // malloc'ed
    size_t count = 0;
    size_t capacity = 0;

    ~AvSet() { free(members); }
    bool has(fi_addr_t member) const;
    // Behind the last. 0 or -FI_ENOMEM.
    int append(fi_addr_t member);

    static AvSet* of(fid_av_set* set) { return object_of<AvSet>(set); }
};

int open_av_set(fid_av*, fi_av_set_attr*, fid_av_set**, void* context);  // the table in av.cc

}  // namespace selvage::impl
