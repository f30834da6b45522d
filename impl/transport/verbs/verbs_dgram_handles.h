// Address handles of one endpoint for datagrams: what the device needs to know of a port to send there.
//
// Peers on one port share a handle. There are kHandles places; a handle that was not used for longest gives its place
// up, but not before the requests that name it have completed. The device may have to ask the network for the way to a
// port, so that making a handle can take as long as the system waits for that (a second, if nobody answers).
// Protected by the lock of the endpoint.
#pragma once

#include "impl/net/address.h"
#include "impl/transport/verbs/rdma_library.h"

namespace selvage::impl::verbs {

class HandleCache {
public:
    static constexpr uint32_t kHandles = 256;

    struct Handle {
        ibv_ah* device = nullptr;
        uint32_t stamp = 0;  // another one for every handle that is made
        uint32_t last = 0;   // requests that were posted when it was used last
        uint8_t gid[16] = {};
        uint16_t local_id = 0;
        uint8_t service_level = 0;
    };

    HandleCache() = default;
    ~HandleCache() { close(); }
    HandleCache(const HandleCache&) = delete;
    HandleCache& operator=(const HandleCache&) = delete;

    // How this endpoint's own port is reached from others, and its index in the port's table.
    void open(const RdmaLibrary& library, ibv_pd* pd, uint8_t port, uint8_t gid_index);
    void close();

    // The handle for a port. `posted` and `completed` count the endpoint's requests. 0; -FI_EAGAIN when all places are
    // in use by requests under way; or a negative errno when there is no way to the port.
    int find(const IbAddress& to, uint32_t posted, uint32_t completed, Handle** out);

private:
    static constexpr uint32_t kWays = 8;  // places that a port may have

    int make(const IbAddress& to, Handle& handle);

    const RdmaLibrary* library_ = nullptr;
    ibv_pd* pd_ = nullptr;
    uint8_t port_ = 0;
    uint8_t gid_index_ = 0;
    uint32_t stamp_ = 0;
    Handle handles_[kHandles];
};

}  // namespace selvage::impl::verbs
