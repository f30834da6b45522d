// See verbs_transport.h: long messages.
#include "impl/base/create.h"
#include "impl/transport/verbs/exports.h"
#include "impl/transport/verbs/verbs_transport.h"

namespace selvage::impl {

using verbs::Lane;
using verbs::Ticket;

bool VerbsTransport::find_source(const iovec& source, const MemoryRegion* region, LongRange* out) const {
    if (source.iov_len >= verbs::kLongExported) return verbs::export_range(*device_, source, region, out);
    return source.iov_len >= verbs::kLongNamed && verbs::find_local(*device_, source, region, false, out);
}

void VerbsTransport::release_mr(void* token) { verbs::release_mr(token); }

// The lane of a connection, made if there is none yet. nullptr: the device gives none.
Lane* VerbsTransport::lane_of(Call& call) {
    if (call.lane || call.laneless) return call.lane;
    call.laneless = true;
    if (make_room(call_count_, lane_count_ + 1)) return nullptr;
    void* block = malloc(sizeof(Lane));
    if (!block) return nullptr;
    auto* lane = new (block) Lane(*device_, call.link.pair());
    Ticket ticket{
        .send = false, .number = Ticket::kOfLane, .link = call.link.index(), .generation = call.link.generation()};
    const uint64_t of_receives = ticket.pack();
    ticket.send = true;
    if (!lane->open(completions_, of_receives, ticket.pack())) {
        destroy(lane);
        return nullptr;
    }
    call.laneless = false;
    call.lane = lane;
    ++lane_count_;
    return lane;
}

void VerbsTransport::close_lane(Call& call) {
    if (!call.lane) return;
    destroy(call.lane);
    call.lane = nullptr;
    --lane_count_;
}

// False: later perhaps.
bool VerbsTransport::tell_lane(Peer& peer) {
    Call& call = *peer.call;
    if (call.lane->announced) return true;
    if (!call.link.room()) return false;
    const verbs::LaneNumbers numbers = call.lane->numbers();
    call.lane->announced = call.link.send_note(&numbers, sizeof numbers, verbs::Word::Lane);
    if (!call.lane->announced) mark_broken(peer, FI_EIO);
    return call.lane->announced;
}

void VerbsTransport::announce(Peer& peer) {
    if (peer.phase != Peer::Phase::Up || peer.broken) return;
    if (lane_of(*peer.call)) (void)tell_lane(peer);
}

void VerbsTransport::on_lane(Call& call, const std::byte* bytes, size_t size) {
    if (!call.peer) return kill(call);  // before proof
    if (!call.peer->is_up()) return;
    verbs::LaneNumbers theirs;
    if (size != sizeof theirs || (call.lane && call.lane->is_connected())) return drop(*call.peer, FI_ECONNABORTED);
    memcpy(&theirs, bytes, sizeof theirs);
    Lane* lane = lane_of(call);
    if (!lane || lane->connect(theirs)) return;
    // There are devices whose pairs are connected in other ways. The other end may have been notified, and fails alike.
    if (lane->announced) return;
    close_lane(call);
    call.laneless = true;
}

bool VerbsTransport::place_directly(Peer& peer, const iovec& place, const MemoryRegion* region, void* token) {
    Lane* lane = peer.phase == Peer::Phase::Up && !peer.broken ? peer.call->lane : nullptr;
    if (!lane || !lane->is_connected() || !tell_lane(peer)) return false;
    LongRange range;
    if (!verbs::find_local(*device_, place, region, true, &range)) return false;
    if (!lane->has_room()) {
        verbs::release_mr(range.token);
        return false;
    }
    if (!lane->place_directly(range, token)) mark_broken(peer, FI_EIO);
    return true;
}

bool VerbsTransport::send_long(Peer& peer, const LongRange& source, void* token) {
    if (peer.phase != Peer::Phase::Up || peer.broken) return true;  // it ends with the peer
    Lane* lane = peer.call->lane;
    if (!lane || !lane->is_connected() || !lane->accept(source, token)) return false;
    if (!lane->push()) mark_broken(peer, FI_EIO);
    return true;
}

}  // namespace selvage::impl
