// The loopback provider: FI_EP_RDM between endpoints of one process. The smallest transport there is, to read before
// one writes a transport (docs/recipes.md); the library has it only where it is built with SELVAGE_LOOPBACK.
//
// The transport of an endpoint is a mailbox, and a peer for each mailbox that it sends to or receives from. Nothing is
// held, pulled or done by a device. Everything is called with the endpoint's lock held (impl/engine/transport.h).
#pragma once

#include "impl/catalog/offer.h"
#include "impl/transport/loopback/mailbox.h"

namespace selvage::impl {

struct AvEntry;

class LoopbackTransport {
public:
    struct Peer : PeerBase {
        Peer* next = nullptr;
        loopback::MailboxRef box;
        int error = 0;                     // it goes down with the next progress
        bool down = false, waits = false;  // waits: for room
    };

    static constexpr size_t kFrameMax = 64 * 1024;
    static constexpr size_t kCopied = kFrameMax;  // nothing is ever held
    static constexpr size_t kEagerMax = 16 * 1024;
    static constexpr bool kPulls = false;
    static constexpr bool kNativeRma = false;
    static constexpr bool kDelivers = true;  // a parcel is in the receiver's hands

    LoopbackTransport() = default;
    ~LoopbackTransport() { close(); }
    LoopbackTransport(const LoopbackTransport&) = delete;
    LoopbackTransport& operator=(const LoopbackTransport&) = delete;

    int open(Endpoint& endpoint);
    void close();
    int find_peer(fi_addr_t to, Peer** out);
    bool address_of(const Peer& peer, AvEntry* out) const;
    SendResult send(Peer& peer, const Frame& frame);
    void drop(Peer& peer, int error) { peer.error = error; }
    template <typename S>
    unsigned progress(S& sink);
    bool arm();
    int wait_descriptor() const { return box_->descriptor(); }

private:
    Peer* peer_of(const loopback::MailboxRef& box);
    void say_farewell(const loopback::MailboxRef& to);

    Endpoint* endpoint_ = nullptr;
    loopback::MailboxRef box_;
    Peer* peers_ = nullptr;
};

template <typename S>
unsigned LoopbackTransport::progress(S& sink) {
    unsigned handled = 0;
    for (loopback::Parcel* parcel = box_->take(); parcel; ++handled) {
        Peer* peer = peer_of(parcel->from);
        if (peer && parcel->farewell && !peer->error) peer->error = FI_ECONNRESET;
        if (peer && !peer->error) sink.deliver(*peer, parcel->header, parcel->payload());
        parcel = loopback::Parcel::free(parcel);
    }
    for (Peer* peer = peers_; peer; peer = peer->next) {
        if (peer->down) continue;
        if (peer->error) {
            peer->down = true;
            say_farewell(peer->box);
            sink.down(*peer, peer->error);
            ++handled;
        } else if (peer->waits) {  // it may try again
            peer->waits = false;
            sink.room(*peer);
            ++handled;
        }
    }
    return handled;
}

extern const Provider kLoopbackProvider;

}  // namespace selvage::impl
