// The seam between the engine and a transport.
//
// One transport object serves one enabled endpoint (Engine<T> holds it by value), so the calls in both directions are
// direct. Every call, in both directions, is made with the endpoint's lock held; a transport has no lock and no thread
// of its own. A transport knows how to move frames to peers and how to find out that one arrived; matching, tags, large
// messages, RMA, atomics, completions and errors to the application are the engine's.
//
// The Sink is called from progress alone. Inside of its calls the engine may call send, pull and drop, also for the
// peer whose frame is being delivered. An endpoint that sends to its own address reaches itself through the transport:
// the peer that find_peer gives for it is one like any other, and its frames arrive in a later progress.
//
//   engine -> transport                         transport -> engine (the Sink)
//   open, close                                 deliver: a whole frame, its payload in one piece
//   find_peer: the peer of an fi_addr_t         begin/end: a frame whose payload is put where the engine says
//   send: one frame                             sent: the payload of a held frame is no longer needed
//   progress: look for arrivals                 room: a peer that had no room has some now
//   arm, wait_descriptor: for blocking          down: the peer is gone
//   pull (PullsMemory): a peer's memory
//
// Transport and Sink are what every one has. What only some have is a concept of its own, and they are listed here.
#pragma once

#include <concepts>

#include "impl/base/rdma.h"
#include "impl/engine/frame.h"
#include "impl/engine/window.h"

namespace selvage::impl {

struct AvEntry;
struct Endpoint;
struct MemoryRegion;

enum class SendResult : uint8_t {
    Done,   // the payload was copied; its memory is the caller's again
    Held,   // the payload is read later; Sink::sent says when it is no longer needed. Order is kept all the same.
    Again,  // no room, nothing was sent; Sink::room follows
    Down,   // there is no such peer any more (Sink::down was or will be called for it)
};

// A frame to be sent. `header.size` is the sum of the lengths. `more`: another frame to the same peer follows at once
// (FI_MORE, or the next segment), so that a transport may wait with its system call or doorbell; the last has it false.
struct Frame {
    const Header& header;
    const iovec* payload;
    size_t count;
    void* token;  // comes back in Sink::sent if the frame was held
    bool more;
    bool answer = false;  // without payload. Who sent what it answers may wait for it, when this side makes no more
                          // progress: a transport whose room can be used up keeps some for these
};

// A read, write or atomic that the device does by itself (NativeRma).
struct DeviceAccess {
    // Fetch: a read of an announced message, which later operations do not wait for.
    enum class Kind : uint8_t { Write, Read, Add, CompareSwap, Fetch };
    Kind kind;
    const iovec*
        local;  // the source of a write; where a result goes (of an atomic: one range of 8 bytes, or no memory)
    size_t count;
    size_t length;  // of the ranges together
    uint64_t address;
    uint64_t key;
    bool has_data;  // remote CQ data
    uint32_t data;
    uint64_t operand;  // of atomics: added, or swapped in
    uint64_t compare;
    const MemoryRegion* const* regions;  // one per range, where the application named them, or nullptr
    void* token;                         // comes back in Sink::accessed
};
enum class AccessResult : uint8_t {
    Posted,      // Sink::accessed follows, or Sink::down
    Again,       // no room, nothing was done; Sink::room follows
    Down,        // as SendResult::Down
    Impossible,  // the device cannot do this one; nothing was done
};

// One end of a long message, as the device knows it.
struct LongRange {
    uint64_t address;
    uint32_t key;
    uint32_t length;
    bool exported;  // a source that peers may read under its key
    void* token;    // to take it back, or nullptr
};

// Where the payload of an arriving frame goes: the engine fills it in Sink::begin, the transport fills the memory in
// order and calls Sink::end, with an error (a positive errno) when the peer went away in between.
struct Placement {
    static constexpr size_t kRanges = 8;
    iovec ranges[kRanges];  // lengths sum up to header.size
    size_t count;
    void* token;  // the engine's
};

// What the engine keeps per peer; a transport derives its own from the engine's type:
// `struct Peer : PeerBase { ... }`. The transport creates peers (by find_peer, or when one makes itself known) and
// frees them in close(); a peer that is down stays until then, or until find_peer replaces it.
struct PeerBase {
    void* state = nullptr;                     // the engine's, from its first use until down or close
    fi_addr_t address = FI_ADDR_NOTAVAIL;      // of the peer in the bound address vector, if it is there
    uint32_t address_generation = UINT32_MAX;  // of the address vector when `address` was looked up
    uint16_t ahead = kWindowFirst;  // units that it may still be sent ahead of its receives (window.h), and kBusy
    uint16_t owed = 0;              // units of its messages that it will be given back
    uint16_t credit_at = kWindowFirst / 4;  // it is given back what it is owed when that is a quarter of its window

    // An operation cannot be sent at once (PeerState::busy): no message may overtake it. Beside the units, so that the
    // shortest path asks once.
    static constexpr uint16_t kBusy = 0x8000;
    bool may_send(int units) const { return static_cast<int16_t>(ahead) >= units; }
    int units_left() const { return ahead & ~kBusy; }
    // Units of its messages that this side keeps at most.
    uint16_t window() const { return static_cast<uint16_t>(4 * credit_at); }
    void set_window(uint16_t units) { credit_at = static_cast<uint16_t>(units / 4); }
    void spend(int units) { ahead = static_cast<uint16_t>(ahead - units); }
    // No more than any peer may give: it can have given those of a message that is cancelled before it was sent.
    void regain(int units) {
        const int all = units_left() + units;
        ahead = static_cast<uint16_t>((all < kWindowLimit ? all : kWindowLimit) | (ahead & kBusy));
    }
    void set_busy(bool busy) { ahead = static_cast<uint16_t>(units_left() | (busy ? kBusy : 0)); }

    // Of a transport that holds two (transport/near): which one the peer belongs to, and whether this side sends to it,
    // so that the way to it stays until it is down.
    bool in_memory = false;
    bool way_chosen = false;
};

// What a transport may promise beyond Transport. Each is found by its members, all of them, and the engine calls none
// of these in any other way. A transport whose endpoints depend on one asserts it by name.

// The receiver reads the sender's memory by itself (single copy): long transfers are offered to be pulled, and fetched
// with pull() (engine_pull.h).
template <typename T>
concept PullsMemory = requires(T transport, typename T::Peer& peer, const iovec* ranges, size_t count, size_t length,
                               uint64_t epoch, uint32_t size, Header* next) {
    requires T::kPulls;
    // Shorter transfers are never offered.
    { T::kPullMin } -> std::convertible_to<size_t>;
    // This side's memory is to be read by the peer for a transfer of that length.
    { transport.offers(peer, length) } -> std::same_as<bool>;
    // The peer may be able to read this side's memory, however short the transfer is.
    { transport.may_be_read(peer) } -> std::same_as<bool>;
    // This side can read the peer's.
    { transport.can_pull(peer) } -> std::same_as<bool>;
    // From the peer's ranges to this side's: 0 or -errno. The peer's are its claim: read as data, never followed here.
    { transport.pull(peer, ranges, count, ranges, count) } -> std::same_as<int>;
    // So many transfers, of together `length` bytes, were read by one call; and one was not: so the transport measures
    // which is faster.
    { transport.came_pulled(peer, length, count) } -> std::same_as<void>;
    { transport.came_in_parts(peer, length) } -> std::same_as<void>;
    // In deliver() of a frame with so many bytes of payload: another one of the peer is there behind it, and is
    // delivered next. What its header says by then can be something else, as it is still the peer's to write. (The size
    // alone: a header whose address goes to another file is no longer in registers on the shortest path.)
    { transport.has_next(peer, size, next) } -> std::same_as<bool>;
    // Of what is granted now to the peers' accesses.
    { transport.grant_epoch() } -> std::same_as<uint64_t>;
    // Nothing that was granted before counts any more, before the caller's next store; no peer is writing under it.
    { transport.revoke_grants() } -> std::same_as<void>;
    // Something of the peer's may be granted: from now on it can be seen whether that is revoked.
    { transport.expect_grant(peer) } -> std::same_as<void>;
    // What the peer granted at that epoch was not revoked before the last byte was pulled.
    { transport.still_granted(peer, epoch) } -> std::same_as<bool>;
    // Changes with every frame that is sent to the peer.
    { transport.frames_sent(peer) } -> std::same_as<uint64_t>;
    // Reads of that length need no grant that stands (standing_grants.h): there can be none, or asking was found to be
    // faster; they are to be made under one, now; and one was, or was asked for: so the transport measures which is
    // faster.
    { transport.asks_for_reads(peer, length) } -> std::same_as<bool>;
    { transport.reads_at_once(peer, length) } -> std::same_as<bool>;
    { transport.came_read(peer, length, true) } -> std::same_as<void>;
    // The same for writes; and one was, or was answered.
    { transport.asks_for_writes(peer, length) } -> std::same_as<bool>;
    { transport.writes_at_once(peer, length) } -> std::same_as<bool>;
    { transport.came_written(peer, length, true) } -> std::same_as<void>;
    // All of these ranges to an address of the peer's, under a grant of that epoch. False: that does not stand, or not
    // all could be written.
    { transport.write_granted(peer, epoch, ranges, count, epoch) } -> std::same_as<bool>;
    // The peer is granted this side's memory to write.
    { transport.grants_writes(peer) } -> std::same_as<void>;
};

// The device reads and writes a peer's memory by itself: accesses and long messages go past the peer's engine
// (engine_direct.h). The Sink is a DeviceSink, too.
template <typename T>
concept NativeRma = requires(T transport, typename T::Peer& peer, uint64_t key, const DeviceAccess& access,
                             const iovec& range, const MemoryRegion* region, LongRange* source, void* token) {
    requires T::kNativeRma;
    // It may be asked for the peer's memory under this key.
    { transport.reaches(peer, key, true) } -> std::same_as<bool>;
    // In order with frames, also with those that come later. Reads have come back before what follows them begins,
    // where the endpoint's order asks for it.
    { transport.access(peer, access) } -> std::same_as<AccessResult>;
    // The source of a long message is there for peers (LongRange::exported) or for send_long() from now on, until
    // release_mr(token). False: it is not worth while, or not possible. The region, or nullptr, is the one that the
    // application named for it.
    { transport.find_source(range, region, source) } -> std::same_as<bool>;
    { T::release_mr(token) } -> std::same_as<void>;
    // Before a message is announced for send_long().
    { transport.announce(peer) } -> std::same_as<void>;
    // Of the messages for send_long(), the one that is asked for next may come there; Sink::placed(peer, token) says
    // that it has. False: not this one.
    { transport.place_directly(peer, range, region, token) } -> std::same_as<bool>;
    // The peer has asked for it; Sink::sent(peer, token) says that it is there, and the source no longer needed. They
    // go in the order in which they are asked for. False: the peer cannot have asked.
    { transport.send_long(peer, *source, token) } -> std::same_as<bool>;
};

// A frame that send answers Done for has reached the peer's memory, so that FI_TRANSMIT_COMPLETE needs no answer of
// the peer; the engine's calls that send ask.
template <typename T>
concept DeliversWhenSent = requires {
    requires T::kDelivers;
};

// There is a shorter way for a frame whose payload fits beside its header, in steps between which the engine does its
// part; the engine takes it for sends, writes and replies where the endpoint has no lock.
template <typename T>
concept SendsInline = requires(T transport, typename T::Peer& peer, uint64_t word, const void* payload, size_t size) {
    // The longest payload.
    { T::kInlineMax } -> std::convertible_to<size_t>;
    // Nothing is in the way: send_inline may follow, and always succeeds.
    { transport.takes_inline(peer) } -> std::same_as<bool>;
    // The header's first eight bytes and its three words.
    { transport.send_inline(peer, word, word, word, word, payload, size) } -> std::same_as<void>;
    // After it: whether wake_owner is to be called.
    { T::owner_sleeps(peer) } -> std::same_as<bool>;
    { transport.wake_owner(peer) } -> std::same_as<void>;
};

// The transport knows when a peer has its connection, and calls Sink::connected then; elsewhere a peer is connected
// when find_peer gives it. The engine asks when it finds a peer again that was lost.
template <typename T>
concept ReportsConnections = requires(T transport, const typename T::Peer& peer) {
    { transport.is_connected(peer) } -> std::same_as<bool>;
};

// The address that a peer sends from is known, as one for the address vector, unless address_of returns false: not
// (yet). The engine asks for FI_SOURCE, FI_SOURCE_ERR, FI_DIRECTED_RECV and the names of counters.
template <typename T>
concept ReportsAddresses = requires(T transport, typename T::Peer& peer, AvEntry* out) {
    { transport.address_of(peer, out) } -> std::same_as<bool>;
};

// A peer that broke the protocol can be dropped, also while a frame of it is delivered: nothing further of it is
// delivered, and Sink::down(peer, error) follows from progress. The engine drops a peer for any frame that does not
// fit.
template <typename T>
concept DropsPeers = requires(T transport, typename T::Peer& peer, int error) {
    { transport.drop(peer, error) } -> std::same_as<void>;
};

// Frames without a token that are held and lie in some ranges get a copy of their payload, and the ranges are not read
// any more; a peer for which there is no memory goes down. The engine calls it when a region is closed
// (engine_control.h).
template <typename T>
concept CopiesSources = requires(T transport, const iovec* ranges, size_t count) {
    { transport.copy_sources(ranges, count) } -> std::same_as<void>;
};

// Of the frame that is being placed nothing more is stored; Sink::end comes as usual. The engine calls it when a region
// is closed (engine_control.h).
template <typename T>
concept DiscardsPlacements = requires(T transport, typename T::Peer& peer) {
    { transport.discard_placement(peer) } -> std::same_as<void>;
};

// The longest payload of a frame, and of a message that is sent without asking, depend on the peer. T::kFrameMax and
// T::kEagerMax are the largest of all.
template <typename T>
concept LimitsByPeer = requires(const typename T::Peer& peer) {
    { T::frame_max(peer) } -> std::same_as<size_t>;
    { T::eager_max(peer) } -> std::same_as<size_t>;
};

template <typename T>
concept Transport = requires(T transport, typename T::Peer& peer, const Frame& frame, Endpoint& endpoint, fi_addr_t to,
                             typename T::Peer** out) {
    requires std::derived_from<typename T::Peer, PeerBase>;
    // Bytes of payload up to which send never answers Held.
    { T::kCopied } -> std::convertible_to<size_t>;
    // The largest payload of one frame.
    { T::kFrameMax } -> std::convertible_to<size_t>;
    // Messages longer than this are announced and fetched (rendezvous), shorter ones are sent at once (eager).
    { T::kEagerMax } -> std::convertible_to<size_t>;
    // Both are said by every transport, and what is said is there.
    { T::kPulls } -> std::convertible_to<bool>;
    { T::kNativeRma } -> std::convertible_to<bool>;
    requires(!T::kPulls || PullsMemory<T>);
    requires(!T::kNativeRma || NativeRma<T>);

    // Binds the endpoint's own address (and writes back what it became). 0 or a negative fabric errno, and then a clean
    // state.
    { transport.open(endpoint) } -> std::same_as<int>;
    { transport.close() } -> std::same_as<void>;
    // The peer behind an address of the bound address vector; connects lazily. 0, -FI_EINVAL for an address that is not
    // there, -FI_EAGAIN, -FI_ENOMEM, ... A connected endpoint has one peer, and ignores the address.
    { transport.find_peer(to, out) } -> std::same_as<int>;
    { transport.send(peer, frame) } -> std::same_as<SendResult>;
    // Before sleeping on wait_descriptor(), which becomes readable when something arrives: true if nothing is there to
    // do now. An endpoint that is armed is disarmed by its next progress.
    { transport.arm() } -> std::same_as<bool>;
    { transport.wait_descriptor() } -> std::same_as<int>;
    // progress<Sink>(Sink&): handles what has arrived, a bounded amount; returns how many frames or events it handled.
};

// What a transport calls; implemented by the engine.
template <typename S, typename Peer>
concept Sink = requires(S sink, Peer& peer, const Header& header, const std::byte* payload, Placement* placement,
                        void* token, int error) {
    // The payload is valid during the call only.
    { sink.deliver(peer, header, payload) } -> std::same_as<void>;
    // False: the frame is malformed, the transport drops the peer.
    { sink.begin(peer, header, placement) } -> std::same_as<bool>;
    { sink.end(peer, header, placement, error) } -> std::same_as<void>;
    { sink.sent(peer, token, error) } -> std::same_as<void>;
    { sink.room(peer) } -> std::same_as<void>;
    // After it, no call names the peer but find_peer. `error` is a positive fabric errno (FI_ECONNRESET,
    // FI_EHOSTDOWN...)
    { sink.down(peer, error) } -> std::same_as<void>;
};

// What a transport with NativeRma calls beside it.
template <typename S, typename Peer>
concept DeviceSink = Sink<S, Peer> &&
    requires(S sink, Peer& peer, void* token, int error, uint64_t length, uint64_t data) {
    // The end of an access.
    { sink.accessed(peer, token, error) } -> std::same_as<void>;
    // A message came where place_directly said.
    { sink.placed(peer, token) } -> std::same_as<void>;
    // The peer's device wrote `length` bytes with remote CQ data.
    { sink.wrote(peer, length, data) } -> std::same_as<void>;
};

// Sinks that count, and do nothing else: a peer that goes down for a frame that is none, before it does; and, with
// ReportsConnections, a peer that has its connection.
template <typename S, typename Peer>
concept CountsMalformed = requires(S sink, Peer& peer) {
    { sink.malformed(peer) } -> std::same_as<void>;
};
template <typename S, typename Peer>
concept CountsConnections = requires(S sink, Peer& peer) {
    { sink.connected(peer) } -> std::same_as<void>;
};

// Sinks that know what they offered to be pulled, for a transport that helps the peer to copy it (PullsMemory).
template <typename S, typename Peer>
concept KnowsOffers = requires(S sink, Peer& peer, uint64_t address, uint64_t length) {
    // These bytes of this side's memory lie in the source of a transfer that the peer may pull now.
    { sink.is_offered(peer, address, length) } -> std::same_as<bool>;
    // There may be such a transfer.
    { sink.has_offers(peer) } -> std::same_as<bool>;
};

// Sinks that tell which long frames were a transfer by themselves, for a transport that measures (PullsMemory).
template <typename S, typename Peer>
concept CountsWhole = requires(S sink, Peer& peer, const Header& header) {
    { sink.came_whole(peer, header) } -> std::same_as<void>;
};

}  // namespace selvage::impl
