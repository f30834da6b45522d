// See lane.h.
#include "impl/transport/verbs/lane.h"

#include "impl/transport/net/sockets.h"
#include "impl/transport/verbs/exports.h"

namespace selvage::impl::verbs {
namespace {

constexpr uint32_t kPacketNumbers = 1 << 24;

}  // namespace

Lane::~Lane() {
    if (pair_) (void)device_.library->destroy_pair(pair_);
    for (; is_awaited(); ++placements_taken_) release_mr(placements_[placements_taken_ % kLaneMessages].range.token);
}

int Lane::query(ibv_qp_attr* out) const {
    constexpr int kWanted = IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_TIMEOUT |
                            IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MIN_RNR_TIMER;
    ibv_qp_init_attr ignored{};
    return device_.library->query_qp(connection_, out, kWanted, &ignored);
}

bool Lane::open(ibv_cq* completions, uint64_t ticket, uint64_t send_ticket) {
    ticket_ = ticket;
    send_ticket_ = send_ticket;
    net::fill_random(&first_packet_, sizeof first_packet_);
    first_packet_ %= kPacketNumbers;
    ibv_qp_attr beside{};
    if (query(&beside)) return false;
    ibv_qp_init_attr wanted{};
    wanted.send_cq = wanted.recv_cq = completions;
    wanted.qp_type = IBV_QPT_RC;
    wanted.cap.max_send_wr = wanted.cap.max_recv_wr = kLaneMessages;
    wanted.cap.max_send_sge = wanted.cap.max_recv_sge = 1;
    pair_ = device_.library->create_pair(device_.pd, &wanted);
    if (!pair_) return false;
    ibv_qp_attr initial{};
    initial.qp_state = IBV_QPS_INIT;
    initial.pkey_index = beside.pkey_index;
    initial.port_num = beside.port_num;
    return !device_.library->modify_pair(pair_, &initial,
                                         IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
}

bool Lane::connect(const LaneNumbers& theirs) {
    ibv_qp_attr beside{};
    if (query(&beside)) return false;
    ibv_qp_attr ready_to_receive{};
    ready_to_receive.qp_state = IBV_QPS_RTR;
    ready_to_receive.ah_attr = beside.ah_attr;
    ready_to_receive.path_mtu = beside.path_mtu;
    ready_to_receive.min_rnr_timer = beside.min_rnr_timer;
    ready_to_receive.dest_qp_num = theirs.pair;
    ready_to_receive.rq_psn = theirs.first_packet;
    if (device_.library->modify_pair(pair_, &ready_to_receive,
                                     IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                                         IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER)) {
        return false;
    }
    ibv_qp_attr sends{};
    sends.qp_state = IBV_QPS_RTS;
    sends.timeout = beside.timeout;
    sends.retry_cnt = beside.retry_cnt;
    sends.rnr_retry = beside.rnr_retry;
    sends.sq_psn = first_packet_;
    connected_ = !device_.library->modify_pair(
        pair_, &sends,
        IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC);
    return connected_;
}

bool Lane::place_directly(const LongRange& place, void* token) {
    placements_[placements_posted_++ % kLaneMessages] = {.range = place, .token = token};
    ibv_sge piece{.addr = place.address, .length = place.length, .lkey = place.key};
    ibv_recv_wr request{};
    request.wr_id = ticket_;
    request.sg_list = &piece;
    request.num_sge = 1;
    ibv_recv_wr* refused;
    return ibv_post_recv(pair_, &request, &refused) == 0;
}

bool Lane::placed(uint32_t length, void** token) {
    if (!is_awaited()) return false;
    const Entry& entry = placements_[placements_taken_++ % kLaneMessages];
    release_mr(entry.range.token);
    *token = entry.token;
    return length == entry.range.length;
}

bool Lane::accept(const LongRange& source, void* token) {
    if (accepted_ - posted_ == kLaneMessages) return false;
    sends_[accepted_++ % kSends] = {.range = source, .token = token};
    return true;
}

bool Lane::push() {
    for (; posted_ != accepted_ && posted_ - taken_ < kLaneMessages; ++posted_) {
        const LongRange& source = sends_[posted_ % kSends].range;
        ibv_sge piece{.addr = source.address, .length = source.length, .lkey = source.key};
        ibv_send_wr request{};
        request.wr_id = send_ticket_;
        request.sg_list = &piece;
        request.num_sge = 1;
        request.opcode = IBV_WR_SEND;
        request.send_flags = IBV_SEND_SIGNALED;
        ibv_send_wr* refused;
        if (ibv_post_send(pair_, &request, &refused)) return false;
    }
    return true;
}

}  // namespace selvage::impl::verbs
