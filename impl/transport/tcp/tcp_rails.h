// Rails of one peer: the sockets, and how they are set up. See rails.h for what runs on them.
//
// Who called first calls for the rails, too: when the first long frame goes or comes, each address that the other end
// advertised in its welcome (Invitation) is called that is reached by a link of this machine's own, other than the
// first connection's (choose_rails). A call of a rail is a handshake as any (net/wire.h), but that its key is made of
// the domain's and of a secret that the welcome had: so nobody else's connection can become a rail. Its data: which
// rail, and how many bytes of the stream are here already, in the hello and in the welcome.
//
//   None --(who calls)--> Dialing --> Up --> Lost --> Dialing ...
//   None --(who is called)------> Up --> Lost --> Up ...
//
// A rail that was up and is lost is called until it is there again or the peer is down, by the first link and by its
// own in turn; so no byte that it had is missing. One that never was up is left alone after kRailAttempts. A rail that
// seems to be up is called, too, when the parts of a frame do not come by it, or those that it was given are not
// answered: the other end refuses such a call if the rail is up there as well.
//
// So streams that had links of their own come to share one when a link dies. As long as they do, and there is a link
// that none of them uses, who calls tries that link now and then (tcp_return.cc): a rail goes there while it is up, as
// if it had been lost. From when its hello leaves until that is answered, nothing is read of it.
//
// What a peer can make this side keep: kRailsMax sockets, a Rails, the copies of what it was sent (KeptBytes::kRoom),
// and kReceiveBuffer bytes while a frame is put together; of answers to reads that it does not acknowledge and whose
// memory is taken back, kSplitsMax payloads (32 MiB); and all callers together kRailCallersMax sockets, until the owner
// answers them.
#pragma once

#include "impl/transport/net/dial.h"
#include "impl/transport/tcp/rail_link.h"
#include "impl/transport/tcp/rails.h"
#include "impl/transport/tcp/take_over.h"

namespace selvage::impl::tcp {

inline constexpr size_t kSecretBytes = 16;
inline constexpr size_t kAdvertisedMax = 7;  // addresses in a welcome
// Microseconds between two looks at the links of a peer for whom parts are under way (rail_link.h), and milliseconds
// for an endpoint that sleeps.
inline constexpr int64_t kRailLook = 20'000;
inline constexpr int64_t kRailWake = 50;
// Milliseconds of sleep while as much as can be kept (KeptBytes) is not acknowledged: no event says that it is.
inline constexpr int64_t kFullWake = 5;
// Milliseconds of a call of a rail, and the pauses between two.
inline constexpr int64_t kRailDialLimit = 3000;
inline constexpr int64_t kRailPause = 20;
inline constexpr int64_t kRailPauseMost = 1000;
// Calls in a row that fail until a rail that was never up is left alone, and calls that are refused until the peer of
// one that was up goes down.
inline constexpr uint32_t kRailAttempts = 8;
// Milliseconds in which no part of a frame comes until a rail is asked for, and between two questions.
inline constexpr int64_t kRailStall = 250;
inline constexpr int64_t kRailAskPause = 250;
// Milliseconds until a rail that shares a link with another stream is called by a link that nobody uses; doubled by
// each such call that fails.
inline constexpr int64_t kReturnPause = 1000;
inline constexpr int64_t kReturnPauseMost = 30'000;
// Seconds in which nothing comes by a rail until the kernel of who calls looks whether the other end has it: that may
// have reset it, and a reset that vanishes is not sent again.
inline constexpr int kRailProbe = 3;
// Callers for rails who have proved themselves and wait for the owner.
inline constexpr size_t kRailCallersMax = 64;

// The data of a welcome: kInvitationType, the secret, and addresses of the family of the connection, without ports.
struct Invitation {
    uint8_t secret[kSecretBytes];
    size_t count = 0;
    SocketAddress addresses[kAdvertisedMax];
};
// A copy in malloc'ed memory, without the addresses behind `count`; nullptr: there is no memory.
Invitation* copy_of(const Invitation& invitation, size_t count);
// Of the addresses that fit; what is written has a count of at least one.
void write_invitation(const Invitation& invitation, AddressKind kind, net::Note* welcome);
// False: it is none. `port` is put into the addresses.
bool read_invitation(const net::Note& welcome, AddressKind kind, uint16_t port, Invitation* out);

// The data of the hello of a rail, and of its welcome.
struct RailCall {
    uint8_t rail = 0;   // or kFirstStream; the hello then has taken = 0
    bool asks = false;  // whether the other end has lost the rail; if not, it is Busy
    uint64_t taken = 0;
};
void write_rail_call(const RailCall& call, net::Note* note);
void write_rail_call(const RailCall& call, uint8_t (&out)[9]);
bool read_rail_call(const net::Note& note, RailCall* out);

// The key of a rail's handshake: a digest of the domain's and the secret.
struct RailKey {
    uint8_t bytes[kDigestBytes];
    RailKey(const net::Key& key, const uint8_t (&secret)[kSecretBytes]);
    net::Key key() const { return {bytes, sizeof bytes}; }
};

struct Peer;

// The addresses that a connection is called from and to.
struct RailLink {
    SocketAddress from;
    SocketAddress to;
    bool is_known() const { return to.kind != AddressKind::None; }
};

struct Rail : net::Watched {
    enum class State : uint8_t { None, Dialing, Up, Lost };
    Rail() : net::Watched{net::Watch::Rail} {}
    ~Rail();
    Rail(const Rail&) = delete;
    Rail& operator=(const Rail&) = delete;

    // It is called by another link, and what is here of its stream has been said: nothing is read of it, or sent.
    bool is_moving() const { return returns && dial && dial->is_connected(); }

    State state = State::None;
    uint8_t link = 0;      // of who calls: the one that it is on, of Rails::links
    uint8_t way = 0;       // and the one that it is called by
    bool returns = false;  // it is up, and is called by a link that nobody uses
    bool blocked = false;  // the socket took less than it was given; epoll reports when it has room
    bool was_up = false;
    bool ended = false;  // epoll reports that it may have
    int socket = -1;
    Peer* peer = nullptr;
    net::Dial* dial = nullptr;
    int64_t dial_since = 0;  // milliseconds
    int64_t dial_again = 0;
    uint32_t attempts = 0;  // in a row that failed; with was_up: that were refused
    uint32_t sequence = 0;  // of the newest call that came
    LinkWatch watch;
};

struct Rails {
    Rails() = default;
    ~Rails();
    Rails(const Rails&) = delete;
    Rails& operator=(const Rails&) = delete;

    size_t count_up() const {
        return static_cast<size_t>(
            std::count_if(rail, rail + kRailsMax, [](const Rail& r) { return r.state == Rail::State::Up; }));
    }

    bool is_carrier(const Rail& which) const { return &which == &carrier; }

    bool caller = false;        // this side calls
    unsigned link_timeout = 0;  // net::link_timeout()
    bool owes_ack = false;      // whole splits that were not answered
    Rail rail[kRailsMax];
    SplitQueue out;
    SplitArrival in;
    FirstLink first;
    Rail carrier;  // of who calls: the call for another first connection; it never is Up
    // Of who calls: the links that there are, [0] that of the first connection when it was made, [1 + i] that by which
    // rail i was first called; and the one that the first connection is on.
    RailLink links[kStreams];
    uint8_t first_link = 0;
    uint8_t return_way = 0;  // the link that is tried next, if nobody uses it
    int64_t return_at = 0;   // milliseconds; when a rail is called by such a link, or 0
    int64_t return_pause = kReturnPause;
    bool first_unwatched = false;  // epoll does not report what the first connection has: the split is whole before
    bool more_to_read = false;     // the last look at a split ended before the sockets were empty
    int64_t looked = 0;            // microseconds; at the links
    RailWindow window[kRailsMax];
    int64_t answered = 0;  // microseconds; up to then the windows know
    uint32_t late[kRailsMax] = {};
    // Milliseconds: since when nothing has come of a split, or 0; and the last look at the first connection since then.
    int64_t stalled = 0;
    int64_t first_seen = 0;
    // What was read of the first connection behind the part that is on it, until the split is whole; malloc'ed.
    std::byte* behind = nullptr;
    size_t behind_size = 0;
    Peer* next = nullptr;        // of the transport's list of peers with rails
    Rails* next_dead = nullptr;  // of those whose peer went down; events of epoll may name them still
};

// The addresses of this machine that a listener at all of them can advertise, of one family: one for each link
// that the user lets the provider use. Returns how many.
size_t addresses_to_advertise(AddressKind kind, SocketAddress (&out)[kAdvertisedMax]);
// Of the advertised addresses, those that links of this machine's lead to, other than the one of `first`: in *to, and
// the links' addresses in *from. Returns how many; each link is there once. Whether it is the peer who is at such an
// address the handshake says.
size_t choose_rails(const Invitation& invitation, const SocketAddress& first, SocketAddress (&from)[kRailsMax],
                    SocketAddress (&to)[kRailsMax]);

}  // namespace selvage::impl::tcp
