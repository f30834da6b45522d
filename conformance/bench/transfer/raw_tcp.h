// Two processes over one TCP connection of the loopback interface: the least that a library over TCP can cost.
//
// Sockets do not block and are polled without a pause, one call for each message and side.
#pragma once

#include <cstddef>
#include <vector>

#include "conformance/bench/transfer/link.h"

namespace selvage::conformance::bench::transfer {

class RawTcp {
public:
    static RawTcp connect(Link& link);  ///< the near side
    static RawTcp accept(Link& link);   ///< the far side
    ~RawTcp();
    RawTcp(RawTcp&& other) noexcept;
    RawTcp& operator=(RawTcp&&) = delete;

    void ping(std::size_t size);         ///< there and back
    void pong(std::size_t size);         ///< its other side
    void send_window(std::size_t size);  ///< a window of messages, and the answer
    void take_window(std::size_t size);

private:
    RawTcp(Link& link, int fd);
    void send_all(std::size_t size);
    void take_all(std::size_t size);
    Link* link_;
    int fd_;
    std::vector<std::byte> buffer_;
};

}  // namespace selvage::conformance::bench::transfer
