// See verbs_dgram_pair.h.
#include "impl/transport/verbs/verbs_dgram_pair.h"

#include <fcntl.h>
#include <sys/mman.h>

#include <algorithm>

#include "impl/engine/memory.h"
#include "impl/transport/verbs/nic.h"

namespace selvage::impl::verbs {
namespace {

constexpr size_t kLine = 64;
constexpr size_t kPage = 4096;

size_t round_up(size_t value, size_t unit) { return (value + unit - 1) / unit * unit; }

bool set_nonblocking(int descriptor) {
    const int flags = fcntl(descriptor, F_GETFL);
    return flags >= 0 && fcntl(descriptor, F_SETFL, flags | O_NONBLOCK) == 0;
}

}  // namespace

int DatagramPair::open(const Setup& setup) {
    device_ = setup.device;
    own_ = setup.own;
    sends_ = setup.sends;
    receive_count_ = setup.receives;
    request_.wr.ud.remote_qkey = kDatagramKey;
    int error = allocate();
    if (!error) error = create();
    if (!error) error = start();
    for (uint32_t i = 0; i < receive_count_ && !error; ++i) {
        if (!give_back(i)) error = -FI_EIO;
    }
    if (!error && !flush()) error = -FI_EIO;
    if (error) close();
    return error;
}

// Mapped, not from the heap, as the memory of connections is (link.cc).
int DatagramPair::allocate() {
    const RdmaLibrary& library = *device_->library;
    ibv_port_attr port;
    if (library.query_port(device_->context, device_->holder->port_num, &port)) return -FI_EIO;
    payload_max_ = mtu_bytes(port.active_mtu);
    if (!payload_max_) return -FI_ENODEV;
    send_bytes_ = round_up(payload_max_, kLine);
    receive_bytes_ = kLead + kRouteBytes + round_up(payload_max_, kLine);
    const size_t bytes = round_up(sends_ * send_bytes_ + receive_count_ * receive_bytes_, kPage);
    void* block = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block == MAP_FAILED) return -FI_ENOMEM;
    block_ = static_cast<std::byte*>(block);
    mapped_ = bytes;
    receives_ = block_ + sends_ * send_bytes_;
    memory_ = library.register_iova(device_->pd, block_, mapped_, reinterpret_cast<uintptr_t>(block_),
                                    IBV_ACCESS_LOCAL_WRITE);
    if (!memory_) return as_error(errno);
    piece_.lkey = memory_->lkey;
    request_.sg_list = &piece_;
    return 0;
}

int DatagramPair::create() {
    const RdmaLibrary& library = *device_->library;
    wakes_ = library.create_comp_channel(device_->context);
    if (!wakes_ || !set_nonblocking(wakes_->fd)) return as_error(errno);
    const auto entries = static_cast<int>(sends_ + receive_count_);
    if (entries > device_->limits.max_cqe) return -FI_ENOSPC;
    completions_ = library.create_cq(device_->context, entries, nullptr, wakes_, 0);
    if (!completions_) return as_error(errno);
    ibv_qp_init_attr wanted{};
    wanted.send_cq = wanted.recv_cq = completions_;
    wanted.qp_type = IBV_QPT_UD;
    wanted.sq_sig_all = 1;
    wanted.cap.max_send_wr = sends_;
    wanted.cap.max_recv_wr = receive_count_;
    wanted.cap.max_send_sge = wanted.cap.max_recv_sge = 1;
    for (const uint32_t inlined : {kDatagramInline, uint32_t{0}}) {
        wanted.cap.max_inline_data = inlined;
        ibv_qp_init_attr attempt = wanted;
        qp_ = library.create_pair(device_->pd, &attempt);
        if (!qp_) continue;
        inline_max_ = std::min(attempt.cap.max_inline_data, inlined);
        own_.queue_pair = qp_->qp_num;
        return 0;
    }
    return as_error(errno);
}

int DatagramPair::change(ibv_qp_state state, int mask) {
    ibv_qp_attr attr{};
    attr.qp_state = state;
    attr.pkey_index = 0;
    attr.port_num = device_->holder->port_num;
    attr.qkey = kDatagramKey;
    const int error = device_->library->modify_pair(qp_, &attr, IBV_QP_STATE | mask);
    return error ? as_error(error) : 0;
}

int DatagramPair::start() {
    int error = change(IBV_QPS_INIT, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY);
    if (!error) error = change(IBV_QPS_RTR, 0);
    return error ? error : change(IBV_QPS_RTS, IBV_QP_SQ_PSN);
}

bool DatagramPair::reset() {
    if (change(IBV_QPS_RESET, 0)) return false;
    // What the device has reported of the requests so far concerns nobody any more.
    ibv_wc dropped[kRepostMax];
    while (ibv_poll_cq(completions_, kRepostMax, dropped) > 0) continue;
    generation_ = (generation_ + 1) & (UINT32_MAX >> 1);
    tail_ = head_;
    used_count_ = 0;
    return start() == 0;
}

void DatagramPair::close() {
    if (!device_) return;
    const RdmaLibrary& library = *device_->library;
    if (qp_) (void)library.destroy_pair(qp_);
    if (completions_) (void)library.destroy_cq(completions_);
    if (wakes_) (void)library.destroy_comp_channel(wakes_);
    if (memory_) (void)library.dereg_mr(memory_);
    if (mapped_) munmap(block_, mapped_);
    qp_ = nullptr;
    completions_ = nullptr;
    wakes_ = nullptr;
    memory_ = nullptr;
    block_ = nullptr;
    mapped_ = 0;
    used_count_ = 0;
    device_ = nullptr;
}

// Into the send buffer of the next request.
const void* DatagramPair::copied(const iovec* ranges, size_t count, size_t size) {
    std::byte* buffer = block_ + next_place() * send_bytes_;
    gather(ranges, count, 0, buffer, size);
    return buffer;
}

bool DatagramPair::repost() {
    ibv_recv_wr requests[kRepostMax];
    ibv_sge pieces[kRepostMax];
    for (uint32_t i = 0; i < used_count_; ++i) {
        pieces[i] = {.addr = reinterpret_cast<uintptr_t>(buffer(used_[i])),
                     .length = static_cast<uint32_t>(receive_bytes_ - kLead),
                     .lkey = memory_->lkey};
        requests[i] = {
            .wr_id = DatagramTicket{.send = false, .number = used_[i], .generation = generation_}.pack(),
            .next = i + 1 < used_count_ ? &requests[i + 1] : nullptr,
            .sg_list = &pieces[i],
            .num_sge = 1,
        };
    }
    used_count_ = 0;
    ibv_recv_wr* refused;
    return ibv_post_recv(qp_, requests, &refused) == 0;
}

}  // namespace selvage::impl::verbs
