// See rdma_library.h.
#include "impl/transport/verbs/rdma_library.h"

#include <dlfcn.h>
#include <pthread.h>

#include <new>

#include "impl/base/lock.h"
#include "impl/config/log.h"

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
    // Stays open when the loader is gone: devices that are open use it.
    void* handle() const { return handle_; }

private:
    const char* file_;
    const char* missing_ = nullptr;
    void* handle_;
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

bool load_connections(RdmaLibrary& to, void** handle) {
    Loader loader("librdmacm.so.1");
    *handle = loader.handle();
    return loader.find("rdma_create_event_channel", &to.create_event_channel)
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

// librdmacm keeps every device open that it has met, and the kernel takes requests from the process alone that opened
// it: a child of fork() has to meet them again before it opens something. So it unloads librdmacm, which forgets them;
// that the parent's descriptors stay open in the child is all that is left of them. To look at devices, what the parent
// opened will do.
struct Loaded {
    Mutex lock;  // protects what follows
    bool tried = false;
    bool complete = false;
    bool inherited = false;  // a child has what its parent loaded
    size_t users = 0;
    void* connections = nullptr;
    RdmaLibrary library;
};

Loaded& loaded() {
    static Loaded instance;
    return instance;
}

// Nobody else is in a child. Discovery takes the lock inside of another that is held around fork().
void in_child() {
    new (&loaded().lock) Mutex;
    loaded().inherited = loaded().tried;
}

void load(Loaded& state) {
    static const int armed = pthread_atfork(nullptr, nullptr, in_child);
    static_cast<void>(armed);
    if (state.connections) dlclose(state.connections);
    state.tried = true;
    state.inherited = false;
    state.complete = load_verbs(state.library) && load_connections(state.library, &state.connections);
}

}  // namespace

LookingAtDevices::LookingAtDevices() {
    Loaded& state = loaded();
    state.lock.lock();
    if (!state.tried) load(state);
    library_ = state.complete ? &state.library : nullptr;
}

LookingAtDevices::~LookingAtDevices() { loaded().lock.unlock(); }

const RdmaLibrary* hold_rdma_library() {
    Loaded& state = loaded();
    LockGuard guard(state.lock);
    if (state.inherited && state.users) {
        log_for("verbs", FI_LOG_WARN, FI_LOG_FABRIC,
                "this process was forked while RDMA devices were open, and can open none of its own");
        return nullptr;
    }
    if (!state.tried || state.inherited) load(state);
    if (!state.complete) return nullptr;
    ++state.users;
    return &state.library;
}

void let_go_of_rdma_library() {
    LockGuard guard(loaded().lock);
    --loaded().users;
}

}  // namespace selvage::impl::verbs
