// The receiving half of an engine, apart from what depends on the transport: posting, matching, placing, reporting.
//
// Receives belong to a ReceiveContext: an endpoint's own, or a shared one (fi_srx_context). The lock of the context is
// the lock of every endpoint that receives through it, so a context needs none of its own. All calls are made with it.
#pragma once

#include <algorithm>

#include "impl/av/av.h"
#include "impl/catalog/duties.h"
#include "impl/endpoint/ep.h"
#include "impl/engine/buffered_receives.h"
#include "impl/engine/copy_pool.h"
#include "impl/engine/match_queue.h"
#include "impl/engine/peer_state.h"
#include "impl/engine/reports.h"

namespace selvage::impl {

// What a call that posts a receive says.
struct ReceiveRequest {
    const iovec* ranges;
    size_t count;
    bool tagged;
    fi_addr_t source;
    uint64_t tag;
    uint64_t ignore;
    void* context;
    uint64_t flags;  // FI_COMPLETION, FI_MULTI_RECV, FI_PEEK, FI_CLAIM, FI_DISCARD, kOnHmem
    size_t least;    // FI_OPT_MIN_MULTI_RECV
    // fi_mr_desc of the only range; looked at where the application has to name it. With kOnHmem: the array of all.
    const void* region = nullptr;
};

// More receives than rx_attr.size are taken, up to so many: threads of which each posts for a tag of its own, on both
// sides, could else fill two contexts with what the other side comes to later.
inline constexpr size_t kReceivesMax = 65536;

struct CollectiveReceives;
class MemberStep;
struct MemberAddress;
struct ShortMessage;
struct ReceiveContext;
void free_hmem(ReceiveContext& context, Receive* receive);  // hmem_receive.cc

struct ReceiveContext {
    Mutex lock;
    MatchQueue match;
    Pool<Receive> receives;
    Pool<Unexpected> unexpected;
    size_t size = 0;    // receives that may be posted, as rx_attr promises
    size_t most = 0;    // and as many as are taken
    size_t limit = 0;   // `most` where post_receive() may post a receive itself; 0 with buffered receives
    size_t posted = 0;  // those that are in use
    bool directed = false;
    CopyPool copies;  // of messages from and to memory of devices
    BufferedReceives buffered;
    Receiver* first = nullptr;  // the endpoints that receive through it

    // A receive that is not in the queue yet; nullptr when memory is short.
    Receive* make(const ReceiveRequest& request, size_t capacity);
    void set_size(size_t promised) {
        size = promised;
        most = duties().small ? promised : std::max(promised, kReceivesMax);
        limit = buffered.on ? 0 : most;
    }
    void buffer_receives() {
        buffered.on = true;
        limit = 0;
    }
    size_t left() const { return posted < size ? size - posted : 0; }
    // REQUIRES: !(receive->flags & kOnHmem)
    void give_plain(Receive* receive) {
        if (!receive->parent) --posted;
        receives.give(receive);
    }
    void give(Receive* receive) {
        if (receive->flags & kOnHmem) [[unlikely]]
            free_hmem(*this, receive);
        give_plain(receive);
    }

    ReceiveContext() = default;
    ~ReceiveContext();
    ReceiveContext(const ReceiveContext&) = delete;
    ReceiveContext& operator=(const ReceiveContext&) = delete;
};

// Receives on memory of devices (hmem_receive.cc). What the request names, or a part of a multi-receive buffer at an
// offset: false when memory is short.
bool make_hmem(Receive* receive, const ReceiveRequest& request);
bool make_hmem_part(ReceiveContext& context, Receive* part, const Receive& parent, size_t size);
// A copy, as long as the message, becomes the memory of the receive until all of it is there; false when memory is
// short.
bool use_copy(ReceiveContext& context, Receive* receive, uint64_t size);
// The copy to where it belongs, or bytes of a message that came whole. 0 or a positive errno.
int land(const Receive& receive);
int put_on_hmem(const Receive& receive, uint64_t offset, const std::byte* bytes, size_t size);
// As the application knows it.
void* hmem_buffer(const Receive& receive);

inline Receive* ReceiveContext::make(const ReceiveRequest& request, size_t capacity) {
    Receive* receive = receives.take();
    if (!receive) return nullptr;
    ++posted;
    receive->tag = request.tag;
    receive->ignore = request.ignore;
    receive->source = request.source;
    receive->context = request.context;
    receive->flags = request.flags & (FI_COMPLETION | FI_MULTI_RECV | FI_TRIGGER);
    receive->tagged = request.tagged;
    receive->posted = false;
    receive->released = false;
    receive->arriving = 0;
    receive->range_count = static_cast<uint32_t>(request.count);
    receive->capacity = capacity;
    receive->used = 0;
    receive->least = request.least;
    receive->parent = nullptr;
    receive->region = request.region;
    receive->owner = nullptr;
    receive->peer = nullptr;
    if (request.count == 1) [[likely]] {
        receive->ranges[0] = request.ranges[0];
    } else {
        for (size_t i = 0; i < request.count; ++i) receive->ranges[i] = request.ranges[i];
    }
    return receive;
}

// With buffered receives: notifies what can be, after something has arrived or has been claimed or discarded.
void notify_buffered(ReceiveContext& context);  // receiver_buffered.cc

// Posts a receive, or answers from what has arrived already.
ssize_t post_any_receive(ReceiveContext& context, const ReceiveRequest& request);

// The same, and most receives have one range, and nothing that waits for them.
inline ssize_t post_receive(ReceiveContext& context, const ReceiveRequest& request) {
    constexpr uint64_t kUnusual = FI_PEEK | FI_CLAIM | FI_DISCARD | FI_MULTI_RECV | kOnHmem;
    if (request.count != 1 || !request.ranges || (request.flags & kUnusual) || context.posted >= context.limit ||
        context.match.keeps(request.tagged)) [[unlikely]] {
        return post_any_receive(context, request);
    }
    Receive* receive = context.make(request, request.ranges[0].iov_len);
    if (!receive) [[unlikely]]
        return -FI_EAGAIN;
    context.match.post(receive);
    return 0;
}

class Receiver {
public:
    // Tells the sender that its message was taken, or why not.
    virtual void reply(PeerBase& peer, uint64_t reply_id, int error) = 0;
    // Starts to fetch an announced message into a receive that fetching() made.
    virtual void fetch(PeerBase& peer, Receive* receive, const LocalRange* ranges, size_t count) = 0;
    // All of an announced message into a copy, out of the sender's memory. False: it can't be read.
    virtual bool copy_pulled(PeerBase& peer, const LocalRange* ranges, size_t count, const iovec& copy) = 0;
    virtual fi_addr_t address_of(PeerBase& peer) = 0;
    virtual bool raw_address_of(PeerBase& peer, AvEntry* out) = 0;
    virtual PeerState* state_of(PeerBase& peer) = 0;  // nullptr when memory is short
    // Tells a peer of the units that it is owed, and what more it may announce (window.h).
    virtual void give_credit(PeerBase& peer) = 0;
    virtual void allow_announcements(PeerBase& peer, uint32_t more) = 0;
    virtual void give_collective_credit(PeerBase& peer, uint32_t units) = 0;
    virtual void abort_collective(PeerBase& peer, uint64_t group, uint32_t sequence, int error) = 0;

    // A message whose receive is known, all of it or its announcement. True: the receive, a multi-receive buffer, has
    // room for more.
    bool place(Receive* receive, const Arrival& message, const std::byte* payload, PeerBase* peer);
    bool place_announced(Receive* receive, const Arrival& message, PeerBase& peer, const LocalRange* ranges,
                         size_t count);
    bool take(Receive* receive, Unexpected* message);
    // Looks at a kept message for FI_PEEK, and takes it away for FI_CLAIM and FI_DISCARD.
    void peek(const ReceiveRequest& request, Unexpected* message);
    void peek_failed(const ReceiveRequest& request, int error);
    void discard(Unexpected* message);
    // To be notified (buffered_receives.h). `receive`: that it has met, of a tagged message, which goes.
    void buffer(Unexpected* message, Receive* receive);
    // It is its turn, and all that it needs is here.
    void notify(Unexpected* message);
    // Begins to fetch the bytes that it needs. False: there is no room for them before others are claimed or discarded.
    bool fill(Unexpected* message);

    fi_addr_t source_of(Unexpected* message) {
        if (message->peer) message->message.from = address_of(*message->peer);
        return message->message.from;
    }

    Receiver* next_receiver = nullptr;  // of the context
    Reports reports;

protected:
    ~Receiver() = default;

    void open_receiver(Endpoint& endpoint, ReceiveContext* context);
    void close_receiver();

    // The receive that a message gets, still posted, or nullptr.
    Receive* match(Arrival& message, PeerBase& peer) {
        return context_->match.find_posted(message.tagged, message.tag,
                                           [&] { return message.from = current_address(peer); });
    }
    static uint64_t received_flags(const Arrival& message) {
        return FI_RECV | (message.tagged ? FI_TAGGED : FI_MSG) |
               (message.frame_flags & kFrameHasData ? FI_REMOTE_CQ_DATA : 0);
    }
    static void copy_short(void* to, const std::byte* from, size_t size) {
        if (size == 8) {
            memcpy(to, from, 8);
        } else if (size) {
            memcpy(to, from, size);
        }
    }
    // address_of(), without a call as long as the address vector stays as it is.
    fi_addr_t current_address(PeerBase& peer) {
        return peer.address_generation == av_generation() ? peer.address : address_of(peer);
    }
    // What completions report for an address that current_address() gave.
    fi_addr_t reported(fi_addr_t address) const {
        return user_ids_ && address != FI_ADDR_NOTAVAIL ? user_ids_->reported(address) : address;
    }
    uint32_t av_generation() const {
        return __atomic_load_n(generation_word_, __ATOMIC_ACQUIRE) & AvStore::kGenerationMask;
    }
    static constexpr uint32_t kNoGeneration = 0;
    const uint32_t* generation_word_ = &kNoGeneration;  // of the address vector
    // A whole message of so many bytes has its receive.
    void taken(PeerBase& peer, uint64_t length) {
        peer.owed = static_cast<uint16_t>(peer.owed + units_of(length));
        if (peer.owed >= peer.credit_at) [[unlikely]]
            give_credit(peer);
    }
    // A whole message. False when memory for it is short, or more is kept of the peer than may be.
    bool arrived(Arrival& message, const std::byte* payload, PeerBase& peer) {
        Receive* receive = match(message, peer);
        if (!receive || !plain_ || receive->range_count != 1 ||
            (receive->flags & (FI_MULTI_RECV | FI_TRIGGER | kOnHmem)) || message.length > receive->capacity ||
            message.reply_id) [[unlikely]] {
            return arrived_otherwise(receive, message, payload, peer);
        }
        taken(peer, message.length);
        context_->match.unpost(receive);
        copy_short(receive->ranges[0].iov_base, payload, message.length);
        if ((receive->flags | reports.receive_always) & FI_COMPLETION) [[likely]] {
            reports.receive->write({.context = receive->context,
                                    .flags = received_flags(message),
                                    .length = message.length,
                                    .buffer = receive->ranges[0].iov_base,
                                    .data = message.data,
                                    .tag = message.tag,
                                    .source = sources_ ? current_address(peer) : FI_ADDR_NOTAVAIL});
        }
        reports.count(kSlotRecv);
        context_->give_plain(receive);
        return true;
    }
    bool announced(Arrival& message, PeerBase& peer, const LocalRange* ranges, size_t count);
    // A receive for a message that takes its time to arrive: the posted one, or a part of a multi-receive buffer.
    Receive* fetching(Receive* receive, const Arrival& message, PeerState& state, bool* open);
    // Every byte that was wanted is here: it is acknowledged, where the sender waits for that, and the receive is
    // complete.
    void receive_placed(Receive* receive, bool answers) {
        if (receive->flags & kForBuffer) [[unlikely]]
            return buffer_filled(receive);
        const int error = receive->flags & kOnHmem ? land(*receive) : 0;
        if (answers) reply(*receive->peer->peer, receive->message.reply_id, error);
        finish_receive(receive, error);
    }
    // The same, or nothing more will come.
    void finish_receive(Receive* receive, int error);
    // Messages that can no longer be fetched go; those that are here stay, as far as orphans may.
    void forget_peer(PeerBase& peer);
    // Doubles the window of a peer, as far as it may grow; returns by how many units it grew.
    uint16_t widen_window(PeerBase& peer);
    void widen_announcements(PeerState& state);
    // How much may grow that is so large and has a limit.
    uint32_t take_shared(uint32_t size, uint32_t most);
    // Of a peer that is down: if it comes again, both sides begin anew.
    void reset_window(PeerBase& peer);
    bool cancel_receive(void* context);

    // Messages of collectives (receiver_collective.cc), on an endpoint with FI_COLLECTIVE. Whole ones and announcements
    // as they arrive: false when memory is short, or the peer sends more than it may.
    bool collective_arrived(Arrival& message, const std::byte* payload, PeerBase& peer);
    bool collective_announced(Arrival& message, PeerBase& peer, const LocalRange* ranges, size_t count);
    Receive* match_collective(Arrival& message, PeerBase& peer);
    // A whole message has met its receive, or is not wanted.
    void collective_taken(PeerBase& peer, uint64_t length);
    // 0, -FI_ENOMEM, or -FI_ENOTCONN for a sender that is lost and has left nothing.
    int post_collective(const ReceiveRequest& request, bool lost);
    // receiver_short.cc: as MemberMessages. False of the first: the receive is to be posted.
    bool await_short(MemberAddress& member, void* bytes, size_t size, uint64_t tag, MemberStep& step);
    void take_first_short(MemberAddress& member, void* bytes);
    // Those that belong to no earlier operation than this; the member learns why.
    void drop_short(MemberAddress& member, uint64_t group, uint32_t from_sequence, int error);
    // Answers a message that nobody will receive: announced ones as such, others by an abort, as their sender may wait
    // for this member. False: somebody may receive it. `peer`: nullptr if it is lost.
    bool refuse_collective(const Arrival& message, PeerBase* peer);
    bool withdraw_collective(const void* context);
    void discard_collective();
    void lose_collective_peer(PeerBase& peer, int error);
    void close_collective();
    CollectiveReceives* collective_ = nullptr;
    void report(const Arrival& message, void* context, uint64_t flags, void* buffer, uint64_t placed, int error,
                PeerBase* peer);

    // One more of what is counted, for the endpoint and for the peer.
    void count_stat(PeerBase& peer, Stat stat) {
        add_stat(stat_, stat);
        if (peer.state) add_stat(static_cast<PeerState*>(peer.state)->stat, stat);
    }

    ReceiveContext* context_ = nullptr;
    Domain* domain_ = nullptr;
    bool sources_ = false;        // reported with completions
    bool over_budget_ = false;    // why the next drop comes (engine_counting.h)
    StatRecord* stat_ = nullptr;  // the endpoint's

private:
    bool arrived_otherwise(Receive* receive, const Arrival& message, const std::byte* payload, PeerBase& peer);
    // It is in the queue of its sort.
    void unpost(Receive* receive) {
        if (receive->flags & FI_COLLECTIVE) [[unlikely]]
            return unpost_collective(receive);
        context_->match.unpost(receive);
    }
    void unpost_collective(Receive* receive);
    bool short_arrived(const Arrival& message, const std::byte* payload, PeerBase& peer);
    void post_waiting(MemberAddress& member, uint64_t tag);
    void short_left(MemberAddress& member, ShortMessage* message);
    void place_collective(Receive* receive, const Arrival& message, const std::byte* payload, PeerBase& peer);
    Unexpected* keep_collective(const Arrival& message, PeerBase& peer, bool announced);
    void let_go_collective(Unexpected* unexpected);
    bool is_ordered(const Receive& receive) const { return strict_ && !(receive.flags & (FI_COLLECTIVE | kForBuffer)); }
    // A receive into one of the library's buffers has all that it was for, or nothing more will come.
    void buffer_filled(Receive* receive);
    void buffer_lost(Receive* receive, int error);
    // A message that was to be notified cannot be: whoever waits for it gets an error.
    void buffering_failed(Unexpected* message, int error);
    // Its record goes.
    void free_unexpected(Unexpected* message);
    Unexpected* keep(const Arrival& message, PeerBase& peer, bool announced);
    // Takes one that is in no queue yet. `held`: what its peer makes this side keep, of which there may be `most`.
    // nullptr when memory is short, or the peer sent more than it may.
    Unexpected* make_unexpected(Pool<Unexpected>& pool, const Arrival& message, PeerBase& peer, bool announced,
                                uint32_t* held, uint32_t most);
    // The whole message is there, and waits for its receive; or is notified, and has met `receive`.
    void queue_whole(Unexpected* unexpected, Receive* receive, PeerBase& peer);
    std::byte* pulled_copy(const Arrival& message, PeerBase& peer, const LocalRange* ranges, size_t count);
    bool keep_copy(const Arrival& message, std::byte* copy, Receive* receive, PeerBase& peer);
    void let_go(Unexpected* message);
    bool keep_orphan(const Unexpected& message);
    void count_unexpected(PeerState* state, const Unexpected& message, bool added);
    size_t export_source(const AvEntry& entry, char (&out)[kAddressBytesMax]) const;
    void report_failure(const Completion& completion, uint64_t length, int error, bool requested, PeerBase* peer);
    void conclude(Receive* receive);
    void flush_order();

    uint32_t shared_units_ = 0;  // in use of kSharedUnits: what windows have grown by, and orphan_units_
    uint32_t orphan_units_ = 0;  // of kept messages whose peers are lost
    uint32_t collective_orphan_units_ = 0;
    uint64_t orphans_logged_ = 0;
    bool source_errors_ = false;
    fid_ep* descriptor_ = nullptr;       // the endpoint's
    bool plain_ = true;                  // completions need neither order nor a source that is asked for
    AddressVector* user_ids_ = nullptr;  // the address vector, if completions report what it says of an address
    bool strict_ = false;                // completions in the order of matching
    Receive* order_ = nullptr;
    Receive** order_end_ = &order_;
};

}  // namespace selvage::impl
