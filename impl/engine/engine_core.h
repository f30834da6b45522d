// The engine: everything between the calls of the application and the frames of a transport, for one enabled endpoint.
//
// One template over the transport and over whether the application may call from several threads at once, so that a
// small message costs no indirect call and, where it is promised that calls are serialised, no lock. It is one class,
// as the parts share the transport and the peers; what has a state of its own is a class in a file of its own.
//
//   part          functions                        state
//   sender        engine_transmit.h                transmits_, bounces_; PeerState::sending
//   responder     engine_respond.h                 responses_; PeerState::responses
//   arrival       engine_arrive.h                  PeerState::placing
//   receiver      receiver.h, a class              ReceiveContext; PeerState::receiving
//   rma           engine_rma.h, engine_budget.h    unread_; PeerState::write, unread_units
//   atomics       engine_atomic.h                  none
//   single copy   engine_pull.h, engine_direct.h   none: the transport's (PullsMemory, NativeRma)
//   control       engine_control.h, _revoke.h      transport_, peers_, states_, options_
//   counting      engine_stat.h                    stat_, lost_; PeerState::stat, dropped
//
// Who calls whom, from above to below:
//   the application's calls (engine_calls.h, memory_calls.h)    the transport (Sink)
//   atomics -> rma -> sender                                    arrival -> atomics, rma, receiver, sender
//   single copy
//   responder
//   control, counting, the transport
// and against that order:
//   - the sender, when the turn of an operation comes, asks single copy whether the device does it (goes_direct,
//     send_direct), and how a long message is announced (put_sources, plan_long);
//   - single copy reports what has come as the segments would have: to rma (read_placed), to the receiver
//     (finish_receive) and to the sender (acknowledged, fail);
//   - the responder has the sender drain the peer for the first segment of a read (reply_in_parts);
//   - control ends what the others have under way (cancel, drop_state; down, in arrival; revoke).
// A part changes its own state, and that of another only here: rma appends its shortest writes to the sender's
// operations by itself (write_at_once); rma and atomics count operations that are quiet, and arrival their failures
// (on_done) and what a peer may be sent (on_credit); single copy puts a write back in the sender's line (resend_write);
// rma says which regions a frame is placed in (place_in), and control forgets them (revoke_placement).
//
// Lock order: the engine's lock, then the domain's, then a queue's. Everything private here is called with the lock.
#ifndef SELVAGE_IMPL_ENGINE_ENGINE_CORE_H
#define SELVAGE_IMPL_ENGINE_ENGINE_CORE_H

#include "impl/endpoint/datapath.h"
#include "impl/engine/bounce_buffers.h"
#include "impl/engine/engine_options.h"
#include "impl/engine/lost_peers.h"
#include "impl/engine/memory.h"
#include "impl/engine/operation_budget.h"
#include "impl/engine/peer_table.h"
#include "impl/engine/receiver.h"
#include "impl/engine/requests.h"
#include "impl/engine/transport.h"
#include "impl/engine/unread_entries.h"

namespace selvage::impl {

template <Transport T, bool Locked>
class Engine final : public DataPath, public Receiver, private RegionUser {
public:
    using Peer = typename T::Peer;

    static_assert(T::kEagerMax <= T::kFrameMax);
    static_assert(T::kFrameMax >= kPrefixMax + 2 * kAtomicBytesMax, "an atomic is one frame");
    static_assert(T::kCopied >= kPrefixMax, "answers are never held");

    int open(Endpoint& endpoint);
    int attach();
    void detach();

    // DataPath.
    void progress() override;
    bool arm() override;
    int wait_descriptor() const override;
    int cancel(void* context) override;
    void set_counter(CounterSlot slot, Counter* counter) override;
    size_t transmit_left() override;
    size_t receive_left() override;
    void* transport() override { return &transport_; }
    void lock() override {
        if constexpr (Locked) context_->lock.lock();
    }
    void unlock() override {
        if constexpr (Locked) context_->lock.unlock();
    }
    void close() override;
    void close_unattached();

    // Sink.
    void deliver(Peer& peer, const Header& header, const std::byte* payload);
    bool begin(Peer& peer, const Header& header, Placement* placement);
    void end(Peer& peer, const Header& header, Placement* placement, int error);
    void sent(Peer& peer, void* token, int error);
    void room(Peer& peer);
    void down(Peer& peer, int error);
    void accessed(Peer& peer, void* token, int error);
    void placed(Peer& peer, void* token);
    void wrote(Peer& peer, uint64_t length, uint64_t data);
    // What the transport tells for the counters alone (engine_stat.h).
    void malformed(Peer& peer);
    void connected(Peer& peer);

    // The calls of the application. `flags` are those of the operation, FI_COMPLETION among them if it gets an entry.
    template <FrameOp Op>
    ssize_t send_one(const void* bytes, size_t size, fi_addr_t to, uint64_t tag, uint64_t data, uint8_t frame_flags,
                     void* context, uint64_t flags);
    // The same without completion, for what is injected: 1 when it cannot be done at once.
    template <FrameOp Op>
    ssize_t send_at_once(const void* bytes, size_t size, fi_addr_t to, uint64_t tag, uint64_t data,
                         uint8_t frame_flags);
    size_t inject_max() const { return options_.inject_max; }
    // fi_mr_desc is the application's business to give.
    bool names_regions() const { return options_.names_regions; }
    template <FrameOp Op>
    ssize_t send_plain(const void* bytes, size_t size, fi_addr_t to, uint64_t tag, uint64_t data, uint8_t frame_flags,
                       void* context, uint64_t flags);
    template <FrameOp Op>
    ssize_t send_other(const void* bytes, size_t size, fi_addr_t to, uint64_t tag, uint64_t data, uint8_t frame_flags,
                       void* context, uint64_t flags);
    ssize_t sent_inline(Peer& peer);
    ssize_t send_range(FrameOp op, const void* bytes, size_t size, fi_addr_t to, uint64_t tag, uint64_t data,
                       uint8_t frame_flags, void* context, uint64_t flags);
    ssize_t send(const SendRequest& request);
    ssize_t receive(ReceiveRequest request);
    ssize_t access(const AccessRequest& request);
    // A write of one range to a peer that is ready, in one frame: 1 when it cannot be done at once.
    ssize_t write_at_once(const void* bytes, size_t size, fi_addr_t to, uint64_t address, uint64_t key, void* context,
                          uint64_t flags);
    ssize_t atomic(const AtomicRequest& request);

private:
    // What became of a try to send an operation.
    enum class Step : uint8_t { kSent, kBlocked, kWait, kDown };

    class Guard {
    public:
        explicit Guard(Engine& engine) : engine_(engine) { engine_.lock(); }
        ~Guard() { engine_.unlock(); }
        Guard(const Guard&) = delete;
        Guard& operator=(const Guard&) = delete;

    private:
        Engine& engine_;
    };

    // The transport has a way for the shortest messages, and the queue is this thread's alone: nothing is locked.
    static constexpr bool kInlines = !Locked && SendsInline<T>;
    // Sent at once, from the application's memory, which is then free again.
    static constexpr size_t kAtOnceMax = T::kCopied < T::kEagerMax ? T::kCopied : T::kEagerMax;
    // A write or the reply to a read that travels in one frame.
    static constexpr size_t kWholeMax =
        T::kFrameMax - kPrefixMax < T::kEagerMax ? T::kFrameMax - kPrefixMax : T::kEagerMax;
    // Bytes of a read that are copied before a later write can change them.
    static constexpr size_t kSnapshotMax = kWholeMax < T::kCopied ? kWholeMax : T::kCopied;
    static constexpr int kErrnoMax = 4095;    // of what a peer may answer
    static constexpr int kStreamBudget = 64;  // segments between two looks at what arrives
    // Flags that take an operation off the shortest path.
    static constexpr uint64_t kUnusual = FI_FENCE | FI_DELIVERY_COMPLETE | FI_MATCH_COMPLETE | FI_INJECT |
                                         FI_COMMIT_COMPLETE | FI_MULTICAST |
                                         (DeliversWhenSent<T> ? 0 : FI_TRANSMIT_COMPLETE);

    // Peers (engine_control.h).
    Peer* known_peer(fi_addr_t to) const { return peers_.find(to, av_generation()); }
    int look_up(fi_addr_t to, Peer** peer);
    static PeerState* state_in(const Peer& peer) { return static_cast<PeerState*>(peer.state); }
    Peer& peer_of(const PeerState& state) const { return static_cast<Peer&>(*state.peer); }
    static Transmit* first_unfinished(const PeerState& state);
    void drop_state(PeerState& state);
    void drop(Peer& peer, int error);
    void refresh(PeerState& state) {
        state.busy = state.sending.unsent || (options_.strict && !state.sending.operations.empty()) ||
                     (options_.ordered_writes && state.sending.large_reads);
        state.peer->set_busy(state.busy);
    }
    void set_working(PeerState& state, bool working);

    // What is counted (engine_stat.h).
    void open_stat();
    void name_stat();
    void close_stat();
    void log_stat();
    StatRecord* record_of(Peer& peer);
    void count_drop(Peer& peer, int error);
    void count_loss(Peer& peer, int error);
    void count_return(StatRecord* record);
    void count_answered(const PeerState& state, const Response& response);
    void find_again(Peer& peer);
    void name_peer(Peer& peer, char (&name)[kStatNameMax]);

    // Receiver.
    void reply(PeerBase& peer, uint64_t reply_id, int error) override;
    void fetch(PeerBase& peer, Receive* receive, const LocalRange* ranges, size_t count) override;
    fi_addr_t address_of(PeerBase& peer) override;
    bool raw_address_of(PeerBase& peer, AvEntry* out) override;
    PeerState* state_of(PeerBase& peer) override;
    void give_credit(PeerBase& peer) override;
    void allow_announcements(PeerBase& peer, uint32_t more) override;
    void send_credit(PeerBase& peer, uint64_t units, uint64_t announcements);

    // The sender (engine_transmit.h).
    template <FrameOp Op>
    bool try_send(const void* bytes, size_t size, fi_addr_t to, uint64_t tag, uint64_t data, uint8_t frame_flags,
                  bool more);
    // With resource management, that there is room for one more entry in the queue.
    bool may_complete(uint64_t flags) const;
    ssize_t check_flags(uint64_t flags, size_t size) const;
    ssize_t begin_transmit(Peer& peer, Transmit::Kind kind, void* context, uint64_t flags, size_t length,
                           Transmit** out);
    bool take_ranges(Transmit& op, const iovec* ranges, size_t count, bool copied);
    ssize_t post(Transmit& op);
    static void* token_of(const Transmit& op) { return reinterpret_cast<void*>(Pool<Transmit>::id(&op)); }
    Step sent_as(Transmit& op, SendResult result);
    Step transmit(Peer& peer, PeerState& state, Transmit& op);
    Step send_whole(Peer& peer, Transmit& op, bool more);
    Step send_segments(Peer& peer, Transmit& op);
    Step send_segment(Peer& peer, Transmit& op, FrameOp kind, uint64_t id, uint64_t end);
    Step send_stream_segment(Peer& peer, PeerState& state);
    void drain(PeerState& state);
    void resume(PeerState& state) {
        if (!state.blocked && (state.sending.unsent || !state.sending.streams.empty())) drain(state);
    }
    void work();
    void finish_if_answered(Transmit& op);
    void acknowledged(Transmit& op);
    void finish(Transmit& op);
    void retire(Transmit& op);
    void fail(Transmit& op, int error);

    // Answers (engine_respond.h).
    void respond(Peer& peer, const Header& header, const void* payload);
    void reply_with(Peer& peer, const Header& header, const iovec* pieces, size_t count);
    void reply_in_parts(Peer& peer, const Header& header, const Target* targets, size_t count, uint64_t length);
    Response* queue_response(Peer& peer, const Header& header);
    bool send_responses(Peer& peer, PeerState& state);
    Step send_response(Peer& peer, Response& response);

    // Arrival (engine_arrive.h).
    void deliver_other(Peer& peer, const Header& header, const std::byte* payload);
    void on_message(Peer& peer, const Header& header, const std::byte* payload);
    void on_announce(Peer& peer, const Header& header, const std::byte* payload);
    void on_clear(Peer& peer, const Header& header);
    void clear(Peer& peer, Receive& receive);
    void on_segment(Peer& peer, const Header& header, const std::byte* payload);
    void on_done(Peer& peer, const Header& header);
    void on_credit(Peer& peer, const Header& header);
    Receive* expected_segment(Peer& peer, const Header& header);
    void segment_placed(Receive& receive, uint32_t size);
    Transmit* answered(Peer& peer, uint64_t id);
    bool begin_bounce(Peer& peer, const Header& header, Placement* placement);

    // Memory access (engine_rma.h).
    void on_write(Peer& peer, const Header& header, const std::byte* payload);
    void on_other_write(Peer& peer, const Header& header, const std::byte* payload);
    SendResult send_write(Peer& peer, const void* bytes, size_t size, uint64_t id, uint64_t address, uint64_t key);
    void on_write_announce(Peer& peer, const Header& header, const std::byte* payload);
    void on_write_segment(Peer& peer, const Header& header, const std::byte* payload);
    bool begin_write(Peer& peer, PeerState& state, const Header& header, Placement* placement);
    bool begin_write_segment(PeerState& state, const Header& header, Placement* placement);
    bool write_part(PeerState& state, const Header& header, Resolved* memory, iovec* out, size_t* count);
    static void place_in(PeerState& state, const Resolved& memory);
    void write_placed(Peer& peer, const PeerState::Write& write);
    int resolve(const Target* targets, size_t count, uint64_t access, Resolved* out);
    bool may_be_quiet(uint64_t flags) const;
    void prepare_write(Peer& peer, const AccessRequest& request, Transmit& op);
    void prepare_read(const AccessRequest& request, Transmit& op);
    void write_segment_placed(Peer& peer, PeerState& state, uint32_t size);
    void write_done(Peer& peer, const Header& header, const Target* targets, size_t count, uint64_t length,
                    uint64_t data);
    void access_failed(Peer& peer, uint64_t reply_id, int error, bool atomic);
    void write_failed(Peer& peer, uint64_t reply_id, uint8_t frame_flags, int error);
    void on_read(Peer& peer, const Header& header, const std::byte* payload);
    void on_read_reply(Peer& peer, const Header& header, const std::byte* payload);
    void on_read_grant(Peer& peer, const Header& header, const std::byte* payload);
    void event(Peer& peer, CounterSlot slot, uint64_t flags, uint64_t length, uint64_t data, bool entry);
    Transmit* expected_read(Peer& peer, const Header& header);
    void read_placed(Transmit& op, uint32_t size);

    // Long transfers that this side copies (engine_pull.h).
    void came_in_parts(Peer& peer, size_t length);
    size_t put_sources(Peer& peer, const Transmit& op, Writer& writer);
    int pull(Peer& peer, const LocalRange* sources, size_t source_count, const iovec* ranges, size_t range_count,
             uint64_t length);
    bool fetch_pulled(Peer& peer, Receive& receive, const LocalRange* sources, size_t count);
    void pull_read(Peer& peer, Transmit& op, const LocalRange* sources, size_t count, uint64_t epoch);
    int pull_write(Peer& peer, const PeerState::Write& write, const LocalRange* sources, size_t count,
                   const Resolved& memory);
    void resend_write(Peer& peer, Transmit& op);

    // Entries that peers cause without a receive (engine_budget.h).
    bool keep_unread(PeerBase& peer);
    void return_units();

    // Regions that are closed (engine_revoke.h).
    void revoke(const MemoryRegion& region) override;
    void revoke_placement(Peer& peer, PeerState& state);

    // Accesses by the device (engine_direct.h).
    bool may_be_direct(uint64_t flags, size_t length) const;
    bool plan_long(const SendRequest& request, Transmit& op, Header& header, Writer& writer);
    void release_mr(const Transmit& op);
    void plan_access(const AccessRequest& request, Transmit& op) const;
    void plan_atomic(const AtomicRequest& request, Transmit& op) const;
    bool goes_direct(const Peer& peer, const Transmit& op) const;
    AccessResult send_direct(Peer& peer, Transmit& op);
    bool fetch_direct(Peer& peer, Receive& receive, const LocalRange* ranges);
    void fetched(Peer& peer, uint64_t id, int error);
    bool place_directly(Peer& peer, Receive& receive);
    bool send_long(Peer& peer, Transmit& op);

    // Atomics (engine_atomic.h).
    ssize_t check_atomic(const AtomicRequest& request, size_t* elements) const;
    bool take_operands(Transmit& op, const AtomicRequest& request, size_t size);
    void on_atomic(Peer& peer, const Header& header, const std::byte* payload);

    // Control.
    T transport_;
    Endpoint* endpoint_ = nullptr;
    AddressVector* av_ = nullptr;
    PeerTable<Peer> peers_;
    EngineOptions options_;
    List<PeerState> states_;
    // The sender.
    Pool<Transmit> transmits_;
    BounceBuffers bounces_;
    List<PeerState, &PeerState::next_working, &PeerState::previous_working> working_;
    // The responder.
    Pool<Response> responses_;
    // The target of writes.
    UnreadEntries unread_;
    // The receiver, unless the endpoint has a shared receive context.
    ReceiveContext own_context_;
    // What is counted.
    LostPeers lost_;
};

}  // namespace selvage::impl

#endif
