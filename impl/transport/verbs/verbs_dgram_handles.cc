// See verbs_dgram_handles.h.
#include "impl/transport/verbs/verbs_dgram_handles.h"

namespace selvage::impl::verbs {
namespace {

// Hops that a datagram may take; routers count them down.
constexpr uint8_t kHops = 64;

uint32_t set_of(const IbAddress& to, uint32_t sets) {
    uint64_t words[2];
    memcpy(words, to.gid, sizeof words);
    uint64_t value = (words[0] ^ to.local_id) * 0x9e3779b97f4a7c15;
    value = ((value ^ value >> 32) + words[1]) * 0xbf58476d1ce4e5b9;
    return static_cast<uint32_t>(value >> 32) % sets;
}

bool leads_to(const HandleCache::Handle& handle, const IbAddress& to) {
    return handle.device && handle.local_id == to.local_id && handle.service_level == to.service_level &&
           memcmp(handle.gid, to.gid, sizeof to.gid) == 0;
}

}  // namespace

void HandleCache::open(const RdmaLibrary& library, ibv_pd* pd, uint8_t port, uint8_t gid_index) {
    library_ = &library;
    pd_ = pd;
    port_ = port;
    gid_index_ = gid_index;
}

void HandleCache::close() {
    for (Handle& handle : handles_) {
        if (handle.device) (void)library_->destroy_ah(handle.device);
        handle = {};
    }
}

int HandleCache::find(const IbAddress& to, uint32_t posted, uint32_t completed, Handle** out) {
    Handle* first = &handles_[set_of(to, kHandles / kWays) * kWays];
    Handle* place = nullptr;
    uint32_t longest = 0;
    for (Handle* each = first; each != first + kWays; ++each) {
        if (leads_to(*each, to)) {
            *out = each;
            return 0;
        }
        // The counters wrap around; a handle that is unused for so long looks used, and is taken a little later.
        const bool busy = each->device && posted - each->last < posted - completed;
        const uint32_t unused = each->device ? posted - each->last : UINT32_MAX;
        if (busy || (place && unused <= longest)) continue;
        place = each;
        longest = unused;
    }
    if (!place) return -FI_EAGAIN;
    const int error = make(to, *place);
    if (!error) *out = place;
    return error;
}

// The route header is always there, so that whoever receives knows where from.
int HandleCache::make(const IbAddress& to, Handle& handle) {
    if (handle.device) (void)library_->destroy_ah(handle.device);
    handle = {};
    ibv_ah_attr attr{};
    attr.is_global = 1;
    attr.grh.sgid_index = gid_index_;
    attr.grh.hop_limit = kHops;
    memcpy(attr.grh.dgid.raw, to.gid, sizeof to.gid);
    attr.dlid = to.local_id;
    attr.sl = to.service_level & 0xf;
    attr.port_num = port_;
    errno = 0;
    ibv_ah* device = library_->create_ah(pd_, &attr);
    if (!device) {
        // What the kernel says of an address that it knows no way to is not the same everywhere.
        const int error = errno;
        return error == ENOMEM || error == ENODEV ? -error : -FI_EHOSTUNREACH;
    }
    handle.device = device;
    handle.stamp = ++stamp_;
    handle.local_id = to.local_id;
    handle.service_level = to.service_level;
    memcpy(handle.gid, to.gid, sizeof to.gid);
    return 0;
}

}  // namespace selvage::impl::verbs
