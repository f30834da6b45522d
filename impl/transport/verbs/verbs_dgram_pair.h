// The device's side of an endpoint for datagrams: a queue pair (UD), its completion queue, and registered buffers.
//
// Sending. A short datagram goes inline; others are copied into the send buffer of their request. Requests complete in
// the order of posting, and each one is signalled: what the application gets, and when a buffer or a handle is free,
// needs no further bookkeeping. Receiving. Every buffer is posted, or holds a datagram that somebody looks at; the
// device drops what finds no buffer. The buffers have room for the route header in front, so the application's need
// not.
//
// A request that fails stops the queue pair. revive() starts it again under the same number.
// Protected by the lock of the endpoint.
#pragma once

#include <arpa/inet.h>

#include "impl/net/address.h"
#include "impl/transport/verbs/verbs_dgram_address.h"
#include "impl/transport/verbs/verbs_dgram_handles.h"
#include "impl/transport/verbs/verbs_domain.h"

namespace selvage::impl::verbs {

// The queue key of every endpoint for datagrams, which other libraries for FI_EP_DGRAM over verbs have, too.
inline constexpr uint32_t kDatagramKey = 0x11111111;
// Payload that is copied into the request itself, as far as the device can.
inline constexpr uint32_t kDatagramInline = 256;
// Receives that are handed to the device in one call.
inline constexpr uint32_t kRepostMax = 16;

// What a request was given as wr_id. Those of an earlier life of the queue pair are not looked at.
struct DatagramTicket {
    bool send;
    uint32_t number;      // of the receive buffer
    uint32_t generation;  // 31 bits

    uint64_t pack() const { return uint64_t{generation} << 33 | uint64_t{send} << 32 | number; }
    static DatagramTicket unpack(uint64_t id) {
        return {.send = (id >> 32 & 1) != 0,
                .number = static_cast<uint32_t>(id),
                .generation = static_cast<uint32_t>(id >> 33)};
    }
};

class DatagramPair {
public:
    struct Setup {
        const VerbsDomain* device;
        IbAddress own;      // its GID says which of the port's addresses to use
        uint32_t sends;     // requests under way; a power of two
        uint32_t receives;  // buffers; a power of two
    };

    DatagramPair() = default;
    ~DatagramPair() { close(); }
    DatagramPair(const DatagramPair&) = delete;
    DatagramPair& operator=(const DatagramPair&) = delete;

    // 0 or a negative fabric errno, and then nothing is open. All receives are posted afterwards.
    int open(const Setup& setup);
    void close();

    const IbAddress& address() const { return own_; }
    ibv_cq* completions() const { return completions_; }
    int wake_descriptor() const { return wakes_->fd; }
    size_t payload_max() const { return payload_max_; }

    uint32_t posted() const { return head_; }
    uint32_t completed() const { return tail_; }
    bool room() const { return head_ - tail_ < sends_; }
    // The place of the next request, and of the oldest that has not completed.
    uint32_t next_place() const { return head_ % sends_; }
    uint32_t oldest_place() const { return tail_ % sends_; }
    void complete_oldest() { ++tail_; }

    struct Datagram {
        const iovec* ranges;
        size_t count;
        size_t size;  // of the ranges; at most payload_max()
        uint32_t queue_pair;
        uint32_t data;
        bool has_data;
    };
    // There is room(). 0 or a negative errno, and then nothing was posted.
    int send(const Datagram& datagram, HandleCache::Handle& to);

    bool is_current(const DatagramTicket& ticket) const { return ticket.generation == generation_; }
    // What the device wrote: kRouteBytes, then the payload.
    const std::byte* buffer(uint32_t number) const { return receives_ + size_t{number} * receive_bytes_ + kLead; }
    // A buffer is free again; flush() hands it to the device at last.
    bool give_back(uint32_t number) {
        used_[used_count_++] = number;
        return used_count_ < kRepostMax || flush();
    }
    // False: the device refused.
    bool flush() { return !used_count_ || repost(); }

    // After a request failed: forgets all requests and starts again; `keep(number)` is true for buffers that hold
    // something. False: the device does not do it.
    template <typename Keep>
    bool revive(Keep keep) {
        if (!reset()) return false;
        for (uint32_t i = 0; i < receive_count_; ++i) {
            if (!keep(i) && !give_back(i)) return false;
        }
        return flush();
    }

private:
    // The payload of a received datagram starts at a line of the cache.
    static constexpr size_t kLead = 64 - kRouteBytes;

    const void* copied(const iovec* ranges, size_t count, size_t size);
    int allocate();
    int create();
    int start();
    int change(ibv_qp_state state, int mask);
    bool reset();
    bool repost();

    const VerbsDomain* device_ = nullptr;
    ibv_comp_channel* wakes_ = nullptr;
    ibv_cq* completions_ = nullptr;
    ibv_qp* qp_ = nullptr;
    ibv_mr* memory_ = nullptr;
    std::byte* block_ = nullptr;
    size_t mapped_ = 0;
    std::byte* receives_ = nullptr;
    size_t send_bytes_ = 0;  // of one buffer
    size_t receive_bytes_ = 0;
    size_t payload_max_ = 0;
    uint32_t inline_max_ = 0;
    uint32_t sends_ = 1;
    uint32_t receive_count_ = 0;
    uint32_t head_ = 0;
    uint32_t tail_ = 0;
    uint32_t generation_ = 0;
    uint32_t used_count_ = 0;
    uint32_t used_[kRepostMax];
    IbAddress own_{};
    // Of every send: what never changes is there.
    ibv_send_wr request_{};
    ibv_sge piece_{};
};

inline int DatagramPair::send(const Datagram& datagram, HandleCache::Handle& to) {
    const bool inlined = datagram.size <= inline_max_;
    const void* source = inlined && datagram.count == 1 ? datagram.ranges[0].iov_base
                                                        : copied(datagram.ranges, datagram.count, datagram.size);
    piece_.addr = reinterpret_cast<uintptr_t>(source);
    piece_.length = static_cast<uint32_t>(datagram.size);
    request_.wr_id = DatagramTicket{.send = true, .number = next_place(), .generation = generation_}.pack();
    request_.num_sge = datagram.size ? 1 : 0;
    request_.opcode = datagram.has_data ? IBV_WR_SEND_WITH_IMM : IBV_WR_SEND;
    request_.imm_data = htonl(datagram.data);
    request_.send_flags = inlined ? unsigned{IBV_SEND_INLINE} : 0;
    request_.wr.ud.ah = to.device;
    request_.wr.ud.remote_qpn = datagram.queue_pair;
    ibv_send_wr* refused;
    const int error = ibv_post_send(qp_, &request_, &refused);
    if (error) [[unlikely]]
        return as_error(error);
    to.last = ++head_;
    return 0;
}

}  // namespace selvage::impl::verbs
