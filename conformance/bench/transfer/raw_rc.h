// Two processes over one reliable connection of an RDMA device, by libibverbs alone: the least that a library over
// verbs can cost.
//
// Send and receive, each message in one request, from and into registered memory; completions are polled
// without a pause. libibverbs is loaded when it is asked for, so that the tool does not depend on it.
#pragma once

#include <infiniband/verbs.h>

#include <cstddef>
#include <cstdint>

#include "conformance/bench/transfer/link.h"

namespace selvage::conformance::bench::transfer {

/// Whether this machine has an RDMA device.
bool has_rdma_device();

class RawRc {
public:
    static RawRc connect(Link& link) { return RawRc(link); }  ///< both sides do the same
    static RawRc accept(Link& link) { return RawRc(link); }
    ~RawRc();  // NOLINT(bugprone-exception-escape): of a library that the constructor has loaded
    RawRc(const RawRc&) = delete;
    RawRc& operator=(const RawRc&) = delete;

    void ping(std::size_t size);         ///< there and back
    void pong(std::size_t size);         ///< its other side
    void send_window(std::size_t size);  ///< a window of messages, and the answer
    void take_window(std::size_t size);

private:
    explicit RawRc(Link& link);
    void open_device();
    void open_pair();
    void join();
    void post_receives(unsigned count);
    void send(std::size_t size);
    void take();
    void look(std::chrono::steady_clock::time_point since, unsigned& polls);
    unsigned reap();

    Link* link_;
    ibv_context* context_ = nullptr;
    ibv_pd* pd_ = nullptr;
    ibv_mr* mr_ = nullptr;
    ibv_cq* cq_ = nullptr;
    ibv_qp* qp_ = nullptr;
    std::byte* memory_ = nullptr;  // what is sent, then what is received
    ibv_port_attr port_{};
    ibv_gid gid_{};
    int gid_index_ = -1;
    std::size_t inline_max_ = 0;
    unsigned unsignalled_ = 0;
    unsigned under_way_ = 0;
    unsigned used_ = 0;      // receives to be posted again
    unsigned received_ = 0;  // and not taken yet
};

}  // namespace selvage::conformance::bench::transfer
