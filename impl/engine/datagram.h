// What every endpoint for datagrams (FI_EP_DGRAM) does alike, whatever moves the datagrams: the receives that are
// posted, the reports, the lock, the limits. The tables of calls over it are in datagram_calls.h.
//
// Not an instance of the engine, which is made for peers that answer: here a message is one packet, nothing is sent
// twice, nobody is waited for, and what finds no room at the receiver is lost. The bytes on the wire are the
// application's and nothing else, so other libraries' endpoints for datagrams understand them.
//
// Everything is protected by the lock of the endpoint.
#pragma once

#include <algorithm>

#include "impl/av/av.h"
#include "impl/endpoint/datapath.h"
#include "impl/engine/memory.h"
#include "impl/engine/reports.h"

namespace selvage::impl {

// Posted operations of an endpoint: what may be asked for at most.
inline constexpr size_t kDatagramQueueMax = 4096;

struct DatagramSend {
    const iovec* ranges;
    size_t count;
    fi_addr_t to;
    uint64_t data;
    bool has_data;
    void* context;
    uint64_t flags;  // FI_COMPLETION when an entry is to be written
};

struct DatagramReceive {
    const iovec* ranges;
    size_t count;
    void* context;
    uint64_t flags;
};

class DatagramBase : public DataPath {
public:
    size_t inject_max() const { return inject_max_; }
    int attach() { return reports_.attach(*endpoint_, this); }

    // DataPath.
    void set_counter(CounterSlot slot, Counter* counter) override {
        lock();
        reports_.counters[slot] = counter;
        unlock();
    }
    int cancel(void* context) override;
    size_t receive_left() override;
    void* transport() override { return nullptr; }
    void lock() override {
        if (locked_) lock_.lock();
    }
    void unlock() override {
        if (locked_) lock_.unlock();
    }

protected:
    class Guard {
    public:
        explicit Guard(DatagramBase& path) : path_(path) { path_.lock(); }
        ~Guard() { path_.unlock(); }
        Guard(const Guard&) = delete;
        Guard& operator=(const Guard&) = delete;

    private:
        DatagramBase& path_;
    };
    struct Posted {
        void* context;
        uint64_t flags;
        size_t capacity;
        size_t count;
        iovec ranges[kRangesMax];
    };
    // What a receive has taken.
    struct Taken {
        size_t size;     // of the datagram
        size_t placed;   // of it: as much as the receive has room for
        uint64_t flags;  // beside FI_RECV and FI_MSG
        uint64_t data;
    };

    DatagramBase() = default;
    ~DatagramBase();

    // 0 or -FI_ENOMEM.
    int open_common(Endpoint& endpoint);
    // Places for so many posted operations: a power of two.
    static uint32_t places_for(size_t operations);

    // Checks a receive; its size is written back. 0 or a negative errno.
    int check(const DatagramReceive& request, size_t* capacity) const;
    // The next place, filled in; it counts once last_receive_ goes on. nullptr: there is none.
    Posted* prepare(const DatagramReceive& request, size_t capacity);
    Posted& receive_at(uint32_t index) { return receives_[index % receive_places_]; }
    uint32_t receives() const { return last_receive_ - first_receive_; }
    // Without FI_SOURCE.
    void report(const Posted& receive, const Taken& datagram);
    // `source`: the sender, as far as the datagram tells; `address`: its number, or FI_ADDR_NOTAVAIL.
    void report_from(const Posted& receive, const Taken& datagram, const AvEntry& source, fi_addr_t address);
    void fail_receives(int error);

    Reports reports_;
    Mutex lock_;
    bool locked_ = true;
    bool bounded_ = false;  // FI_RM_ENABLED: the queue may not be overrun
    bool sources_ = false;
    bool source_errors_ = false;
    size_t inject_max_ = 0;
    size_t message_max_ = 0;
    size_t send_ranges_max_ = 0;
    size_t receive_ranges_max_ = 0;
    size_t receive_limit_ = 0;
    AddressVector* av_ = nullptr;
    // Of the address vector; loaded with acquire, as its insertions release.
    const uint32_t* generation_word_ = nullptr;
    Endpoint* endpoint_ = nullptr;
    Posted* receives_ = nullptr;  // from first_receive_ to last_receive_, in the order of posting
    uint32_t receive_places_ = 1;
    uint32_t first_receive_ = 0;
    uint32_t last_receive_ = 0;

private:
    static Completion completion_of(const Posted& receive, const Taken& datagram);
    bool is_requested(const Posted& receive) const { return (receive.flags | reports_.receive_always) & FI_COMPLETION; }
    void report_truncated(const Completion& completion, const Taken& datagram);
};

inline int DatagramBase::check(const DatagramReceive& request, size_t* capacity) const {
    constexpr uint64_t kKnown = FI_COMPLETION | FI_MORE | FI_TRANSMIT_COMPLETE;
    if (request.count > receive_ranges_max_ || (request.count && !request.ranges)) return -FI_EINVAL;
    if (!total_of(request.ranges, request.count, capacity)) return -FI_EINVAL;
    return request.flags & ~kKnown ? -FI_EBADFLAGS : 0;
}

inline DatagramBase::Posted* DatagramBase::prepare(const DatagramReceive& request, size_t capacity) {
    if (receives() >= receive_limit_) return nullptr;
    Posted& receive = receive_at(last_receive_);
    receive.context = request.context;
    receive.flags = request.flags;
    receive.capacity = capacity;
    receive.count = request.count;
    std::copy_n(request.ranges, request.count, receive.ranges);
    return &receive;
}

inline Completion DatagramBase::completion_of(const Posted& receive, const Taken& datagram) {
    return {.context = receive.context,
            .flags = FI_RECV | FI_MSG | datagram.flags,
            .length = datagram.placed,
            .buffer = receive.count ? receive.ranges[0].iov_base : nullptr,
            .data = datagram.data,
            .tag = 0,
            .source = FI_ADDR_NOTAVAIL};
}

inline void DatagramBase::report(const Posted& receive, const Taken& datagram) {
    const Completion completion = completion_of(receive, datagram);
    if (datagram.placed < datagram.size) [[unlikely]]
        return report_truncated(completion, datagram);
    if (is_requested(receive)) [[likely]]
        reports_.receive->write(completion);
    reports_.count(kSlotRecv);
}

}  // namespace selvage::impl
