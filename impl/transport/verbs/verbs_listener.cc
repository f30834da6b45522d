// The passive endpoint's listener, and the connection calls of the verbs provider (impl/endpoint/connect.h).
#include <fcntl.h>

#include <algorithm>

#include "impl/base/create.h"
#include "impl/endpoint/connect.h"
#include "impl/endpoint/datapath.h"
#include "impl/endpoint/ep.h"
#include "impl/endpoint/passive.h"
#include "impl/transport/verbs/verbs_endpoint.h"
#include "impl/transport/verbs/verbs_transport.h"

namespace selvage::impl {
namespace {

using verbs::as_error;
using verbs::PendingConnection;
using verbs::RdmaLibrary;
using verbs::Refusal;

SocketAddress address_from(const sockaddr& address) {
    sockaddr_storage storage{};
    memcpy(&storage, &address, address.sa_family == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in));
    return net::from_storage(storage);
}

void turn_away(const RdmaLibrary& library, rdma_cm_id* id, Refusal refusal, const void* data, size_t size) {
    uint8_t words[verbs::kRefusalBytes];
    const size_t length = verbs::write_refusal(refusal, static_cast<const uint8_t*>(data), size, words);
    (void)library.reject(id, words, static_cast<uint8_t>(length));
    (void)library.destroy_id(id);
}

// Driven by reading the event queue. A connection request becomes one of the application's at once; whether the caller
// holds the key turns out on the connection, after it was accepted and before anything of him is delivered.
class VerbsListener final : public Listener {
public:
    // Takes over the hold of the library.
    VerbsListener(PassiveEndpoint& owner, const RdmaLibrary& library) : owner_(owner), library_(library) {}
    ~VerbsListener() {
        if (id_) (void)library_.destroy_id(id_);
        if (channel_) library_.destroy_event_channel(channel_);
        verbs::let_go_of_rdma_library();
    }

    int open() {
        channel_ = library_.create_event_channel();
        if (!channel_) return as_error(errno);
        const int flags = fcntl(channel_->fd, F_GETFL);
        if (flags < 0 || fcntl(channel_->fd, F_SETFL, flags | O_NONBLOCK)) return -errno;
        if (library_.create_id(channel_, &id_, nullptr, RDMA_PS_TCP)) return as_error(errno);
        backlog_ = owner_.backlog > 0 ? static_cast<size_t>(owner_.backlog) : 1;
        const int backlog = static_cast<int>(std::min<size_t>(backlog_, 4096));
        if (library_.bind_addr(id_, &owner_.address.any) || library_.listen(id_, backlog)) return as_error(errno);
        owner_.address.set_port(ntohs(library_.get_src_port(id_)));
        return 0;
    }

    void progress() override {
        if (!lock_.try_lock()) return;
        while (take_event()) continue;
        lock_.unlock();
    }
    bool arm() override { return true; }  // an event that was not taken keeps the descriptor readable
    int wait_descriptor() const override { return channel_->fd; }
    void close() override { destroy(this); }

private:
    bool take_event() {
        rdma_cm_event* event;
        if (library_.get_cm_event(channel_, &event)) return false;
        const rdma_cm_event_type type = event->event;
        rdma_cm_id* id = event->id;
        const rdma_conn_param given = event->param.conn;
        uint8_t hello[verbs::kHelloBytes] = {};
        const bool whole = given.private_data && given.private_data_len >= sizeof hello;
        if (whole) memcpy(hello, given.private_data, sizeof hello);
        const bool request = type == RDMA_CM_EVENT_CONNECT_REQUEST;
        // Whoever takes a caller over waits for the acknowledgement: until then the caller stays.
        if (!request && id != id_ && id->context) static_cast<PendingConnection*>(id->context)->gone = true;
        library_.ack_cm_event(event);
        if (request) present(id, hello, std::min(given.responder_resources, given.initiator_depth));
        return true;
    }

    void present(rdma_cm_id* id, const uint8_t (&hello)[verbs::kHelloBytes], uint8_t reads) {
        id->context = nullptr;
        verbs::Hello read;
        if (!read_hello(hello, &read) || read.kind != verbs::CallKind::Message) {
            return turn_away(library_, id, Refusal::Kind, nullptr, 0);
        }
        PendingConnection* caller = count_requests(owner_) < backlog_ ? create<PendingConnection>() : nullptr;
        if (!caller) return turn_away(library_, id, Refusal::Gone, nullptr, 0);
        caller->library = &library_;
        caller->id = id;
        caller->hello = read;
        caller->reads = reads;
        std::copy(hello, hello + sizeof hello, caller->hello_bytes);
        id->context = caller;
        if (!add_request(owner_, caller, address_from(id->route.addr.src_addr), address_from(id->route.addr.dst_addr),
                         read.data, read.data_size)) {
            return;
        }
        destroy(caller);
        turn_away(library_, id, Refusal::Gone, nullptr, 0);
    }

    PassiveEndpoint& owner_;
    const RdmaLibrary& library_;
    Mutex lock_;  // protects what follows
    rdma_event_channel* channel_ = nullptr;
    rdma_cm_id* id_ = nullptr;
    size_t backlog_ = 0;
};

// The passive endpoint's lock is held.
int listen_verbs(PassiveEndpoint& endpoint, Listener** result) {
    const RdmaLibrary* library = verbs::hold_rdma_library();
    if (!library) return -FI_ENODEV;
    void* block = malloc(sizeof(VerbsListener));
    if (!block) {
        verbs::let_go_of_rdma_library();
        return -FI_ENOMEM;
    }
    auto* listener = new (block) VerbsListener(endpoint, *library);
    const int error = listener->open();
    if (error) {
        destroy(listener);
        return error;
    }
    *result = listener;
    return 0;
}

PendingConnection* caller_of(ConnectionRequest& request) {
    auto* caller = static_cast<PendingConnection*>(request.caller);
    request.caller = nullptr;
    return caller;
}

void refuse_verbs(ConnectionRequest& request, bool by_user, const void* data, size_t size) {
    PendingConnection* caller = caller_of(request);
    turn_away(*caller->library, caller->id, by_user ? Refusal::ByUser : Refusal::Gone, data, size);
    destroy(caller);
}

VerbsTransport& transport_of(Endpoint& endpoint) { return *static_cast<VerbsTransport*>(endpoint.path->transport()); }

int connect_verbs(Endpoint& endpoint, const SocketAddress& to, const void* data, size_t size,
                  ConnectionEvents* events) {
    return transport_of(endpoint).connect_to(to, static_cast<const uint8_t*>(data), size, events);
}

int accept_verbs(Endpoint& endpoint, ConnectionRequest& request, const void* data, size_t size,
                 ConnectionEvents* events) {
    return transport_of(endpoint).adopt(caller_of(request), static_cast<const uint8_t*>(data), size, events);
}

int shut_down_verbs(Endpoint& endpoint) { return transport_of(endpoint).shut_down(); }

bool is_down_verbs(Endpoint& endpoint) { return transport_of(endpoint).is_down(); }

void local_name_verbs(Endpoint& endpoint, SocketAddress* out) { (void)transport_of(endpoint).local_name(out); }

}  // namespace

const ConnectionOps kVerbsConnections = {
    .data_max = verbs::kPrivateMax,
    .listen = listen_verbs,
    .refuse = refuse_verbs,
    .connect = connect_verbs,
    .accept = accept_verbs,
    .shutdown = shut_down_verbs,
    .is_down = is_down_verbs,
    .local_name = local_name_verbs,
};

}  // namespace selvage::impl
