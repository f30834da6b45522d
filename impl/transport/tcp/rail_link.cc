// See rail_link.h. The kernel's own header: the C library's tcp_info ends before what is needed here.
#include "impl/transport/tcp/rail_link.h"

#include <linux/sockios.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstddef>

#include "impl/transport/net/sockets.h"

namespace selvage::impl::tcp {

uint64_t under_way(int socket) {
    int bytes = 0;
    return ioctl(socket, SIOCOUTQ, &bytes) || bytes < 0 ? 0 : static_cast<uint64_t>(bytes);
}

uint64_t readable(int socket) {
    int bytes = 0;
    return ioctl(socket, SIOCINQ, &bytes) || bytes < 0 ? 0 : static_cast<uint64_t>(bytes);
}

int end_of(int socket) {
    pollfd wait{.fd = socket, .events = POLLRDHUP, .revents = 0};
    if (poll(&wait, 1, 0) <= 0) return 0;
    const int error = net::pending_error(socket);
    return error ? error : ECONNRESET;
}

bool is_closed(int socket) {
    pollfd wait{.fd = socket, .events = POLLRDHUP, .revents = 0};
    return poll(&wait, 1, 0) > 0 && wait.revents == POLLRDHUP;
}

bool sample_link(int socket, LinkSample* out) {
    tcp_info info{};
    socklen_t size = sizeof info;
    if (getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &size)) return false;
    if (size < offsetof(tcp_info, tcpi_bytes_acked) + sizeof info.tcpi_bytes_acked) return false;
    out->waiting = under_way(socket);
    out->silence = info.tcpi_last_ack_recv;
    out->acked = info.tcpi_bytes_acked;
    out->retransmits = info.tcpi_retransmits;
    out->probes = info.tcpi_probes;
    return true;
}

}  // namespace selvage::impl::tcp
