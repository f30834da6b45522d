// The TCP transport: a Transport (impl/engine/transport.h) over stream sockets, for FI_EP_RDM and FI_EP_MSG.
//
// FI_EP_RDM: the endpoint listens at its address. The first use of a peer dials it; there is one connection for both
// directions, as acknowledgements then ride on the answers. When two endpoints dial each other at once, the call of the
// one with the lower instance number counts, and the other is refused; as no frame flows before a call was welcomed,
// nothing is lost or overtaken. FI_EP_MSG: no listener; connect_to() or adopt() make the only peer.
//
// A context of a scalable endpoint: the same, but that it has no listener of its own (tcp_shared_listener.h), and its
// calls name the contexts at both ends.
//
// Sending: the first frame after a progress goes out at once. What is sent to the same peer before the next progress,
// or while the socket is busy, waits in the peer's send buffer and leaves in one call: at the next progress, when there
// is enough of it, or by the flusher's thread when the application stops calling.
//
// Receiving: a hot peer, the only one that has sent of late, is read from directly, all others by epoll. One buffer per
// endpoint takes what arrives, many frames per system call; the payload of a large frame is read straight to its place.
//
// Small frames to a peer that is being dialed are reported as sent once they are in its send buffer; so the connection
// is set up, and the buffer sent, though the application stops calling, at either end: by the flusher's thread. An
// attempt that fails does not cost the buffer; it is repeated until the peer's time is over (FI_TCP_CONNECT_TIMEOUT).
// Closing the endpoint waits for such peers, kSetupLinger at most. What is then still in the buffer is lost, which is
// reported as Sink::down and, as it has been reported as sent, by a warning in the log.
//
// Locks: every call is made under the endpoint's lock but those of the flusher's thread, which never calls the Sink.
//   setup_  connections until frames flow (tcp_setup.cc, tcp_dial.cc): the acceptor, the table of peers, dials,
//   outcomes; `phase` is
//           changed under it, by the owner alone, who may read it without.
//   guard_  the list of queued peers; `buffer` and `tx` of peers in it, or not Up. A spin lock: setup_ is taken first.
// The Sink is called with neither, as the engine may send or find peers.
//
// Control is in tcp_transport.cc, connecting in tcp_setup.cc and tcp_dial.cc, sending in tcp_send.cc, further links in
// tcp_rails.cc, tcp_split.cc, tcp_take_over.cc and tcp_return.cc, what is taken back in tcp_revoke.cc, closing in
// tcp_linger.cc; what is a template over the Sink in tcp_datapath.h.
#pragma once

#include "impl/base/lock.h"
#include "impl/base/spin_lock.h"
#include "impl/endpoint/connect.h"
#include "impl/transport/net/acceptor.h"
#include "impl/transport/net/knobs.h"
#include "impl/transport/tcp/flusher.h"
#include "impl/transport/tcp/knobs.h"
#include "impl/transport/tcp/tcp_peer.h"
#include "impl/transport/tcp/tcp_shared_listener.h"

namespace selvage::impl {

struct AddressVector;
struct AvEntry;

class TcpTransport : private tcp::Deferring {
public:
    using Peer = tcp::Peer;
    static constexpr size_t kCopied = tcp::kCopiedMax;
    static constexpr size_t kFrameMax = tcp::kFramePayloadMax;
    static constexpr size_t kEagerMax = tcp::kEagerMax;
    static constexpr bool kPulls = false;
    static constexpr bool kNativeRma = false;

    TcpTransport() = default;
    ~TcpTransport() { close(); }
    TcpTransport(const TcpTransport&) = delete;
    TcpTransport& operator=(const TcpTransport&) = delete;

    int open(Endpoint& endpoint);
    void close();
    // Of connections from now on: the endpoint's, or else the domain's (fi_endpoint(3)).
    void set_traffic_class(uint32_t tclass) { tclass_ = tclass; }
    int find_peer(fi_addr_t to, Peer** out);
    SendResult send(Peer& peer, const Frame& frame);
    template <typename Sink>
    size_t progress(Sink& sink);
    bool arm();
    int wait_descriptor() const { return epoll_; }
    // What not every transport has (engine/transport.h).
    bool address_of(Peer& peer, AvEntry* out);
    void drop(Peer& peer, int error);
    void discard_placement(Peer& peer);
    static bool is_connected(const Peer& peer) { return peer.phase == Peer::Phase::Up; }
    void copy_sources(const iovec* ranges, size_t count);

    // The same without an endpoint. `key` is used until close().
    int open_datagram(const SocketAddress& address, const net::Key& key);
    int open_connected(const SocketAddress& address, const net::Key& key);
    // Of a context of a scalable endpoint; `listener` is that of the endpoint, and outlives this.
    int open_context(const SocketAddress& address, tcp::SharedListener* listener, const net::Key& key);
    const SocketAddress& address() const { return address_; }
    int peer_at(const SocketAddress& address, Peer** out);
    // The peer at the address, unless it is down; nothing is dialed.
    Peer* living_at(const SocketAddress& address);
    // Nothing waits to be sent or reported, as far as is known without a look at the sockets.
    bool is_silent() const {
        return !queued_ && !broken_ && !rails_busy_ && !waiting_for_room_ &&
               !any_outcome_.load(std::memory_order_relaxed);
    }

    // FI_EP_MSG. `events` hears of the outcome, in a later progress.
    int connect_to(const SocketAddress& to, const uint8_t* data, size_t size, ConnectionEvents* events);
    // Welcomes a caller, and destroys `pending` whatever comes of it. -FI_EKEYREJECTED, -FI_ECONNABORTED,
    // ...
    int adopt(net::PendingConnection* pending, const uint8_t* data, size_t size, ConnectionEvents* events);
    // Sends what waits, and ends the connection: the next progress tells the engine (FI_ESHUTDOWN) and `events`.
    // -FI_ENOTCONN when there is none.
    int shut_down();
    bool is_down() const { return !only_ || only_->phase == Peer::Phase::Down; }
    bool connected() const { return only_ && only_->phase == Peer::Phase::Up; }
    // The address of this end of the connection, once there is one.
    bool local_name(SocketAddress* out) const;

    size_t peers_up() const { return up_; }
    // Before the first peer. These addresses are advertised to callers, and such an endpoint calls what it is sent
    // wherever links lead: for both ends on one machine.
    void offer_rails_at(const SocketAddress* addresses, size_t count);
    size_t rails_up(const Peer& peer) const { return peer.rails ? peer.rails->count_up() : 0; }

    // Where connections are counted that never get a peer.
    void count_in(StatRecord* stat) { acceptor_.count_in(stat); }

private:
    // tcp_dial.cc
    int dial(Peer& peer);
    int start_dial(Peer& peer);
    static void drop_dial(int epoll, net::Dial** dial);
    void forget_dial(Peer& peer) { drop_dial(setup_epoll_, &peer.dial); }
    void dial_later(Peer& peer, int64_t pause);
    bool retry_later(Peer& peer, net::Refusal refusal);
    bool redial(Peer& peer, int error);
    bool redial_refused(Peer& peer);
    void attempt_failed(Peer& peer, int error);
    void dial_failed(Peer& peer, const net::Dial& dial);
    bool seems_foreign(const Peer& peer) const;
    void report_foreign(const Peer& peer, net::Foreign foreign, int error) const;
    bool frames_wait(Peer& peer);
    void note_connected(Peer& peer);
    void send_waiting(Peer& peer, int socket);
    void step_dial(Peer& peer);
    void look_at_dials(int64_t now);
    void finish_dials(int64_t deadline);
    // tcp_setup.cc
    void add_outcome(Peer& peer);
    void remove_outcome(Peer& peer);
    bool become_ready(Peer& peer, int socket, uint64_t instance, uint32_t sequence);
    void give_up(Peer& peer, int error);
    void raise_peer(Peer& peer);
    struct Outcome {
        int error = 0;
        bool answered = false;
        net::Note answer;  // FI_EP_MSG: what the other side said
    };
    Peer* next_outcome(Outcome* out);
    void step_setup(net::PendingConnection** callers);
    void advance_setup() override;
    net::PendingConnection* next_caller();
    static SocketAddress address_of_caller(const net::PendingConnection& pending);
    net::Refusal judge(const net::PendingConnection& pending, const SocketAddress& from, Peer** out, bool* owner);
    void admit_callers(net::PendingConnection** callers);
    void admit(net::PendingConnection* pending, net::PendingConnection** callers);
    bool welcome(Peer& peer, net::PendingConnection& pending);
    bool enter_host(Peer& peer);
    void leave_host(Peer& peer);
    Peer* connected_at(const net::PendingConnection& pending, bool* same);
    void let_fall(Peer& peer);
    void discard_fallen();
    // Of all, the newest first: later ones are not seen, and none goes before the next progress.
    Peer* first_peer() {
        LockGuard setup(setup_);
        return peers_.first();
    }
    // tcp_rails.cc
    size_t rails_allowed() const;
    void prepare_invitation();
    void invite(Peer& peer, const net::PendingConnection& pending, net::Note* welcome);
    void read_invitation(Peer& peer);
    tcp::Rails* make_rails(Peer& peer, bool caller);
    void open_rails(Peer& peer);
    net::Note rail_hello(const tcp::Rail& rail);
    void call_rail(tcp::Rail& rail);
    void call_rail_later(tcp::Rail& rail, bool refused = false);
    static void choose_way(tcp::Rail& rail);
    void end_rail_dial(tcp::Rail& rail) { drop_dial(epoll_, &rail.dial); }
    void step_rail(tcp::Rail& rail);
    bool raise_rail(tcp::Rail& rail, int socket);
    void close_rail(tcp::Rail& rail);
    void lose_rail(tcp::Rail& rail, int error = 0);
    void ask_for_rails(Peer& peer);
    void ask_for_rail(tcp::Rail& rail);
    void queue_rail_caller(net::PendingConnection* pending);
    net::PendingConnection* take_rail_caller();
    template <typename Sink>
    void answer_rail_callers(Sink& sink);
    static net::Refusal judge_rail(const net::PendingConnection& pending, const Peer& peer, tcp::RailCall* call);
    void admit_rail(net::PendingConnection* pending);
    Peer* peer_of_rail(const net::PendingConnection& pending);
    tcp::Rails* take_rails(Peer& peer);
    void discard_rails();
    // tcp_return.cc
    void plan_return(Peer& peer);
    void look_at_return(Peer& peer);
    void put_off_return(tcp::Rail& rail);
    // tcp_split.cc
    // True: the frame is the rails' as well, and *result is what became of it.
    bool splits(Peer& peer, const Frame& frame, SendResult* result) {
        return frame.header.size >= tcp::kSplitMin && peer.invitation && may_split(peer, frame) &&
               divide_frame(peer, frame, result);
    }
    bool may_split(Peer& peer, const Frame& frame);
    bool divide_frame(Peer& peer, const Frame& frame, SendResult* result);
    void load_streams(Peer& peer, tcp::StreamLoad (&streams)[tcp::kStreams]);
    SendResult send_split(Peer& peer, const Frame& frame, const uint32_t (&parts)[tcp::kStreams]);
    int put_split(Peer& peer, const Frame& frame, const uint32_t (&parts)[tcp::kStreams]);
    void push_rails(Peer& peer);
    void push_rail(tcp::Rail& rail, size_t index);
    bool send_answer(Peer& peer);
    void look_at_dials(Peer& peer);
    void look_at_links(Peer& peer);
    void take_late(Peer& peer, const uint64_t (&word)[3]);
    bool arm_rails(Peer& peer);
    int64_t rails_wait() const;
    // tcp_take_over.cc
    bool append_control(Peer& peer, const Header& header);
    void start_keeping(Peer& peer);
    void push_first(Peer& peer);
    struct KeptLeft {
        bool any;     // the other end may not have all
        bool unsent;  // some is to be sent again
        bool full;    // nothing may be sent until some has arrived
    };
    KeptLeft kept_left(const tcp::FirstLink& first) const {
        SpinGuard guard(guard_);
        return {.any = !first.kept.empty(), .unsent = first.kept.unsent() != 0, .full = !first.kept.room()};
    }
    bool can_move(const tcp::FirstLink& first) const {
        SpinGuard guard(guard_);
        return first.can_move();
    }
    void lose_first(Peer& peer);
    bool first_ends(Peer& peer, int error);
    bool first_stops(Peer& peer);
    void close_own_rails(Peer& peer);
    void close_own_rails_again(Peer& peer);
    void look_at_first(Peer& peer);
    void call_first(Peer& peer);
    void look_at_first_call(Peer& peer);
    void call_first_later(Peer& peer);
    void step_first(tcp::Rail& carrier);
    void adopt_first(Peer& peer);
    bool go_on_at(Peer& peer, uint64_t position);
    void replace_first(Peer& peer, int socket);
    void find_first(Peer& peer);
    void take_resume(Peer& peer);
    static bool is_drained(const Peer& peer);
    net::Refusal judge_first(const net::PendingConnection& pending, const Peer& peer) const;
    void admit_first(net::PendingConnection* pending, Peer& peer);
    // tcp_take_over_datapath.h
    template <typename Sink>
    void progress_first(Sink& sink, Peer& peer);
    template <typename Sink>
    void drain_first(Sink& sink, Peer& peer);
    // tcp_rails_datapath.h
    bool is_busy(const Peer& peer) const;
    template <typename Sink>
    size_t progress_rails(Sink& sink);
    template <typename Sink>
    bool take_control(Sink& sink, Peer& peer, const Header& header, const std::byte* payload, size_t behind);
    static bool begin_count(Peer& peer, size_t behind);
    template <typename Sink>
    bool begin_split(Sink& sink, Peer& peer, const Header& header, const std::byte* payload);
    template <typename Sink>
    bool take_split_ack(Sink& sink, Peer& peer, const Header& header);
    bool holds_part_before(const Peer& peer, uint64_t split) const {
        SpinGuard guard(guard_);
        return peer.buffer && peer.buffer->holds_part_before(split);
    }
    bool take_behind(Peer& peer, const std::byte* at, size_t size);
    ssize_t read_part(Peer& peer, int socket, const tcp::Span& part);
    static bool first_is_over(Peer& peer, bool lost);
    void watch_first(Peer& peer, bool on);
    static uint32_t events_of_input(const Peer& peer);
    template <typename Sink>
    size_t receive_split(Sink& sink, Peer& peer);
    template <typename Sink>
    size_t end_split(Sink& sink, Peer& peer);
    void rail_event(tcp::Rail& rail, uint32_t events);
    void look_at_ends(Peer& peer);
    // tcp_transport.cc
    bool join_thread() { return join_flusher(connected_ ? -1 : setup_epoll_); }
    int open_epoll(const net::Key& key);
    int connect_self(Peer& peer);
    struct Fallen {  // what is reported to the engine of a peer that went down
        void* tokens[tcp::kHeldMax];
        size_t token_count = 0;
        bool placement = false;
        bool was_up = false;
        tcp::Rails* rails = nullptr;
    };
    void bring_down(Peer& peer, Fallen* fallen);
    void close_sockets(Peer& peer);
    void make_hot(Peer& peer);
    void note_arrival(Peer& peer);
    void cool(Peer& peer);
    bool is_self(const SocketAddress& address) const;
    bool set_timer();
    void wake_sleeper();
    void report_lost(Peer& peer);
    bool arm_peer(Peer& peer);
    // tcp_linger.cc
    void linger();
    void finish_rails();
    bool is_delivered(Peer& peer);
    bool may_move(const Peer& peer);
    void hand_over(Peer& peer, int64_t deadline);
    // tcp_send.cc
    SendResult send_now(Peer& peer, const Frame& frame);
    SendResult send_later(Peer& peer, const Frame& frame);
    SendResult refuse(Peer& peer);
    SendResult keep_rest(Peer& peer, const Frame& frame, size_t sent);
    SendResult put_in_buffer(Peer& peer, const Frame& frame);
    bool ensure_buffer(Peer& peer);
    void spare_buffer(tcp::SendBuffer* buffer);
    void free_buffers();
    int push_out(Peer& peer);
    int push_kept(Peer& peer);
    void flush_deferred() override;
    void enqueue(Peer& peer);
    void mark_broken(Peer& peer, int error);
    void watch_room(Peer& peer, bool on);
    struct Flushed {
        void* tokens[tcp::kHeldMax];
        size_t token_count = 0;
        bool room = false;
    };
    void flush_peer(Peer& peer, Flushed* result);
    Peer* take_queued();
    // tcp_datapath.h
    template <typename Sink>
    void flush(Sink& sink);
    template <typename Sink>
    void reap(Sink& sink);
    template <typename Sink>
    void take_down(Sink& sink, Peer& peer, int error);
    template <typename Sink>
    size_t poll_hot(Sink& sink);
    template <typename Sink>
    size_t poll_events(Sink& sink);
    template <typename Sink>
    size_t take_outcomes(Sink& sink);
    template <typename Sink>
    void answer_caller(Sink& sink, net::PendingConnection* pending);
    template <typename Sink>
    void look_at_time(Sink& sink);
    template <typename Sink>
    size_t receive(Sink& sink, Peer& peer);
    template <typename Sink>
    bool place(Sink& sink, Peer& peer, size_t got, size_t* frames);
    template <typename Sink>
    bool parse(Sink& sink, Peer& peer, const std::byte* at, size_t size, size_t* frames);
    ssize_t read_socket(Peer& peer, size_t* asked);
    bool control_is_due(size_t done);
    bool keep_left(Peer& peer, const std::byte* at, size_t size);

    Mutex setup_;
    mutable SpinLock guard_;
    Peer* queued_ = nullptr;  // peers with something to send
    Peer* broken_ = nullptr;
    Peer* fallen_ = nullptr;  // that went down; the owner's
    Peer* railed_ = nullptr;  // with rails; the owner's
    tcp::Rails* dead_rails_ = nullptr;
    net::PendingConnection* rail_callers_ = nullptr;  // the oldest first; protected by the setup lock
    size_t rail_caller_count_ = 0;
    bool rails_anywhere_ = false;
    bool rails_busy_ = false;   // some rail has something to do, so those with rails are looked at in each progress
    Peer* dialing_ = nullptr;   // and some that dialed and are still in the list
    Peer* outcomes_ = nullptr;  // peers that are ready or failed
    std::atomic<bool> any_outcome_{false};
    bool raised_at_once_ = false;  // what becomes ready now; protected by the setup lock
    bool closing_ = false;
    bool connected_ = false;         // FI_EP_MSG
    bool want_look_ = false;         // something other than hot peers is going on
    bool waiting_for_room_ = false;  // a send found no memory
    bool in_progress_ = false;       // what is sent now answers what arrived
    bool answered_ = false;          // and some of it waits for the end of progress
    int epoll_ = -1;
    int setup_epoll_ = -1;  // listener, callers, dials; in epoll_, and watched by the flusher
    int timer_ = -1;
    uint32_t hot_count_ = 0;
    uint32_t up_ = 0;
    uint32_t sequence_ = 0;                        // calls made
    uint8_t next_random_[net::kRandomBytes] = {};  // of the next call; protected by the setup lock
    int64_t last_look_ = 0;
    Peer* hot_[tcp::kHotMax] = {};
    const Peer* last_arrival_ = nullptr;  // whom epoll reported last; compared, and may be gone
    uint32_t arrivals_in_row_ = 0;        // of that one
    std::byte* arrivals_ = nullptr;       // kReceiveBuffer bytes
    tcp::SendBuffer* spare_[tcp::kSpareMax] = {};
    size_t spare_count_ = 0;
    Peer* only_ = nullptr;  // FI_EP_MSG
    ConnectionEvents* events_ = nullptr;
    uint8_t private_data_[net::kPrivateMax];  // of connect_to
    size_t private_size_ = 0;
    AddressVector* av_ = nullptr;
    uint32_t tclass_ = FI_TC_UNSPEC;  // of all connections
    uint64_t instance_ = 0;
    SocketAddress address_;
    net::Key key_;
    tcp::PeerTable peers_;
    tcp::HostTable hosts_;
    size_t host_limit_ = 0;
    tcp::Invitation invitation_;  // what a welcome tells, without a secret; protected by the setup lock
    net::Watched timer_watch_{net::Watch::Timer};
    net::Watched setup_watch_{net::Watch::Setup};
    net::Watched callers_watch_{net::Watch::Setup};
    net::Acceptor acceptor_{net::CallKind::ReliableDatagram};
    tcp::SharedListener* listener_ = nullptr;  // of a receive context of a scalable endpoint
};

inline SendResult TcpTransport::send(Peer& peer, const Frame& frame) {
    if (peer.phase == Peer::Phase::Up && !peer.indirect && !peer.broken) [[likely]] {
        const uint32_t now = round();
        if (!frame.more && !in_progress_ && peer.sent_round != now) {
            peer.sent_round = now;
            return send_now(peer, frame);
        }
    }
    answered_ |= in_progress_;
    return send_later(peer, frame);
}

}  // namespace selvage::impl
