// FI_EP_DGRAM over verbs: the data path of one enabled endpoint, over an unreliable queue pair (UD).
//
// Sends: copied at the call, at most max_msg_size bytes, which is what a packet of the port holds. They complete when
// the device has handed them to the network. A send that the device gives up on fails with those behind it, and the
// queue pair starts again. Receives: in the order of posting. A datagram that arrives before a receive is posted waits
// in its buffer; there are as many buffers as rx_attr.size says, and with all of them taken the device drops.
// A device that is removed ends everything with FI_ENODEV.
//
// The calls of the application are in verbs_dgram_calls.cc, arrivals and sleeping in verbs_dgram.cc.
#pragma once

#include "impl/engine/datagram.h"
#include "impl/transport/verbs/knobs.h"
#include "impl/transport/verbs/verbs_dgram_pair.h"

namespace selvage::impl::verbs {

// Posted operations of an endpoint that are offered unasked.
inline constexpr size_t kDatagramQueue = 256;

class DatagramPath final : public DatagramBase {
public:
    static constexpr bool kHasData = true;
    static constexpr bool kHasGroups = false;

    DatagramPath() = default;
    ~DatagramPath();

    // 0 or a negative fabric errno; the object is destroyed then.
    int open(Endpoint& endpoint);

    ssize_t send(const DatagramSend& request);
    ssize_t receive(const DatagramReceive& request);

    // DataPath.
    void progress() override;
    bool arm() override;
    int wait_descriptor() const override { return epoll_; }
    size_t transmit_left() override;
    void close() override;

    // For tests.
    const DatagramPair& pair() const { return pair_; }

private:
    // The way to a peer, by the number it has in the address vector.
    struct Route {
        fi_addr_t address = FI_ADDR_NOTAVAIL;
        uint32_t generation = 0;  // of the address vector
        uint32_t queue_pair = 0;
        uint32_t stamp = 0;  // of the handle
        HandleCache::Handle* handle = nullptr;
    };
    static constexpr size_t kRoutes = 256;  // a power of two
    struct Sent {
        void* context;
        uint64_t flags;
    };
    // A datagram in its buffer.
    struct Arrived {
        uint32_t buffer;
        uint32_t size;
        uint32_t data;
        uint32_t queue_pair;
        uint16_t local_id;
        bool has_data;
        bool has_route;
    };

    int open_queues(Endpoint& endpoint);
    int open_events(const Endpoint& endpoint);
    void release();
    int find_route(fi_addr_t to, Route** out);
    int make_route(fi_addr_t to, uint32_t generation, Route* route);
    int wait_for_route(fi_addr_t to, Route** out);
    bool room() const { return pair_.posted() - pair_.completed() < endpoint_->tx.size && pair_.room(); }
    bool full(const DatagramSend& request);
    bool still_full();
    ssize_t send_locked(const DatagramSend& request, size_t size);
    size_t take_some();
    void take(const ibv_wc& completion);
    void take_arrival(const ibv_wc& completion, uint32_t buffer);
    void place(const Posted& receive, const Arrived& datagram);
    fi_addr_t source_of(const Arrived& datagram, AvEntry* out) const;
    void report_placed(const Posted& receive, const Arrived& datagram, uint64_t placed);
    void fail_oldest(int error);
    void fail_all(int error);
    void restart();
    void look_for_removal();

    DatagramPair pair_;
    HandleCache handles_;
    bool broken_ = false;         // a request failed
    bool gone_ = false;           // the device was removed
    bool looked_ = false;         // a send looked for completions
    Sent* sent_ = nullptr;        // by the place of the request
    Arrived* arrived_ = nullptr;  // from first_arrived_ to last_arrived_, in the order of arrival
    uint32_t buffers_ = 1;
    uint32_t first_arrived_ = 0;
    uint32_t last_arrived_ = 0;
    const RdmaLibrary* library_ = nullptr;
    rdma_event_channel* channel_ = nullptr;  // tells when the device is removed
    rdma_cm_id* watcher_ = nullptr;
    int epoll_ = -1;
    uint32_t rounds_ = 0;
    int64_t last_look_ = 0;
    int stash_count_ = 0;  // completions that arm() found
    ibv_wc stash_[kPoll];
    Route routes_[kRoutes];
};

}  // namespace selvage::impl::verbs

namespace selvage::impl {

int start_verbs_datagrams(Endpoint& endpoint);

}  // namespace selvage::impl
