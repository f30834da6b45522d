// The loopback provider: its table, and what its transport does but for progress.
#include "impl/transport/loopback/loopback.h"

#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <new>

#include "impl/av/av.h"
#include "impl/catalog/engine_attrs.h"
#include "impl/endpoint/ep.h"
#include "impl/engine/engine.h"

namespace selvage::impl {
using namespace loopback;
namespace {

std::string_view key_of(const Domain& domain) {
    return {reinterpret_cast<const char*>(domain.auth_key), domain.attr.auth_key_size};
}

int discover(const Provider& self, TableBuilder& table) {
    Offer* offer = table.add();
    if (!offer) return -FI_ENOMEM;
    fill_engine_attrs(*offer, FI_EP_RDM, FI_LOCAL_COMM);
    offer->provider = &self;
    offer->kind = AddressKind::Shm;
    offer->loopback = true;
    offer->set.ep.protocol = FI_PROV_SPECIFIC | 0x5e10;
    offer->set.info.addr_format = FI_ADDR_STR;
    memcpy(offer->domain_name, "loopback", sizeof "loopback");
    memcpy(offer->fabric_name, "loopback", sizeof "loopback");
    return make_shm_text("", offer->source_text) ? 0 : -FI_EINVAL;
}

int choose_address(char (&text)[kShmTextMax]) {
    static std::atomic<unsigned> chosen{0};  // counted by whoever opens an endpoint; no order is asked of it
    char name[64];
    snprintf(name, sizeof name, "loopback-%d-%u", getpid(), chosen.fetch_add(1, std::memory_order_relaxed));
    return make_shm_text(name, text) ? 0 : -FI_EINVAL;
}

}  // namespace

const Provider kLoopbackProvider = {
    .name = "loopback",
    .version = kProviderVersion,
    .layered_name = nullptr,
    .discover = discover,
    .endpoint_types = type_bit(FI_EP_RDM),
    .discover_follows_interfaces = false,
    .start = start_engine<LoopbackTransport>,
    .choose_address = choose_address,
};

int LoopbackTransport::open(Endpoint& endpoint) {
    endpoint_ = &endpoint;
    return Mailbox::open(endpoint.shm_address, key_of(*endpoint.domain), &box_);
}

void LoopbackTransport::close() {
    if (!box_) return;
    for (Parcel* parcel = box_->close(); parcel;) {
        if (!parcel->farewell) say_farewell(parcel->from);
        parcel = Parcel::free(parcel);
    }
    while (Peer* peer = peers_) {
        if (!peer->down) say_farewell(peer->box);
        peers_ = peer->next;
        delete peer;
    }
    box_.reset();
}

int LoopbackTransport::find_peer(fi_addr_t to, Peer** out) {
    AvEntry entry;
    if (!endpoint_->av || !endpoint_->av->find_address(to, &entry)) return -FI_EINVAL;
    const MailboxRef box = Mailbox::find(entry.text, key_of(*endpoint_->domain));
    if (!box) return -FI_EHOSTUNREACH;
    *out = peer_of(box);
    return !*out ? -FI_ENOMEM : (*out)->error ? -FI_ECONNRESET : 0;
}

bool LoopbackTransport::address_of(const Peer& peer, AvEntry* out) const {
    memcpy(out->text, peer.box->name().c_str(), peer.box->name().size() + 1);  // it came from such a place
    return true;
}

SendResult LoopbackTransport::send(Peer& peer, const Frame& frame) {
    if (peer.down || peer.error) return SendResult::Down;
    Parcel* parcel = Parcel::make(box_, frame.header);
    peer.waits = !parcel;
    if (!parcel) return SendResult::Again;
    std::byte* to = parcel->payload();
    for (size_t i = 0; i < frame.count; ++i) {
        if (frame.payload[i].iov_len) memcpy(to, frame.payload[i].iov_base, frame.payload[i].iov_len);
        to += frame.payload[i].iov_len;
    }
    const SendResult result = peer.box->put(parcel);
    if (result != SendResult::Done) Parcel::free(parcel);
    if (result == SendResult::Down) peer.error = FI_ECONNRESET;
    peer.waits = result == SendResult::Again;
    return result;
}

bool LoopbackTransport::arm() {
    for (const Peer* peer = peers_; peer; peer = peer->next) {
        if (!peer->down && (peer->waits || peer->error)) return false;  // nobody would wake it for that
    }
    return box_->arm();
}

// The peer whose mailbox it is, made at its first frame in either direction; nullptr: no memory.
LoopbackTransport::Peer* LoopbackTransport::peer_of(const MailboxRef& box) {
    for (Peer* peer = peers_; peer; peer = peer->next) {
        if (peer->box == box) return peer;
    }
    Peer* peer = new (std::nothrow) Peer;
    if (!peer) return nullptr;
    peer->box = box;
    peer->next = peers_;
    peers_ = peer;
    return peer;
}

void LoopbackTransport::say_farewell(const MailboxRef& to) {
    Parcel* parcel = to == box_ ? nullptr : Parcel::make(box_, {});
    if (!parcel) return;
    parcel->farewell = true;
    if (to->put(parcel) != SendResult::Done) Parcel::free(parcel);
}

}  // namespace selvage::impl
