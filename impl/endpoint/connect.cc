// See connect.h: the active side, and the calls that both sides have.
#include "impl/endpoint/connect.h"

#include <sched.h>

#include <algorithm>

#include "impl/base/create.h"
#include "impl/endpoint/datapath.h"
#include "impl/endpoint/endpoint_ops.h"
#include "impl/endpoint/ep.h"
#include "impl/endpoint/passive.h"
#include "impl/events/eq.h"
#include "impl/fabric/opened.h"

namespace selvage::impl {
namespace {

const ConnectionOps* ops_of(const Endpoint& endpoint) { return endpoint.domain->fabric->provider->connections; }

class PathGuard {
public:
    explicit PathGuard(DataPath& path) : path_(path) { path_.lock(); }
    ~PathGuard() { path_.unlock(); }
    PathGuard(const PathGuard&) = delete;
    PathGuard& operator=(const PathGuard&) = delete;

private:
    DataPath& path_;
};

Event* make_connection_event(uint32_t type, Endpoint& endpoint, size_t data_size) {
    Event* event = Event::allocate(type, sizeof(fi_eq_cm_entry) + data_size);
    if (!event) return nullptr;
    fi_eq_cm_entry entry{};
    entry.fid = &endpoint.descriptor.fid;
    memcpy(event->payload(), &entry, sizeof entry);
    return event;
}

// As much of the application data as an event has room for; its size. No data may come without an address.
size_t put_data(unsigned char* out, const uint8_t* data, size_t size) {
    if (!data || !size) return 0;
    const size_t copied = std::min(size, kConnectionDataMax);
    memcpy(out, data, copied);
    return copied;
}

// Takes the event out of its place, and so reports it once at most.
void report(EventQueue* eq, Event** event) {
    if (eq && *event) eq->push(*event);
    *event = nullptr;
}

}  // namespace

int Connection::prepare(Endpoint& endpoint) {
    established_ = make_connection_event(FI_CONNECTED, endpoint, kConnectionDataMax);
    end_ = make_connection_event(FI_SHUTDOWN, endpoint, 0);
    const char details[kConnectionDataMax] = {};
    failure_ = make_error(&endpoint.descriptor.fid, endpoint.descriptor.fid.context, 0, FI_ECONNREFUSED, 0, details,
                          sizeof details);
    if (established_ && end_ && failure_) return 0;
    release_events();
    return -FI_ENOMEM;
}

void Connection::release_events() {
    for (Event** event : {&established_, &failure_, &end_}) {
        free(*event);
        *event = nullptr;
    }
}

Connection::~Connection() { release_events(); }

void Connection::connected(const uint8_t* data, size_t size) {
    state = State::Connected;
    if (!established_) return;
    established_->size =
        sizeof(fi_eq_cm_entry) + put_data(established_->payload() + sizeof(fi_eq_cm_entry), data, size);
    report(eq, &established_);
}

void Connection::failed(int error, const uint8_t* data, size_t size) {
    state = State::Over;
    if (!failure_) return;
    fi_eq_err_entry entry;
    memcpy(&entry, failure_->payload(), sizeof entry);
    entry.err = entry.prov_errno = error;
    memcpy(failure_->payload(), &entry, sizeof entry);
    failure_->size = sizeof entry + put_data(failure_->payload() + sizeof entry, data, size);
    report(eq, &failure_);
}

void Connection::ended() {
    state = State::Over;
    report(eq, &end_);
}

int open_connection(Endpoint* endpoint, const fid* handle) {
    auto* connection = create<Connection>();
    if (!connection) return -FI_ENOMEM;
    if (handle && is_open_passive(handle)) {
        const int error = spend_passive(*object_of<PassiveEndpoint>(const_cast<fid*>(handle)), &endpoint->address);
        if (error) {
            destroy(connection);
            return error;
        }
    } else if (handle) {
        connection->request = claim_request(handle);
        if (!connection->request) {
            destroy(connection);
            return -FI_EINVAL;
        }
        connection->state = Connection::State::Requested;
        endpoint->address = connection->request->local;
        connection->peer = connection->request->remote;
    }
    endpoint->connection = connection;
    return 0;
}

void detach_connection(Endpoint* endpoint) {
    Connection* connection = endpoint->connection;
    if (!connection || !connection->eq) return;
    connection->eq->detach(endpoint->path, endpoint->domain);
}

void destroy_connection(Endpoint* endpoint) {
    Connection* connection = endpoint->connection;
    if (!connection) return;
    if (connection->request) destroy_request(connection->request, *ops_of(*endpoint), false, nullptr, 0);
    destroy(connection);
    endpoint->connection = nullptr;
}

namespace {

// Everything before the connection is tried: enabled, events ready, the event queue makes progress on the endpoint.
int make_ready(Endpoint* endpoint) {
    const int error = enable_endpoint(endpoint);
    if (error) return error;
    if (!endpoint->path) return -FI_ENOSYS;
    return 0;
}

int attach_queue(Endpoint* endpoint) {
    Connection& connection = *endpoint->connection;
    int error = connection.prepare(*endpoint);
    if (error) return error;
    EventQueue* eq = endpoint->eq ? endpoint->eq : endpoint->domain->eq;
    if (connection.eq == eq) return 0;
    error = eq->attach(endpoint->path, endpoint->domain);
    if (error) {
        connection.release_events();
    } else {
        connection.eq = eq;
    }
    return error;
}

// The address of a call has no length of its own: its format says it.
bool read_destination(const Endpoint& endpoint, const void* address, SocketAddress* out) {
    if (!address) return false;
    size_t length = 0;
    switch (endpoint.addr_format) {
        case FI_ADDR_STR:
            length = strnlen(static_cast<const char*>(address), kAddressBytesMax);
            break;
        default: {
            sa_family_t family;
            memcpy(&family, static_cast<const char*>(address) + offsetof(sockaddr, sa_family), sizeof family);
            length = family == AF_INET ? sizeof(sockaddr_in) : family == AF_INET6 ? sizeof(sockaddr_in6) : 0;
        }
    }
    ParsedAddress parsed;
    if (!read_address(endpoint.addr_format, address, length, &parsed)) return false;
    if (parsed.kind != endpoint.domain->kind || parsed.any_host) return false;
    *out = parsed.socket;
    return true;
}

int connect_endpoint(fid_ep* descriptor, const void* address, const void* data, size_t size) {
    Endpoint* endpoint = Endpoint::of(descriptor)->base;
    const ConnectionOps* ops = ops_of(*endpoint);
    SocketAddress to;
    if (!read_destination(*endpoint, address, &to) || (size && !data)) return -FI_EINVAL;
    int error = make_ready(endpoint);
    if (error) return error;
    LockGuard guard(endpoint->lock);
    Connection& connection = *endpoint->connection;
    {
        PathGuard path(*endpoint->path);
        if (connection.state == Connection::State::Requested) return -FI_EOPBADSTATE;
        if (connection.state == Connection::State::Connecting) return -FI_EALREADY;
        if (connection.state != Connection::State::None) return -FI_EISCONN;
    }
    error = attach_queue(endpoint);
    if (error) return error;
    PathGuard path(*endpoint->path);
    connection.peer = to;
    connection.state = Connection::State::Connecting;
    error = ops->connect(*endpoint, to, data, std::min(size, ops->data_max), &connection);
    if (!error) return 0;
    connection.state = Connection::State::None;
    connection.release_events();
    return error;
}

int accept_endpoint(fid_ep* descriptor, const void* data, size_t size) {
    Endpoint* endpoint = Endpoint::of(descriptor)->base;
    const ConnectionOps* ops = ops_of(*endpoint);
    if (size && !data) return -FI_EINVAL;
    if (!endpoint->connection->request) return -FI_EOPBADSTATE;
    int error = make_ready(endpoint);
    if (error) return error;
    LockGuard guard(endpoint->lock);
    Connection& connection = *endpoint->connection;
    ConnectionRequest* request = connection.request;
    if (!request) return -FI_EOPBADSTATE;
    error = attach_queue(endpoint);
    if (error) return error;
    PathGuard path(*endpoint->path);
    error = ops->accept(*endpoint, *request, data, std::min(size, ops->data_max), &connection);
    connection.request = nullptr;
    destroy(request);
    if (error) {
        connection.state = Connection::State::Over;
        return error;
    }
    connection.connected(nullptr, 0);
    return 0;
}

// Told at both ends: what the application reads here is the same whoever began.
int shut_down_endpoint(fid_ep* descriptor, uint64_t flags) {
    Endpoint* endpoint = Endpoint::of(descriptor)->base;
    if (flags) return -FI_EBADFLAGS;
    const ConnectionOps* ops = ops_of(*endpoint);
    LockGuard guard(endpoint->lock);
    if (!endpoint->path) return -FI_ENOTCONN;
    {
        PathGuard path(*endpoint->path);
        const int error = ops->shutdown(*endpoint);
        if (error) return error;
    }
    // The completions of what is cancelled are written by progress, and before this call returns. Another thread may
    // be in it.
    for (;;) {
        endpoint->path->progress();
        {
            PathGuard path(*endpoint->path);
            if (ops->is_down(*endpoint)) return 0;
        }
        sched_yield();
    }
}

int get_peer(fid_ep* descriptor, void* address, size_t* length) {
    Endpoint* endpoint = Endpoint::of(descriptor)->base;
    LockGuard guard(endpoint->lock);
    if (!endpoint->path) return -FI_ENOTCONN;
    PathGuard path(*endpoint->path);
    const Connection& connection = *endpoint->connection;
    if (connection.state != Connection::State::Connected) return -FI_ENOTCONN;
    return export_address(connection.peer, endpoint->addr_format, address, length);
}

int get_local(fid* descriptor, void* address, size_t* length) {
    Endpoint* endpoint = object_of<Endpoint>(descriptor)->base;
    LockGuard guard(endpoint->lock);
    SocketAddress local = reachable_address(*endpoint);
    if (endpoint->path) {
        PathGuard path(*endpoint->path);
        ops_of(*endpoint)->local_name(*endpoint, &local);
    }
    return export_address(local, endpoint->addr_format, address, length);
}

constexpr fi_ops_cm make_cm() {
    fi_ops_cm ops = kMissingCm;
    ops.setname = set_endpoint_name;
    ops.getname = get_local;
    ops.getpeer = get_peer;
    ops.connect = connect_endpoint;
    ops.accept = accept_endpoint;
    ops.shutdown = shut_down_endpoint;
    return ops;
}

}  // namespace

constinit const fi_ops_cm kConnectedCm = make_cm();

}  // namespace selvage::impl
