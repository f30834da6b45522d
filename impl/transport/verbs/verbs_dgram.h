// FI_EP_DGRAM over verbs: the data path of one enabled endpoint, over an unreliable queue pair (UD).
//
// Not an instance of the engine, which is made for peers that answer: here a message is one packet, nothing is sent
// twice, nobody is waited for, and what finds no room at the receiver is lost. The messages are the application's bytes
// and nothing else (FI_PROTO_IB_UD), so other libraries' datagram endpoints understand them.
//
// Sends: copied at the call, at most max_msg_size bytes, which is what a packet of the port holds. They complete when
// the device has handed them to the network. A send that the device gives up on fails with those behind it, and the
// queue pair starts again. Receives: in the order of posting. A datagram that arrives before a receive is posted waits
// in its buffer; there are as many buffers as rx_attr.size says, and with all of them taken the device drops.
// A device that is removed ends everything with FI_ENODEV.
//
// The calls of the application are in verbs_dgram_calls.cc, arrivals and sleeping in verbs_dgram.cc.
#pragma once

#include "impl/av/av.h"
#include "impl/endpoint/datapath.h"
#include "impl/engine/memory.h"
#include "impl/engine/reports.h"
#include "impl/transport/verbs/knobs.h"
#include "impl/transport/verbs/verbs_dgram_pair.h"

namespace selvage::impl::verbs {

// Posted operations of an endpoint: what is offered unasked, and what may be asked for as far as the device can.
inline constexpr size_t kDatagramQueue = 256;
inline constexpr size_t kDatagramQueueMax = 4096;

class DatagramPath final : public DataPath {
public:
    struct SendRequest {
        const iovec* ranges;
        size_t count;
        fi_addr_t to;
        uint64_t data;
        bool has_data;
        void* context;
        uint64_t flags;  // FI_COMPLETION when an entry is to be written
    };
    struct ReceiveRequest {
        const iovec* ranges;
        size_t count;
        void* context;
        uint64_t flags;
    };

    DatagramPath() = default;
    ~DatagramPath();

    // 0 or a negative fabric errno; the object is destroyed then.
    int open(Endpoint& endpoint);
    int attach();

    ssize_t send(const SendRequest& request);
    ssize_t receive(const ReceiveRequest& request);
    size_t inject_max() const { return inject_max_; }

    // DataPath.
    void progress() override;
    bool arm() override;
    int wait_descriptor() const override { return epoll_; }
    int cancel(void* context) override;
    void set_counter(CounterSlot slot, Counter* counter) override {
        lock();
        reports_.counters[slot] = counter;
        unlock();
    }
    size_t transmit_left() override;
    size_t receive_left() override;
    void* transport() override { return nullptr; }
    void lock() override {
        if (locked_) lock_.lock();
    }
    void unlock() override {
        if (locked_) lock_.unlock();
    }
    void close() override;

    // For tests.
    const DatagramPair& pair() const { return pair_; }

private:
    class Guard {
    public:
        explicit Guard(DatagramPath& path) : path_(path) { path_.lock(); }
        ~Guard() { path_.unlock(); }
        Guard(const Guard&) = delete;
        Guard& operator=(const Guard&) = delete;

    private:
        DatagramPath& path_;
    };
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
    struct Posted {
        void* context;
        uint64_t flags;
        size_t capacity;
        size_t count;
        iovec ranges[kRangesMax];
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
    bool full(const SendRequest& request);
    bool still_full();
    ssize_t send_locked(const SendRequest& request, size_t size);
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
    Posted& receive_at(uint32_t index) { return receives_[index % receive_places_]; }

    DatagramPair pair_;
    HandleCache handles_;
    Reports reports_;
    Mutex lock_;
    bool locked_ = true;
    bool bounded_ = false;  // FI_RM_ENABLED: the queue may not be overrun
    bool sources_ = false;
    bool source_errors_ = false;
    bool broken_ = false;  // a request failed
    bool gone_ = false;    // the device was removed
    bool looked_ = false;  // a send looked for completions
    size_t inject_max_ = 0;
    size_t message_max_ = 0;
    size_t send_ranges_max_ = 0;
    size_t receive_ranges_max_ = 0;
    size_t receive_limit_ = 0;
    AddressVector* av_ = nullptr;
    const uint32_t* generation_word_ =
        nullptr;  // of the address vector; loaded with acquire, as its insertions release
    Endpoint* endpoint_ = nullptr;
    Sent* sent_ = nullptr;        // by the place of the request
    Posted* receives_ = nullptr;  // from first_receive_ to last_receive_, in the order of posting
    uint32_t receive_places_ = 1;
    uint32_t first_receive_ = 0;
    uint32_t last_receive_ = 0;
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
