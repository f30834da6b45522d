// Connections of FI_EP_MSG endpoints: what fi_cm(3) promises, over whatever a provider's ConnectionOps do.
//
// A Connection belongs to an endpoint, from fi_connect or from the fi_endpoint call that names a connection request,
// until fi_close; it has every event ready before anything is started, so that reporting cannot fail. Its members are
// protected by the lock of the endpoint's data path once that is open.
//
// A ConnectionRequest is a caller that waits for fi_accept or fi_reject. It belongs to the passive endpoint until an
// endpoint is opened on it. Handles of applications are looked up in a list and never followed otherwise.
#pragma once

#include "impl/base/lock.h"
#include "impl/net/address.h"
#include "impl/progress/progressive.h"

namespace selvage::impl {

struct Endpoint;
struct Event;
struct EventQueue;
struct PassiveEndpoint;

// What a connection tells its endpoint; called with the data path's lock held.
class ConnectionEvents {
public:
    virtual void connected(const uint8_t* data, size_t size) = 0;
    // Nothing came of it; `data` is what the other application said about it.
    virtual void failed(int error, const uint8_t* data, size_t size) = 0;
    virtual void ended() = 0;

protected:
    ~ConnectionEvents() = default;
};

struct ConnectionRequest {
    fid handle{};  // FI_CLASS_CONNREQ: what info->handle names
    ConnectionRequest* next = nullptr;
    PassiveEndpoint* owner = nullptr;  // nullptr once an endpoint was opened on it
    void* caller = nullptr;            // the provider's
    SocketAddress local;
    SocketAddress remote;
};

// Where a passive endpoint listens; the provider's object.
class Listener : public Progressive {
public:
    // Without further calls inside. Requests that were not claimed are refused by the owner before.
    virtual void close() = 0;

protected:
    ~Listener() = default;
};

// What a provider with connected endpoints supplies. Errors are negative fabric errnos. `size` is at most `data_max`,
// which is at most kConnectionDataMax.
struct ConnectionOps {
    size_t data_max;  // FI_OPT_CM_DATA_SIZE
    // Listens at the endpoint's address, whose port is written back. Reports callers by add_request().
    int (*listen)(PassiveEndpoint& endpoint, Listener** result);
    // Tells the caller, if anybody is there, and releases `request.caller`.
    void (*refuse)(ConnectionRequest& request, bool by_user, const void* data, size_t size);
    // With the lock of the data path:
    int (*connect)(Endpoint& endpoint, const SocketAddress& to, const void* data, size_t size,
                   ConnectionEvents* events);
    // Takes `request.caller` over, also when it fails.
    int (*accept)(Endpoint& endpoint, ConnectionRequest& request, const void* data, size_t size,
                  ConnectionEvents* events);
    int (*shutdown)(Endpoint& endpoint);
    // Nothing is left to be reported of the connection.
    bool (*is_down)(Endpoint& endpoint);
    void (*local_name)(Endpoint& endpoint, SocketAddress* out);
};

class Connection final : public ConnectionEvents {
public:
    enum class State : uint8_t { None, Requested, Connecting, Connected, Over };

    ~Connection();
    void connected(const uint8_t* data, size_t size) override;
    void failed(int error, const uint8_t* data, size_t size) override;
    void ended() override;

    // Makes the events; 0 or -FI_ENOMEM.
    int prepare(Endpoint& endpoint);
    void release_events();

    State state = State::None;
    ConnectionRequest* request = nullptr;  // Requested
    EventQueue* eq = nullptr;              // attached to; the endpoint or its domain holds it
    SocketAddress peer;

private:
    Event* established_ = nullptr;
    Event* failure_ = nullptr;
    Event* end_ = nullptr;
};

// The caller's arrival as an FI_CONNREQ event. Takes `caller` over if the result is 0.
int add_request(PassiveEndpoint& endpoint, void* caller, const SocketAddress& local, const SocketAddress& remote,
                const void* data, size_t size);
// The request that a handle of the application names, for a new endpoint; nullptr when there is none.
ConnectionRequest* claim_request(const fid* handle);
// Takes a request that was not claimed from the endpoint's list: the one named, or (nullptr) any.
ConnectionRequest* take_request(PassiveEndpoint& owner, const fid* handle);
size_t count_requests(const PassiveEndpoint& owner);
void destroy_request(ConnectionRequest* request, const ConnectionOps& ops, bool by_user, const void* data, size_t size);

// Endpoints (ep.cc): a request that `info` names is taken over; -FI_EINVAL when there is none such.
int open_connection(Endpoint* endpoint, const fid* handle);
// Before and after the data path is closed.
void detach_connection(Endpoint* endpoint);
void destroy_connection(Endpoint* endpoint);

extern const fi_ops_cm kConnectedCm;

}  // namespace selvage::impl
