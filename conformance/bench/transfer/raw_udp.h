// Two processes, each with a UDP socket at the address that libraries open first: the least that a library over UDP can
// cost.
//
// sendto and recvfrom, one call for each message and side; sockets do not block and are polled without a pause. A
// window fits into the kernel's buffers, so that nothing is lost on one machine.
#pragma once

#include <netinet/in.h>

#include <cstddef>
#include <vector>

#include "conformance/bench/transfer/link.h"

namespace selvage::conformance::bench::transfer {

class RawUdp {
public:
    static RawUdp connect(Link& link) { return RawUdp(link); }  ///< both sides do the same
    static RawUdp accept(Link& link) { return RawUdp(link); }
    ~RawUdp();
    RawUdp(const RawUdp&) = delete;
    RawUdp& operator=(const RawUdp&) = delete;

    void ping(std::size_t size);         ///< there and back
    void pong(std::size_t size);         ///< its other side
    void send_window(std::size_t size);  ///< a window of messages, and the answer
    void take_window(std::size_t size);

private:
    explicit RawUdp(Link& link);
    void send(std::size_t size);
    void take();
    Link* link_;
    int fd_;
    sockaddr_in peer_{};
    std::vector<std::byte> buffer_;
};

}  // namespace selvage::conformance::bench::transfer
