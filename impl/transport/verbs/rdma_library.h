// libibverbs and librdmacm, loaded when a device is there: a table of their control functions.
//
// A machine without a device never loads them, and the library does not depend on them. The calls that move data
// (ibv_post_send, ibv_post_recv, ibv_poll_cq, ibv_req_notify_cq) are inline in the headers, go through the operations
// of an open device, and need no symbol. Members have the types, names and meaning of the two libraries; errors are
// theirs, too (errno, or a positive errno returned).
#pragma once

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#include "impl/base/rdma.h"

namespace selvage::impl::verbs {

// The two names that the header hides behind macros of its own, as the library exports them.
using GetDeviceList = ibv_device** (*)(int* count);
using QueryPort = int (*)(ibv_context* context, uint8_t port, _compat_ibv_port_attr* out);
using RegisterIova = ibv_mr* (*)(ibv_pd* pd, void* address, size_t length, uint64_t iova, int access);

struct RdmaLibrary {
    // Devices.
    GetDeviceList get_device_list = nullptr;
    decltype(&::ibv_free_device_list) free_device_list = nullptr;
    decltype(&::ibv_get_device_name) get_device_name = nullptr;
    decltype(&::ibv_open_device) open_device = nullptr;
    decltype(&::ibv_close_device) close_device = nullptr;
    decltype(&::ibv_query_device) query_device = nullptr;
    QueryPort query_port_compatible = nullptr;
    decltype(&::ibv_query_gid) query_gid = nullptr;
    decltype(&::ibv_query_pkey) query_pkey = nullptr;
    decltype(&::ibv_node_type_str) node_type_str = nullptr;
    decltype(&::ibv_get_async_event) get_async_event = nullptr;
    decltype(&::ibv_ack_async_event) ack_async_event = nullptr;
    // Memory.
    decltype(&::ibv_alloc_pd) alloc_pd = nullptr;
    decltype(&::ibv_dealloc_pd) dealloc_pd = nullptr;
    RegisterIova register_iova = nullptr;
    decltype(&::ibv_dereg_mr) dereg_mr = nullptr;
    // Queues.
    decltype(&::ibv_create_comp_channel) create_comp_channel = nullptr;
    decltype(&::ibv_destroy_comp_channel) destroy_comp_channel = nullptr;
    decltype(&::ibv_create_cq) create_cq = nullptr;
    decltype(&::ibv_resize_cq) resize_cq = nullptr;
    decltype(&::ibv_destroy_cq) destroy_cq = nullptr;
    decltype(&::ibv_get_cq_event) get_cq_event = nullptr;
    decltype(&::ibv_ack_cq_events) ack_cq_events = nullptr;
    decltype(&::ibv_query_qp) query_qp = nullptr;
    // Queue pairs without a connection.
    decltype(&::ibv_create_qp) create_pair = nullptr;
    decltype(&::ibv_modify_qp) modify_pair = nullptr;
    decltype(&::ibv_destroy_qp) destroy_pair = nullptr;
    decltype(&::ibv_create_ah) create_ah = nullptr;
    decltype(&::ibv_destroy_ah) destroy_ah = nullptr;
    // Connections.
    decltype(&::rdma_create_event_channel) create_event_channel = nullptr;
    decltype(&::rdma_destroy_event_channel) destroy_event_channel = nullptr;
    decltype(&::rdma_create_id) create_id = nullptr;
    decltype(&::rdma_destroy_id) destroy_id = nullptr;
    decltype(&::rdma_bind_addr) bind_addr = nullptr;
    decltype(&::rdma_resolve_addr) resolve_addr = nullptr;
    decltype(&::rdma_resolve_route) resolve_route = nullptr;
    decltype(&::rdma_create_qp) create_qp = nullptr;
    decltype(&::rdma_destroy_qp) destroy_qp = nullptr;
    decltype(&::rdma_connect) connect = nullptr;
    decltype(&::rdma_listen) listen = nullptr;
    decltype(&::rdma_accept) accept = nullptr;
    decltype(&::rdma_reject) reject = nullptr;
    decltype(&::rdma_disconnect) disconnect = nullptr;
    decltype(&::rdma_migrate_id) migrate_id = nullptr;
    decltype(&::rdma_get_cm_event) get_cm_event = nullptr;
    decltype(&::rdma_ack_cm_event) ack_cm_event = nullptr;
    decltype(&::rdma_get_src_port) get_src_port = nullptr;

    // 0 or a positive errno; fields that an old library does not know are zero.
    int query_port(ibv_context* context, uint8_t port, ibv_port_attr* out) const {
        memset(out, 0, sizeof *out);
        return query_port_compatible(context, port, reinterpret_cast<_compat_ibv_port_attr*>(out));
    }
};

// The libraries are loaded on first use, by any thread. No library: they are not installed, and the log says so. To be
// used only when the system has a device.

// While devices are looked at, and nothing is left open.
class LookingAtDevices {
public:
    LookingAtDevices();
    ~LookingAtDevices();
    LookingAtDevices(const LookingAtDevices&) = delete;
    LookingAtDevices& operator=(const LookingAtDevices&) = delete;
    const RdmaLibrary* library() const { return library_; }

private:
    const RdmaLibrary* library_;
};

// For an object that has something open from one call to another; let_go_of_rdma_library() at its end. nullptr also
// when this process was forked while its parent held the libraries: it could not use them anew without taking them away
// from its copy of what the parent has open.
const RdmaLibrary* hold_rdma_library();
void let_go_of_rdma_library();

}  // namespace selvage::impl::verbs
