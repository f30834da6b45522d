// The verbs transport: a Transport (impl/engine/transport.h) over reliable connections of an RDMA device, for FI_EP_RDM
// and FI_EP_MSG.
//
// FI_EP_RDM: the endpoint listens at its address. The first use of a peer calls it; there is one connection for both
// directions. When two endpoints call each other at once, the call of the one with the lower instance number counts,
// and the other is refused; as no frame flows before a call was welcomed, nothing is lost or overtaken. FI_EP_MSG: no
// listener; connect_to() or adopt() make the only peer. An endpoint reaches itself by a call like any other, whose
// other end is a second peer of the same address.
//
// Everything that arrives, and what became of what was sent, is in one completion queue; the connection manager's
// events have a channel of their own, looked at now and then, and always while somebody calls. A sleeper waits on an
// epoll descriptor of both.
//
// Reads, writes and 64-bit atomics go to the device where the other end allows it (reaches()), and so do long messages
// whose memory is registered; the engine does the rest by frames.
//
// Control is in verbs_transport.cc (opening, closing, peers), verbs_connect.cc (calls, events) and verbs_long.cc (long
// messages); what is a template over the Sink in verbs_datapath.h.
#pragma once

#include "impl/endpoint/connect.h"
#include "impl/stat/stat_file.h"
#include "impl/transport/verbs/verbs_peer.h"

namespace selvage::impl {

struct AddressVector;
struct AvEntry;

namespace verbs {

// A connection request before it is accepted: what the passive endpoint keeps of it.
struct PendingConnection {
    const RdmaLibrary* library = nullptr;
    rdma_cm_id* id = nullptr;
    Hello hello;
    uint8_t hello_bytes[kHelloBytes] = {};
    uint8_t reads = 0;  // that the caller allows, in either direction
    bool gone = false;
    PendingConnection* next = nullptr;
};

}  // namespace verbs

class VerbsTransport {
public:
    using Peer = verbs::Peer;
    static constexpr size_t kCopied = verbs::kFramePayloadMax;
    static constexpr size_t kFrameMax = verbs::kFramePayloadMax;
    static constexpr size_t kEagerMax = verbs::kEagerMax;
    static constexpr bool kPulls = false;
    static constexpr bool kNativeRma = true;

    VerbsTransport() = default;
    ~VerbsTransport() { close(); }
    VerbsTransport(const VerbsTransport&) = delete;
    VerbsTransport& operator=(const VerbsTransport&) = delete;

    int open(Endpoint& endpoint);
    void close();
    int find_peer(fi_addr_t to, Peer** out);
    SendResult send(Peer& peer, const Frame& frame);
    template <typename Sink>
    size_t progress(Sink& sink);
    bool arm();
    int wait_descriptor() const { return epoll_; }
    bool address_of(Peer& peer, AvEntry* out);
    void drop(Peer& peer, int error);

    // NativeRma.
    bool reaches(const Peer& peer, uint64_t key, bool atomic) const {
        const uint8_t needed = atomic ? verbs::kAccessByDevice | verbs::kAtomicsByDevice : verbs::kAccessByDevice;
        return peer.phase == Peer::Phase::Up && (peer.features & needed) == needed && (key & verbs::kDeviceKey);
    }
    AccessResult access(Peer& peer, const DeviceAccess& access);
    bool find_source(const iovec& source, const MemoryRegion* region, LongRange* out) const;
    static void release_mr(void* token);
    void announce(Peer& peer);
    bool place_directly(Peer& peer, const iovec& place, const MemoryRegion* region, void* token);
    bool send_long(Peer& peer, const LongRange& source, void* token);

    // The same without an endpoint. The device outlives the transport; `key` is used until close().
    struct Setup {
        const verbs::VerbsDomain* device;
        SocketAddress address;
        verbs::Key key;
        uint8_t features = 0;
        bool fenced = false;  // what follows a read waits for it
    };
    int open_datagram(const Setup& setup);
    int open_connected(const Setup& setup);
    const SocketAddress& address() const { return address_; }
    int peer_at(const SocketAddress& address, Peer** out);

    // FI_EP_MSG. `events` gets the outcome, in a later progress.
    int connect_to(const SocketAddress& to, const uint8_t* data, size_t size, ConnectionEvents* events);
    // Answers a caller, and takes it over whatever comes of it.
    int adopt(verbs::PendingConnection* caller, const uint8_t* data, size_t size, ConnectionEvents* events);
    // The connection ends once what was sent has arrived: a later progress tells the engine and `events`.
    int shut_down();
    bool is_down() const { return !only_ || only_->phase == Peer::Phase::Down; }
    bool connected() const { return only_ && only_->phase == Peer::Phase::Up; }
    bool local_name(SocketAddress* out) const;

    size_t calls() const { return call_count_; }

private:
    using Call = verbs::Call;

    // verbs_transport.cc
    int open_queues(const Setup& setup);
    int open_listener();
    int make_room(size_t calls, size_t lanes);
    int new_call(Call** out);
    void forget_call(Call* call);
    void detach_call(Peer& peer);
    void kill(Call& call);
    void reap_failed();
    void linger();
    void collect_sent();
    void mark_broken(Peer& peer, int error);
    void let_fall(Peer& peer);
    void discard_fallen();
    void await_room(Peer& peer);
    void flush_chains();
    bool set_timer();
    bool is_self(const SocketAddress& address) const;
    SendResult send_unready(Peer& peer);
    // verbs_long.cc
    verbs::Lane* lane_of(Call& call);
    void close_lane(Call& call);
    bool tell_lane(Peer& peer);
    void on_lane(Call& call, const std::byte* bytes, size_t size);
    // verbs_connect.cc
    int dial(Peer& peer);
    void watch_dialing(Peer& peer);
    int start_call(Peer& peer);
    int request(Call& call);
    bool retry_later(Peer& peer, verbs::Refusal refusal);
    void keep_dialing(Peer& peer);
    void call_failed(Call& call, int error);
    void refused(Call& call, verbs::Refusal refusal, const uint8_t* data, size_t size);
    void look();
    bool take_event();
    void on_event(const rdma_cm_event& event, Call* call);
    void on_request(rdma_cm_id* id, const rdma_conn_param& parameters);
    void on_established(Call& call, const uint8_t* data, size_t size);
    void on_gone();
    void look_at_time();
    int answer(rdma_cm_id* id, const uint8_t (&hello)[verbs::kHelloBytes], uint8_t reads, const uint8_t* data,
               size_t size, Call** out);
    void on_note(Call& call, const std::byte* bytes, size_t size);
    void on_proof(Call& call, const verbs::Note& note);
    void on_answer(Call& call, const verbs::Note& note);
    Peer* host_of(const Call& call, verbs::Refusal* refusal);
    bool may_take(const Peer& peer, const verbs::Hello& hello, verbs::Refusal* refusal) const;
    void turn_away(Call& call, verbs::Refusal refusal);
    void raise(Peer& peer, Call& call);
    // verbs_datapath.h
    template <typename Sink>
    void take(Sink& sink, const ibv_wc& completion);
    template <typename Sink>
    void take_sent(Sink& sink, Call& call, const ibv_wc& completion, uint16_t number);
    template <typename Sink>
    void take_long(Sink& sink, Call& call, const ibv_wc& completion, bool send);
    template <typename Sink>
    void take_frame(Sink& sink, Call& call, const verbs::Immediate& told, const std::byte* bytes, uint32_t length);
    template <typename Sink>
    void take_arrival(Sink& sink, Call& call, const ibv_wc& completion, uint16_t number);
    template <typename Sink>
    void take_stash(Sink& sink);
    template <typename Sink>
    size_t take_some(Sink& sink);
    template <typename Sink>
    void reap(Sink& sink);
    template <typename Sink>
    void give_room(Sink& sink);
    bool control_is_due();
    Call* call_of(const verbs::Ticket& ticket) const {
        Call* call = ticket.link < slot_count_ ? slots_[ticket.link] : nullptr;
        return call && call->link.generation() == ticket.generation ? call : nullptr;
    }
    void on_failed(Call& call, const ibv_wc& completion);
    void send_credits_now(Call& call) {
        if (call.link.owes()) [[unlikely]]
            send_credits(call);
    }
    void send_credits(Call& call);
    void repost(Call& call);

    const verbs::VerbsDomain* device_ = nullptr;
    ibv_cq* completions_ = nullptr;
    Call** slots_ = nullptr;  // calls by the index in their tickets
    uint32_t slot_count_ = 0;
    uint32_t rounds_ = 0;
    Peer* broken_ = nullptr;
    Peer* fallen_ = nullptr;   // that went down
    Peer* waiting_ = nullptr;  // want room
    Peer* chained_ = nullptr;
    Call* due_ = nullptr;     // its receives are posted again when progress is made the next time
    bool want_look_ = false;  // something other than frames is going on
    bool any_dead_ = false;
    bool gone_ = false;       // the device was removed
    bool connected_ = false;  // FI_EP_MSG
    int stash_count_ = 0;     // completions that arm() found
    int64_t last_look_ = 0;
    Peer* dialing_ = nullptr;
    Call* calls_ = nullptr;
    size_t call_count_ = 0;
    size_t lane_count_ = 0;
    size_t pending_count_ = 0;
    uint32_t generation_ = 0;
    uint32_t sequence_ = 0;  // calls made
    uint64_t instance_ = 0;
    uint8_t features_ = 0;
    bool fenced_ = false;
    int epoll_ = -1;
    int timer_ = -1;
    ibv_comp_channel* wakes_ = nullptr;
    rdma_event_channel* channel_ = nullptr;
    rdma_cm_id* listener_ = nullptr;
    Peer* only_ = nullptr;  // FI_EP_MSG
    Peer* self_ = nullptr;  // the other end of the call to itself
    ConnectionEvents* events_ = nullptr;
    uint8_t private_data_[verbs::kPrivateMax] = {};  // of connect_to
    size_t private_size_ = 0;
    AddressVector* av_ = nullptr;
    SocketAddress address_;
    StatRecord* stat_ = nullptr;  // where connections are counted that never get a peer
    verbs::Key key_;
    net::AddressTable<Peer> peers_;
    ibv_wc stash_[verbs::kPoll];
};

inline SendResult VerbsTransport::send(Peer& peer, const Frame& frame) {
    if (peer.phase != Peer::Phase::Up || peer.broken) [[unlikely]]
        return send_unready(peer);
    verbs::Link& link = peer.call->link;
    if (!link.room()) [[unlikely]]
        return send_unready(peer);
    if (!link.send(frame)) [[unlikely]] {
        mark_broken(peer, FI_EIO);
        return SendResult::Down;
    }
    if (frame.more && !peer.chained) {
        peer.chained = true;
        peer.next_chained = chained_;
        chained_ = &peer;
    }
    return SendResult::Done;
}

}  // namespace selvage::impl
