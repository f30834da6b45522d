// The listening side until frames flow: accepts, and lets pending connections prove themselves.
//
// Nothing a pending connection sends is acted upon but the notes of the handshake. Owner: a transport (FI_EP_RDM) or a
// passive endpoint (FI_EP_MSG), whose lock is held in every call.
//
// The budget. A pending connection costs a descriptor and some 1.5 KiB, and has a time limit. There are at most
// kPendingMax, and an eighth of the descriptors that the process may open. The last eighth of the descriptors is the
// application's: when an accepted connection gets one of those, another pending connection is closed for it.
//
// With the budget spent, one is evicted for the next: of the source address that has most of them, one that has not
// sent its hello, and of these the oldest. What it has sent is read before that, so that nobody is evicted who waits
// for this side. And it has had kPendingGrace: without such a one, callers wait in the kernel's queue. So
//   1. a source with fewer pending connections than another loses none,
//   2. a caller that is as fast as its network gets in beside N silent ones a second from its own address, as long as
//      each of its notes takes less than budget / N seconds; N at most budget / kPendingGrace,
//   3. beyond that, who gets in is up to the kernel's queue; a dial that is dropped is repeated (tcp_dial.cc).
// Nobody can use the address of another, as a handshake needs the answers; many addresses of one's own are many
// sources.
#pragma once

#include "impl/stat/stat_file.h"
#include "impl/transport/net/sockets.h"
#include "impl/transport/net/wire.h"

namespace selvage::impl::net {

// Where pending connections come from.
struct Source {
    SocketAddress host;
    size_t count = 0;
    Source* next = nullptr;
};

// An incoming connection. First it belongs to the acceptor; once it has sent its proof, or a hello that says that it
// has no key, to whoever it is handed to, who answers with welcome() or refuse() and destroys it.
struct PendingConnection : Watched {
    enum class State : uint8_t { Hello, Proof, Proved, Dead };

    PendingConnection() : Watched{Watch::Pending} {}
    ~PendingConnection();
    PendingConnection(const PendingConnection&) = delete;
    PendingConnection& operator=(const PendingConnection&) = delete;

    // Who was not challenged holds the empty key, and no other.
    bool holds(const Key& key) const;
    // Sends the last note; false when the other end is gone. After true, release_socket() carries frames.
    // `self` has the answering endpoint's instance and sequence.
    struct Self {
        uint64_t instance;
        uint32_t sequence;
    };
    bool welcome(const Key& key, const Self& self, const uint8_t* data, size_t data_size);
    void refuse(Refusal reason, const uint8_t* data = nullptr, size_t data_size = 0);
    // The other end has closed the connection, or says more than it may.
    bool left() const;
    int release_socket();

    State state = State::Hello;
    bool challenged = false;
    bool watched = false;  // by the acceptor's epoll
    int socket = -1;
    SocketAddress from;        // as the kernel says
    Source* source = nullptr;  // while it belongs to the acceptor
    int64_t since = 0;         // milliseconds
    Note hello;
    Note proof;
    Transcript transcript{};
    uint8_t in[kNoteMax];
    size_t in_size = 0;
    PendingConnection* next = nullptr;
};

class Acceptor : public Watched {
public:
    explicit Acceptor(CallKind kind) : Watched{Watch::Listener}, kind_(kind) {}
    ~Acceptor() { close(); }
    Acceptor(const Acceptor&) = delete;
    Acceptor& operator=(const Acceptor&) = delete;

    // Listens; the port is written back. Everything is watched by `epoll`, which the owner keeps open until close().
    int open(SocketAddress* address, int backlog, int epoll);
    void close();
    bool is_open() const { return socket_ >= 0; }
    int socket() const { return socket_; }

    // Events of epoll: the acceptor itself, or one of its pending connections. True: some have proved themselves, and
    // more are likely to have come; if not, the acceptor's event stays.
    bool accept_some();
    void advance(PendingConnection* pending);
    // A pending connection that has sent its proof, or nullptr; it is the caller's then.
    PendingConnection* next_proved();
    // Time limits, and destruction of what failed: once per round, after the events.
    void sweep(int64_t now);
    // Where connections are counted that never get a peer.
    void count_in(StatRecord* stat) { stat_ = stat; }
    void count(Stat stat) { add_stat(stat_, stat); }
    bool has_pending() const { return pending_count_ != 0; }
    bool needs_timer() const { return pending_count_ != 0 || paused_until_ != 0; }

private:
    void admit(int socket, const SocketAddress& from);
    PendingConnection* find_victim(int64_t grace) const;
    bool evict(int64_t grace);
    bool watch(PendingConnection& pending);
    void unwatch(PendingConnection& pending);
    bool enter_source(PendingConnection& pending);
    void leave_source(PendingConnection& pending);
    bool take(PendingConnection& pending, const Note& note, size_t size);
    bool take_hello(PendingConnection& pending, const Note& hello, size_t size);
    void kill(PendingConnection* pending);
    void report_foreign(const PendingConnection& pending);
    void pause(int64_t milliseconds);

    CallKind kind_;
    StatRecord* stat_ = nullptr;
    int socket_ = -1;
    int epoll_ = -1;
    int64_t paused_until_ = 0;  // no descriptor was left
    int64_t quiet_until_ = 0;   // no line of the log about foreign callers before
    bool any_dead_ = false;
    bool took_some_ = false;             // since the last sweep
    bool crowded_ = false;               // and before that
    size_t pending_count_ = 0;           // in list_, dead ones aside
    PendingConnection* list_ = nullptr;  // newest first
    Source* sources_ = nullptr;
    PendingConnection* proved_ = nullptr;
    PendingConnection** proved_end_ = &proved_;
};

}  // namespace selvage::impl::net
