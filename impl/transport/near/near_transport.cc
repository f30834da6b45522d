// See near_transport.h.
#include "impl/transport/near/near_transport.h"

#include <sys/epoll.h>
#include <unistd.h>

#include "impl/av/av.h"
#include "impl/catalog/registry.h"
#include "impl/config/log.h"
#include "impl/endpoint/ep.h"

namespace selvage::impl {
namespace {

// Apart from the key of the domain's own regions: no endpoint of the shm provider can enter, whatever its name.
void derive_key(const Domain& domain, uint8_t (&out)[kDigestBytes]) {
    Hmac hmac(domain.auth_key, domain.attr.auth_key_size);
    hmac.add("near", 4);
    hmac.finish(out);
}

bool is_of_this_machine(const SocketAddress& address) {
    TableRef table;
    return !current_table(true, &table) && table->is_local(address);
}

int watch(int epoll, int descriptor) {
    epoll_event event{.events = EPOLLIN, .data = {.fd = descriptor}};
    return descriptor < 0 ? descriptor : epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event) ? -errno : 0;
}

}  // namespace

int NearTransport::open(Endpoint& endpoint) {
    int error = tcp_.open(endpoint);
    if (error) return error;
    av_ = endpoint.av;
    error = share(endpoint);
    shares_ = !error;
    if (error) {
        log_for("tcp", FI_LOG_INFO, FI_LOG_EP_CTRL, "peers on this machine are reached by tcp (%s)",
                fi_strerror(-error));
    }
    return 0;
}

int NearTransport::share(const Endpoint& endpoint) {
    const SocketAddress address = reachable_address(endpoint);
    char text[kShmTextMax];
    if (!near::Namespace::current(&space_) || !near::write_name(space_, address, text)) return -FI_EOPNOTSUPP;
    if (!is_of_this_machine(address)) return -FI_EHOSTUNREACH;  // bound, as the kernel may allow, but not here
    derive_key(*endpoint.domain, key_);
    shm_.take_long_frames(kFrameMax);
    return shm_.open_at(text, key_);
}

// The region first (near_transport.h, 3).
void NearTransport::close() {
    if (shares_) shm_.close();
    shares_ = false;
    tcp_.close();
    if (epoll_ >= 0) ::close(epoll_);
    epoll_ = -1;
    av_ = nullptr;
    look_at_sockets();
    explicit_bzero(key_, sizeof key_);
}

int NearTransport::find_near(const SocketAddress& address, Peer** out) {
    char text[kShmTextMax];
    if (!shares_ || !near::write_name(space_, address, text)) return -FI_EHOSTUNREACH;
    ShmPeer* peer;
    const int error = shm_.enter_peer_at(text, &peer);
    if (!error) *out = peer;
    return error;
}

int NearTransport::find_peer(fi_addr_t to, Peer** out) {
    AvEntry entry;
    if (!av_->find_address(to, &entry)) return -FI_EINVAL;
    tcp::Peer* far_peer = tcp_.living_at(entry.socket);
    if (!far_peer || !far_peer->way_chosen) {
        const int error = find_near(entry.socket, out);
        if (!error || error == -FI_EAGAIN) return error;
    }
    look_at_sockets();
    const int error = tcp_.peer_at(entry.socket, &far_peer);
    if (error) return error;
    far_peer->way_chosen = true;
    *out = far_peer;
    return 0;
}

bool NearTransport::address_of(Peer& peer, AvEntry* out) {
    if (!peer.in_memory) return tcp_.address_of(socket_peer(peer), out);
    return near::read_name(space_, memory_peer(peer).text, &out->socket);
}

bool NearTransport::arm() {
    look_at_sockets();  // whatever wakes the sleeper is looked for at once
    return (!shares_ || shm_.arm()) && tcp_.arm();
}

int NearTransport::wait_descriptor() const {
    if (!shares_) return tcp_.wait_descriptor();
    const int bell = shm_.wait_descriptor();
    if (bell < 0 || epoll_ >= 0) return bell < 0 ? bell : epoll_;
    const int made = epoll_create1(EPOLL_CLOEXEC);
    if (made < 0) return -errno;
    int error = watch(made, bell);
    if (!error) error = watch(made, tcp_.wait_descriptor());
    if (error) {
        ::close(made);
        return error;
    }
    return epoll_ = made;
}

}  // namespace selvage::impl
