// See verbs_domain.h.
#include "impl/transport/verbs/verbs_domain.h"

#include "impl/base/create.h"
#include "impl/config/param.h"
#include "impl/transport/verbs/verbs_endpoint.h"

namespace selvage::impl {
namespace {

using verbs::RdmaLibrary;
using verbs::VerbsDomain;

const Param<bool> kAtomicsRow{"verbs", "device_atomics", false,
                              "Let the device do 64-bit additions and compare-and-swaps even if it says that they are "
                              "atomic among its own only: no other atomics may then be used on the same memory"};

void release(VerbsDomain* device) {
    const RdmaLibrary& library = *device->library;
    device->unnamed.close();
    if (device->pd) (void)library.dealloc_pd(device->pd);
    if (device->holder) (void)library.destroy_id(device->holder);
    if (device->channel) library.destroy_event_channel(device->channel);
    destroy(device);
    verbs::let_go_of_rdma_library();
}

int open_device(VerbsDomain& device, SocketAddress address) {
    const RdmaLibrary& library = *device.library;
    address.set_port(0);
    device.channel = library.create_event_channel();
    if (!device.channel) return verbs::as_error(errno);
    if (library.create_id(device.channel, &device.holder, nullptr, RDMA_PS_TCP)) return verbs::as_error(errno);
    if (library.bind_addr(device.holder, &address.any)) return verbs::as_error(errno);
    device.context = device.holder->verbs;
    if (!device.context) return -FI_ENODEV;
    const int error = library.query_device(device.context, &device.limits);
    if (error) return verbs::as_error(error);
    device.atomics = device.limits.atomic_cap == IBV_ATOMIC_GLOB ||
                     (device.limits.atomic_cap == IBV_ATOMIC_HCA && kAtomicsRow.get());
    ibv_port_attr port;
    if (library.query_port(device.context, device.holder->port_num, &port)) return -FI_EIO;
    device.message_max = port.max_msg_sz;
    device.pd = library.alloc_pd(device.context);
    return device.pd ? 0 : verbs::as_error(errno);
}

int open_domain(Domain& domain) {
    const RdmaLibrary* library = verbs::hold_rdma_library();
    if (!library) return -FI_ENODEV;
    auto* device = create<VerbsDomain>();
    if (!device) {
        verbs::let_go_of_rdma_library();
        return -FI_ENOMEM;
    }
    device->library = library;
    const int error = open_device(*device, domain.host);
    if (error) {
        release(device);
        return error;
    }
    domain.device = device;
    return 0;
}

void close_domain(Domain& domain) {
    if (VerbsDomain* device = VerbsDomain::of(domain)) release(device);
    domain.device = nullptr;
}

int device_access(uint64_t access) {
    int result = 0;
    if (access & (FI_RECV | FI_READ | FI_REMOTE_WRITE)) result |= IBV_ACCESS_LOCAL_WRITE;
    if (access & FI_REMOTE_READ) result |= IBV_ACCESS_REMOTE_READ;
    if (access & FI_REMOTE_WRITE) result |= IBV_ACCESS_REMOTE_WRITE;
    constexpr uint64_t kBoth = FI_REMOTE_READ | FI_REMOTE_WRITE;
    if ((access & kBoth) == kBoth) result |= IBV_ACCESS_REMOTE_ATOMIC;
    return result;
}

// Memory that the device does not take (no permission to lock it, pages that cannot be written) is served by frames.
void add_region(Domain& domain, MemoryRegion& region) {
    if (!domain.chooses_keys() && !(domain.attr.mr_mode & FI_MR_LOCAL)) return;
    region.key_mask = verbs::kDeviceKey;
    if (region.hmem.ops) return;  // copied by the engine
    if (region.range_count != 1 || !region.length) return;
    // A device looks for alignment at the address that peers count from, and the memory must have it, too.
    if ((reinterpret_cast<uintptr_t>(region.ranges[0].iov_base) - region.base) % sizeof(uint64_t)) return;
    const VerbsDomain& device = *VerbsDomain::of(domain);
    // Under keys that the application chose, peers come by way of the engine alone.
    constexpr uint64_t kRemote = FI_REMOTE_READ | FI_REMOTE_WRITE;
    const uint64_t access = domain.chooses_keys() ? region.access : region.access & ~kRemote;
    auto* own = create<verbs::DeviceRegion>();
    if (!own) return;
    ibv_mr* registered = device.library->register_iova(device.pd, region.ranges[0].iov_base, region.length, region.base,
                                                       device_access(access));
    if (!registered) return destroy(own);
    own->registered = registered;
    region.device = own;
    region.key_mask = verbs::kDeviceKey | UINT32_MAX;
    region.key_bits = verbs::kDeviceKey | registered->rkey;
}

void remove_region(Domain& domain, MemoryRegion& region) {
    if (!region.device) return;
    const VerbsDomain& device = *VerbsDomain::of(domain);
    auto* own = static_cast<verbs::DeviceRegion*>(region.device);
    verbs::forget_exported(device, *own);
    (void)device.library->dereg_mr(own->registered);
    destroy(own);
    region.device = nullptr;
}

}  // namespace

const MemoryOps kVerbsMemory = {
    .open = open_domain,
    .close = close_domain,
    .add = add_region,
    .remove = remove_region,
};

}  // namespace selvage::impl
