// See long_frame.h: the sender's end of frames that come in pieces.
#include "impl/transport/shm/shm_transport.h"

namespace selvage::impl {

SendResult ShmTransport::send_long(Peer& peer, const Frame& frame) {
    const SendResult room = make_room(peer, kRoomLines);
    if (room != SendResult::Done) return room;
    peer.long_out.begin(frame);
    peer.out.publish_as(frame.header.size, frame.header, 0, nullptr, 0);
    return send_pieces(peer) ? SendResult::Done : SendResult::Held;
}

SendResult ShmTransport::send_split(Peer& peer, const Header& header, const void* payload) {
    const uint32_t size = header.size, half = shm::split_half(size);
    const auto* const bytes = static_cast<const std::byte*>(payload);
    peer.out.publish_as(size | shm::kSplitBit, header, 0, nullptr, 0);
    for (const iovec& piece : {range_of(bytes, half), range_of(bytes + half, size - half)}) {
        const auto length = static_cast<uint32_t>(piece.iov_len);
        peer.out.publish_as(length | shm::kPieceBit, {}, length, &piece, 1);
    }
    was_published(peer);
    return SendResult::Done;
}

bool ShmTransport::send_pieces(Peer& peer) {
    shm::LongOutbound& frame = peer.long_out;
    const bool valid = peer.out.refresh();
    while (valid && frame.offset < frame.size) {
        const uint32_t size = std::min<uint32_t>(frame.size - frame.offset, kFrameMax);
        if (!peer.out.has_room(shm::lines_of(size)) && !(peer.out.refresh() && peer.out.has_room(shm::lines_of(size))))
            break;
        iovec piece[kRangesMax];
        const size_t count = slice(frame.payload, frame.count, frame.offset, size, piece);
        peer.out.publish_as(size | shm::kPieceBit, {}, size, piece, count);
        frame.offset += size;
    }
    was_published(peer);
    frame.active = frame.offset < frame.size;
    if (!frame.active) return true;
    peer.out.leave_no_room();
    if (valid) {
        wait_for_room(peer);
    } else {
        mark_failed(peer, FI_ECONNABORTED, true);
    }
    return false;
}

}  // namespace selvage::impl
