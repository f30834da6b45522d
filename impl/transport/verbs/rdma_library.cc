// See rdma_library.h.
#include "impl/transport/verbs/rdma_library.h"

#include <dlfcn.h>

#include "impl/core/log.h"

namespace selvage::impl::verbs {
namespace {

// Fills the table while everything is found; afterwards does nothing and remembers what was missing.
class Loader {
public:
    explicit Loader(const char* file) : file_(file), handle_(dlopen(file, RTLD_NOW | RTLD_LOCAL)) {
        if (!handle_) missing_ = file_;
    }
    template <typename Function>
    Loader& find(const char* name, Function* out) {
        void* symbol = missing_ ? nullptr : dlsym(handle_, name);
        if (!symbol && !missing_) missing_ = name;
        memcpy(out, &symbol, sizeof symbol);
        return *this;
    }
    bool complete() const {
        if (missing_) {
            log_for("verbs", FI_LOG_WARN, FI_LOG_FABRIC, "a device is present, but %s has no %s", file_, missing_);
        }
        return !missing_;
    }

private:
    const char* file_;
    const char* missing_ = nullptr;
    void* handle_;  // stays open: devices that are open use it
};

bool load_verbs(RdmaLibrary& to) {
    return Loader("libibverbs.so.1")
        .find("ibv_get_device_list", &to.get_device_list)
        .find("ibv_free_device_list", &to.free_device_list)
        .find("ibv_get_device_name", &to.get_device_name)
        .find("ibv_open_device", &to.open_device)
        .find("ibv_close_device", &to.close_device)
        .find("ibv_query_device", &to.query_device)
        .find("ibv_query_port", &to.query_port_compatible)
        .find("ibv_query_gid", &to.query_gid)
        .find("ibv_query_pkey", &to.query_pkey)
        .find("ibv_node_type_str", &to.node_type_str)
        .find("ibv_get_async_event", &to.get_async_event)
        .find("ibv_ack_async_event", &to.ack_async_event)
        .find("ibv_alloc_pd", &to.alloc_pd)
        .find("ibv_dealloc_pd", &to.dealloc_pd)
        .find("ibv_reg_mr_iova", &to.register_iova)
        .find("ibv_dereg_mr", &to.dereg_mr)
        .find("ibv_create_comp_channel", &to.create_comp_channel)
        .find("ibv_destroy_comp_channel", &to.destroy_comp_channel)
        .find("ibv_create_cq", &to.create_cq)
        .find("ibv_resize_cq", &to.resize_cq)
        .find("ibv_destroy_cq", &to.destroy_cq)
        .find("ibv_get_cq_event", &to.get_cq_event)
        .find("ibv_ack_cq_events", &to.ack_cq_events)
        .find("ibv_query_qp", &to.query_qp)
        .find("ibv_create_qp", &to.create_pair)
        .find("ibv_modify_qp", &to.modify_pair)
        .find("ibv_destroy_qp", &to.destroy_pair)
        .find("ibv_create_ah", &to.create_ah)
        .find("ibv_destroy_ah", &to.destroy_ah)
        .complete();
}

bool load_connections(RdmaLibrary& to) {
    return Loader("librdmacm.so.1")
        .find("rdma_create_event_channel", &to.create_event_channel)
        .find("rdma_destroy_event_channel", &to.destroy_event_channel)
        .find("rdma_create_id", &to.create_id)
        .find("rdma_destroy_id", &to.destroy_id)
        .find("rdma_bind_addr", &to.bind_addr)
        .find("rdma_resolve_addr", &to.resolve_addr)
        .find("rdma_resolve_route", &to.resolve_route)
        .find("rdma_create_qp", &to.create_qp)
        .find("rdma_destroy_qp", &to.destroy_qp)
        .find("rdma_connect", &to.connect)
        .find("rdma_listen", &to.listen)
        .find("rdma_accept", &to.accept)
        .find("rdma_reject", &to.reject)
        .find("rdma_disconnect", &to.disconnect)
        .find("rdma_migrate_id", &to.migrate_id)
        .find("rdma_get_cm_event", &to.get_cm_event)
        .find("rdma_ack_cm_event", &to.ack_cm_event)
        .find("rdma_get_src_port", &to.get_src_port)
        .complete();
}

}  // namespace

const RdmaLibrary* rdma_library() {
    static RdmaLibrary library;
    static const bool loaded = load_verbs(library) && load_connections(library);
    return loaded ? &library : nullptr;
}

}  // namespace selvage::impl::verbs
