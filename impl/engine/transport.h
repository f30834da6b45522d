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
//   pull (kPulls): a peer's memory
#ifndef SELVAGE_IMPL_ENGINE_TRANSPORT_H
#define SELVAGE_IMPL_ENGINE_TRANSPORT_H

#include <concepts>

#include "impl/base/rdma.h"
#include "impl/engine/frame.h"
#include "impl/engine/window.h"

namespace selvage::impl {

struct Endpoint;
struct MemoryRegion;

enum class SendResult : uint8_t {
    kDone,   // the payload was copied; its memory is the caller's again
    kHeld,   // the payload is read later; Sink::sent says when it is no longer needed. Order is kept all the same.
    kAgain,  // no room, nothing was sent; Sink::room follows
    kDown,   // there is no such peer any more (Sink::down was or will be called for it)
};

// A frame to be sent. `header.size` is the sum of the lengths. `more`: another frame to the same peer follows at once
// (FI_MORE, or the next segment), so that a transport may wait with its system call or doorbell; the last has it false.
struct Frame {
    const Header& header;
    const iovec* payload;
    size_t count;
    void* token;  // comes back in Sink::sent if the frame was held
    bool more;
};

// A read, write or atomic that the device does by itself (kNativeRma).
struct DeviceAccess {
    // kFetch: a read of an announced message, which later operations do not wait for.
    enum class Kind : uint8_t { kWrite, kRead, kAdd, kCompareSwap, kFetch };
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
    kPosted,      // Sink::accessed follows, or Sink::down
    kAgain,       // no room, nothing was done; Sink::room follows
    kDown,        // as SendResult::kDown
    kImpossible,  // the device cannot do this one; nothing was done
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
    void regain(int units) { ahead = static_cast<uint16_t>(ahead + units); }
    void set_busy(bool busy) { ahead = static_cast<uint16_t>(units_left() | (busy ? kBusy : 0)); }
};

template <typename T>
concept Transport = requires(T transport, typename T::Peer& peer, const Frame& frame, Endpoint& endpoint, fi_addr_t to,
                             typename T::Peer** out) {
    requires std::derived_from<typename T::Peer, PeerBase>;
    // Bytes of payload up to which send never answers kHeld.
    { T::kCopied } -> std::convertible_to<size_t>;
    // The largest payload of one frame.
    { T::kFrameMax } -> std::convertible_to<size_t>;
    // Messages longer than this are announced and fetched (rendezvous), shorter ones are sent at once (eager).
    { T::kEagerMax } -> std::convertible_to<size_t>;
    // The receiver reads the sender's memory itself (one copy). Then there are
    //   bool offers(Peer&, size_t length): this side's memory is to be read by the peer for a transfer of that length
    //   bool can_pull(const Peer&): this side can read
    //   int pull(Peer&, const iovec* remote, size_t, const iovec* local, size_t): 0 or -errno; `remote` is the peer's
    //     claim and is read as data, never followed here.
    //   void came_pulled(Peer&, size_t length), came_in_parts(Peer&, size_t length): a transfer was read, or was not.
    // and for memory that is granted to the peer's reads
    //   uint64_t grant_epoch(): of what is granted now
    //   void revoke_grants(): nothing that was granted before counts any more, before the caller's next store
    //   bool still_granted(Peer&, uint64_t epoch): what the peer granted at that epoch was not revoked before the last
    //     byte was pulled
    //   uint64_t frames_sent(const Peer&): changes with every frame that is sent to the peer
    { T::kPulls } -> std::convertible_to<bool>;
    // The device can read and write a peer's memory by itself (verbs). Then there are
    //   bool reaches(const Peer&, uint64_t key, bool atomic): whether it may be asked for memory under this key
    //   AccessResult access(Peer&, const DeviceAccess&): in order with frames, also with those that come later. Reads
    //     have come back before what follows them begins, where the endpoint's order asks for it.
    //   bool find_source(const iovec&, const MemoryRegion*, LongRange*): the source of a long message is there for
    //     peers (LongRange::exported) or for send_long() from now on, until static release_mr(token). False: it is not
    //     worth while, or not possible. The region, or nullptr, is the one that the application named for it.
    //   void announce(Peer&): before a message is announced for send_long().
    //   bool place_directly(Peer&, const iovec&, const MemoryRegion*, void* token): of the messages for send_long(),
    //   the one that
    //     is asked for next may come there; Sink::placed(peer, token) says that it has. False: not this one.
    //   bool send_long(Peer&, const LongRange&, void* token): the peer has asked for it; Sink::sent(peer, token) says
    //     that it is there, and the source no longer needed. They go in the order in which they are asked for. False:
    //     the peer cannot have asked.
    { T::kNativeRma } -> std::convertible_to<bool>;

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
    // Optional, each found by its name:
    //   void copy_sources(const iovec* ranges, size_t count): frames without a token that are held and lie in these
    //   ranges
    //     get a copy of their payload; the ranges are not read any more. A peer for which there is no memory goes down.
    //   void discard_placement(Peer&): of the frame that is being placed nothing more is stored; Sink::end comes as
    //   usual. static constexpr bool kDelivers: what send answers kDone for has reached the peer's memory (shared
    //   memory), so
    //     that FI_TRANSMIT_COMPLETE needs no answer of the peer. Absent: false.
    //   bool address_of(Peer&, AvEntry*): the address that the peer sends from, as one for the address vector; false
    //     when it is not known (yet). For FI_SOURCE, FI_SOURCE_ERR, FI_DIRECTED_RECV.
    //   void drop(Peer&, int error): the peer broke the protocol. May come while a frame of that peer is delivered:
    //     nothing further of it is delivered, and Sink::down(peer, error) follows from progress.
    //   bool is_connected(const Peer&): the transport knows, and calls Sink::connected when a peer gets its connection
    //   other than by find_peer.
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
    // Counted, nothing else: malformed(peer), before it goes down for a frame that is none; connected(peer) (see
    // above). With kNativeRma also accessed(peer, token, error), placed(peer, token), and wrote(peer, length, data):
    // the peer's device wrote `length` bytes with remote CQ data.
};

}  // namespace selvage::impl

#endif
