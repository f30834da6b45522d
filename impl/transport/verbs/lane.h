// The lane of a connection: a second queue pair beside it, on which long messages go from the memory of one application
// into that of the other.
//
// On the connection itself every message takes the next buffer, whatever it is. Here only messages arrive whose
// receiver has asked for them: it posts the buffer that was matched, then asks (Cts), and they come in the order in
// which they were asked for. So each finds its own place, none finds no receive, and neither end ever names its memory
// to the other.
//
// It is made with the first long message. Each end tells the other its numbers, in a message of the connection: who
// announces before the announcement, who receives before it asks for the first time. Where a device gives no second
// pair, one end says nothing, and messages come in frames.
//
// Protected by the lock of the endpoint.
#pragma once

#include "impl/engine/transport.h"
#include "impl/transport/verbs/knobs.h"
#include "impl/transport/verbs/verbs_domain.h"

namespace selvage::impl::verbs {

// What the other end has to know of a pair.
struct LaneNumbers {
    uint32_t pair;
    uint32_t first_packet;
};

class Lane {
public:
    Lane(const VerbsDomain& device, ibv_qp* connection) : device_(device), connection_(connection) {}
    ~Lane();
    Lane(const Lane&) = delete;
    Lane& operator=(const Lane&) = delete;

    // Completions that the queue must have room for.
    static constexpr int kMostCompletions = 2 * kLaneMessages;

    // Creates the pair. `ticket` comes back in its completions of receives, with Ticket::send in those of sends. False:
    // there is none.
    bool open(ibv_cq* completions, uint64_t ticket, uint64_t send_ticket);
    LaneNumbers numbers() const { return {.pair = pair_->qp_num, .first_packet = first_packet_}; }
    // To the other end's pair: as the connection beside it. False: the device refused.
    bool connect(const LaneNumbers& theirs);
    bool is_connected() const { return connected_; }
    // Whether it was sent to the other end.
    bool announced = false;

    bool has_room() const { return placements_posted_ - placements_taken_ < kLaneMessages; }
    // The place of the message that is asked for next, which is taken back here. There must be room. False: the device
    // refused.
    bool place_directly(const LongRange& place, void* token);
    // A message that the other end has asked for. False: it cannot have asked for so many.
    bool accept(const LongRange& source, void* token);
    // Gives the device what it has room for. False: it refused.
    bool push();

    // The oldest send has completed: its token. Only while !idle().
    void* sent() { return sends_[taken_++ % kSends].token; }
    // Nothing is to be sent, or on its way.
    bool idle() const { return taken_ == accepted_; }
    // The oldest message that was asked for has come, and its token. False: it is not as long as it had to be, or none
    // was asked for.
    bool placed(uint32_t length, void** token);

private:
    // Of the other end's requests none is sent yet, at most, and of ours none has completed.
    static constexpr uint32_t kSends = 2 * kLaneMessages;
    struct Entry {
        LongRange range;
        void* token;
    };

    bool is_awaited() const { return placements_taken_ != placements_posted_; }
    int query(ibv_qp_attr* out) const;

    const VerbsDomain& device_;
    ibv_qp* connection_;
    ibv_qp* pair_ = nullptr;
    uint64_t ticket_ = 0;
    uint64_t send_ticket_ = 0;
    uint32_t first_packet_ = 0;
    bool connected_ = false;
    // Counters that run on; entries are at their remainders.
    uint32_t taken_ = 0;     // sends that have completed,
    uint32_t posted_ = 0;    // those and those that the device has,
    uint32_t accepted_ = 0;  // and those that wait
    uint32_t placements_taken_ = 0;
    uint32_t placements_posted_ = 0;
    Entry sends_[kSends];
    Entry placements_[kLaneMessages];
};

}  // namespace selvage::impl::verbs
