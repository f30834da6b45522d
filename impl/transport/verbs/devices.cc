// See devices.h.
#include "impl/transport/verbs/devices.h"

#include <dirent.h>

#include <cstdio>

#include "impl/config/log.h"
#include "impl/transport/verbs/verbs_dgram_address.h"

namespace selvage::impl::verbs {
namespace {

// What only says that there is nothing here for this user, and what is an error of the call.
int none_or_error(int error) {
    switch (error) {
        case ENOMEM:
            return -FI_ENOMEM;
        case EMFILE:
        case ENFILE:
            return -FI_EMFILE;
        default:
            return -FI_ENODEV;
    }
}

// An identifier of rdma_cm while an address is asked about.
class Identifier {
public:
    Identifier(const RdmaLibrary& library, rdma_event_channel* channel) : library_(library) {
        if (library_.create_id(channel, &id_, nullptr, RDMA_PS_TCP)) id_ = nullptr;
    }
    ~Identifier() {
        if (id_) library_.destroy_id(id_);
    }
    Identifier(const Identifier&) = delete;
    Identifier& operator=(const Identifier&) = delete;

    // 0 or errno. The kernel does not write to the address, whatever the signature says.
    int bind(const SocketAddress& address) {
        if (!id_) return errno;
        SocketAddress copy = address;
        return library_.bind_addr(id_, &copy.any) ? errno : 0;
    }
    ibv_context* context() const { return id_ ? id_->verbs : nullptr; }
    uint8_t port() const { return id_->port_num; }

private:
    const RdmaLibrary& library_;
    rdma_cm_id* id_ = nullptr;
};

}  // namespace

int any_device(const char* folder) {
    DIR* devices = opendir(folder);
    if (!devices) return none_or_error(errno);
    bool found = false;
    while (const dirent* entry = readdir(devices)) found = found || entry->d_name[0] != '.';
    closedir(devices);
    return found ? 0 : -FI_ENODEV;
}

PortFinder::~PortFinder() {
    if (channel_) library_.destroy_event_channel(channel_);
}

int PortFinder::open() {
    channel_ = library_.create_event_channel();
    return channel_ ? 0 : none_or_error(errno);
}

int PortFinder::find(const SocketAddress& address, DevicePort* out) const {
    Identifier id(library_, channel_);
    const int error = id.bind(address);
    if (error) return none_or_error(error);
    if (!id.context()) return -FI_ENODEV;
    const int unknown = describe(id.context(), id.port(), out);
    if (unknown) return unknown;
    uint8_t index;
    if (find_own_address(library_, id.context(), id.port(), out->port_attr, address, &out->datagrams, &index))
        out->datagrams = {};
    return 0;
}

int PortFinder::describe(ibv_context* context, uint8_t port, DevicePort* out) const {
    snprintf(out->device, sizeof out->device, "%s", library_.get_device_name(context->device));
    out->port = port;
    const int error = library_.query_device(context, &out->device_attr);
    if (error) return none_or_error(error);
    const int port_error = library_.query_port(context, port, &out->port_attr);
    return port_error ? none_or_error(port_error) : 0;
}

void log_unusable_devices(const RdmaLibrary& library, const char* provider) {
    if (!log_enabled_for(provider, FI_LOG_INFO, FI_LOG_FABRIC)) return;
    int count = 0;
    ibv_device** list = library.get_device_list(&count);
    for (int i = 0; list && i < count; ++i) {
        log_for(provider, FI_LOG_INFO, FI_LOG_FABRIC, "device %s has no active port with an address to be used",
                library.get_device_name(list[i]));
    }
    if (list) library.free_device_list(list);
    if (count <= 0)
        log_for(provider, FI_LOG_INFO, FI_LOG_FABRIC, "libibverbs has no driver for this machine's devices");
}

}  // namespace selvage::impl::verbs
