// Which addresses of this machine belong to RDMA devices, and what those devices can do.
//
// rdma_cm says which port an address is on: it knows every kind of network, and it is what connections are made by.
// Called by discovery only, under the registry's lock.
#pragma once

#include "impl/net/address.h"
#include "impl/transport/verbs/rdma_library.h"

namespace selvage::impl::verbs {

// One port of one device, as the device describes it.
struct DevicePort {
    char device[IBV_SYSFS_NAME_MAX] = {};
    uint8_t port = 0;
    ibv_device_attr device_attr{};
    ibv_port_attr port_attr{};
    IbAddress datagrams{};  // what FI_EP_DGRAM is reached by there, without a queue pair; no GID: it is not
};

// Whether the folder (/sys/class/infiniband) has an entry: 0; -FI_ENODEV when it has none or does not exist, which
// costs one failed look-up; or another negative fabric errno when that cannot be known now.
int any_device(const char* folder);

// Asks rdma_cm about addresses. One channel for the life of the object.
class PortFinder {
public:
    explicit PortFinder(const RdmaLibrary& library) : library_(library) {}
    ~PortFinder();
    PortFinder(const PortFinder&) = delete;
    PortFinder& operator=(const PortFinder&) = delete;

    // 0, or a negative fabric errno: -FI_ENODEV when the machine has no connection manager that this user may use.
    int open();
    // The port that the address is on. 0; -FI_ENODEV when it is on none; or another negative fabric errno.
    int find(const SocketAddress& address, DevicePort* out) const;

private:
    int describe(ibv_context* context, uint8_t port, DevicePort* out) const;

    const RdmaLibrary& library_;
    rdma_event_channel* channel_ = nullptr;
};

// For a machine the devices of which are of no use: tells the log which of them libibverbs has a driver for.
void log_unusable_devices(const RdmaLibrary& library, const char* provider);

}  // namespace selvage::impl::verbs
