// See tcp_transport.h: the one connection of an FI_EP_MSG endpoint.
#include "impl/base/create.h"
#include "impl/transport/tcp/tcp_transport.h"

namespace selvage::impl {

int TcpTransport::connect_to(const SocketAddress& to, const uint8_t* data, size_t size, ConnectionEvents* events) {
    LockGuard setup(setup_);
    Peer* peer = only_ ? nullptr : peers_.add(to);
    if (!peer) return only_ ? -FI_EISCONN : -FI_ENOMEM;
    private_size_ = std::min(size, sizeof private_data_);
    if (private_size_) memcpy(private_data_, data, private_size_);
    const int error = dial(*peer);
    if (error) {
        peers_.clear();
        return error;
    }
    only_ = peer;
    events_ = events;
    return 0;
}

int TcpTransport::adopt(net::PendingConnection* pending, const uint8_t* data, size_t size, ConnectionEvents* events) {
    LockGuard setup(setup_);
    int error = 0;
    Peer* peer = nullptr;
    if (only_) {
        error = -FI_EISCONN;
    } else if (!pending->holds(key_)) {
        pending->refuse(net::Refusal::Key);
        error = -FI_EKEYREJECTED;
    } else if (peer = peers_.add(pending->from); !peer) {
        pending->refuse(net::Refusal::Busy);
        error = -FI_ENOMEM;
    } else if (!pending->welcome(key_, {.instance = instance_, .sequence = 0}, data, size)) {
        error = -FI_ECONNABORTED;
    } else if (!become_ready(*peer, pending->release_socket(), pending->hello.instance, 0)) {
        error = -FI_ENOMEM;
    } else {
        raise_peer(*peer);
    }
    destroy(pending);
    if (error) {
        if (!only_) peers_.clear();
        return error;
    }
    only_ = peer;
    events_ = events;
    return 0;
}

int TcpTransport::shut_down() {
    if (!connected()) return -FI_ENOTCONN;
    if (!only_->broken) hand_over(*only_, net::now_milliseconds() + net::kLinger);
    drop(*only_, FI_ECANCELED);
    return 0;
}

bool TcpTransport::local_name(SocketAddress* out) const {
    if (!connected()) return false;
    *out = net::local_address(only_->rx);
    return true;
}

}  // namespace selvage::impl
