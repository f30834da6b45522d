// Connection requests (connect.h): callers that wait for an answer of the application.
#include <algorithm>
#include <cstdlib>

#include "impl/base/create.h"
#include "impl/catalog/info_memory.h"
#include "impl/endpoint/connect.h"
#include "impl/endpoint/endpoint_ops.h"
#include "impl/endpoint/passive.h"
#include "impl/events/eq.h"

namespace selvage::impl {
namespace {

// All requests of the process that nobody took yet, so that a handle can be looked up before it is followed.
struct {
    Mutex lock;
    ConnectionRequest* first = nullptr;
} waiting;

template <typename Matches>
ConnectionRequest* take(Matches matches) {
    LockGuard guard(waiting.lock);
    for (ConnectionRequest** at = &waiting.first; *at; at = &(*at)->next) {
        ConnectionRequest* request = *at;
        if (!matches(*request)) continue;
        *at = request->next;
        request->next = nullptr;
        return request;
    }
    return nullptr;
}

bool set_address(void** slot, size_t* length, const SocketAddress& address, uint32_t format) {
    size_t needed = 0;
    (void)export_address(address, format, nullptr, &needed);
    void* copy = malloc(needed);
    if (!copy) return false;
    (void)export_address(address, format, copy, &needed);
    free(*slot);
    *slot = copy;
    *length = needed;
    return true;
}

fi_info* describe(const PassiveEndpoint& owner, ConnectionRequest& request) {
    fi_info* info = duplicate_info(*owner.info, kNewestLayout);
    if (!info) return nullptr;
    if (!info->addr_format) info->addr_format = owner.addr_format;
    if (!set_address(&info->src_addr, &info->src_addrlen, request.local, info->addr_format) ||
        !set_address(&info->dest_addr, &info->dest_addrlen, request.remote, info->addr_format)) {
        free_info_list(info, kNewestLayout);
        return nullptr;
    }
    info->handle = &request.handle;
    if (info->ep_attr) info->ep_attr->type = FI_EP_MSG;
    return info;
}

}  // namespace

int add_request(PassiveEndpoint& owner, void* caller, const SocketAddress& local, const SocketAddress& remote,
                const void* data, size_t size) {
    auto* request = create<ConnectionRequest>();
    if (!request) return -FI_ENOMEM;
    request->owner = &owner;
    request->local = local;
    request->remote = remote;
    request->handle.fclass = FI_CLASS_CONNREQ;
    fi_info* info = describe(owner, *request);
    Event* event = Event::allocate(FI_CONNREQ, sizeof(fi_eq_cm_entry) + size);
    if (!info || !event) {
        free_info_list(info, kNewestLayout);
        free(event);
        destroy(request);
        return -FI_ENOMEM;
    }
    fi_eq_cm_entry entry{};
    entry.fid = &owner.descriptor.fid;
    entry.info = info;
    memcpy(event->payload(), &entry, sizeof entry);
    if (size) memcpy(event->payload() + sizeof entry, data, size);
    request->caller = caller;
    {
        LockGuard guard(waiting.lock);
        ConnectionRequest** end = &waiting.first;
        while (*end) end = &(*end)->next;
        *end = request;
    }
    owner.eq->push(event);
    return 0;
}

ConnectionRequest* claim_request(const fid* handle) {
    ConnectionRequest* request = take([&](const ConnectionRequest& each) { return &each.handle == handle; });
    if (request) request->owner = nullptr;
    return request;
}

ConnectionRequest* take_request(PassiveEndpoint& owner, const fid* handle) {
    return take(
        [&](const ConnectionRequest& each) { return each.owner == &owner && (!handle || &each.handle == handle); });
}

size_t count_requests(const PassiveEndpoint& owner) {
    LockGuard guard(waiting.lock);
    size_t count = 0;
    for (const ConnectionRequest* each = waiting.first; each; each = each->next) count += each->owner == &owner;
    return count;
}

void destroy_request(ConnectionRequest* request, const ConnectionOps& ops, bool by_user, const void* data,
                     size_t size) {
    if (request->caller) ops.refuse(*request, by_user, data, size);
    destroy(request);
}

}  // namespace selvage::impl
