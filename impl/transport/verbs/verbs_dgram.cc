// See verbs_dgram.h: opening and closing, what the device tells, sleeping.
#include "impl/transport/verbs/verbs_dgram.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "impl/base/create.h"
#include "impl/transport/net/sockets.h"

namespace selvage::impl::verbs {
namespace {

// Nanoseconds between two looks at whether the device is still there.
constexpr int64_t kRemovalInterval = 10'000'000;
// Looks at the completion queue before a queue pair that failed starts again.
constexpr int kLastLooks = 1024;

template <typename Item>
bool allocate(Item** out, size_t count) {
    *out = static_cast<Item*>(calloc(count, sizeof(Item)));
    return *out;
}

bool watch(int epoll, int descriptor) {
    epoll_event event{};
    event.events = EPOLLIN;
    return epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event) == 0;
}

}  // namespace

DatagramPath::~DatagramPath() { release(); }

int DatagramPath::open(Endpoint& endpoint) {
    int error = open_common(endpoint);
    if (!error) error = open_queues(endpoint);
    if (!error) error = open_events(endpoint);
    if (error) return error;
    message_max_ = std::min(message_max_, pair_.payload_max());
    endpoint.address.kind = AddressKind::IbUd;
    endpoint.address.ib = pair_.address();
    return 0;
}

int DatagramPath::open_queues(Endpoint& endpoint) {
    const VerbsDomain& device = *VerbsDomain::of(*endpoint.domain);
    library_ = device.library;
    const uint8_t port = device.holder->port_num;
    ibv_port_attr attr;
    if (library_->query_port(device.context, port, &attr)) return -FI_EIO;
    IbAddress own{};
    memcpy(own.gid, endpoint.address.ib.gid, sizeof own.gid);
    uint8_t index;
    if (find_own_gid(*library_, device.context, port, attr, &own, &index)) return -FI_EADDRNOTAVAIL;
    handles_.open(*library_, device.pd, port, index);
    const uint32_t sends = places_for(endpoint.tx.size);
    buffers_ = places_for(receive_limit_);
    if (!allocate(&sent_, sends) || !allocate(&arrived_, buffers_)) return -FI_ENOMEM;
    return pair_.open({.device = &device, .own = own, .sends = sends, .receives = buffers_});
}

// An identifier of the connection manager, bound to the interface, gets the event of the end of its device.
int DatagramPath::open_events(const Endpoint& endpoint) {
    channel_ = library_->create_event_channel();
    if (!channel_) return as_error(errno);
    SocketAddress host = endpoint.domain->host;
    host.set_port(0);
    if (library_->create_id(channel_, &watcher_, nullptr, RDMA_PS_UDP)) return as_error(errno);
    if (library_->bind_addr(watcher_, &host.any)) return as_error(errno);
    const int flags = fcntl(channel_->fd, F_GETFL);
    if (flags < 0 || fcntl(channel_->fd, F_SETFL, flags | O_NONBLOCK)) return -errno;
    epoll_ = epoll_create1(EPOLL_CLOEXEC);
    if (epoll_ < 0 || !watch(epoll_, channel_->fd) || !watch(epoll_, pair_.wake_descriptor())) return -errno;
    return 0;
}

void DatagramPath::release() {
    pair_.close();
    handles_.close();  // after the queue pair, the requests of which name them
    if (watcher_) (void)library_->destroy_id(watcher_);
    if (channel_) library_->destroy_event_channel(channel_);
    if (epoll_ >= 0) ::close(epoll_);
    watcher_ = nullptr;
    channel_ = nullptr;
    epoll_ = -1;
    free(sent_);
    free(arrived_);
    sent_ = nullptr;
    arrived_ = nullptr;
}

// Datagrams that wait in the device leave before the queue pair ends, unless that takes long.
void DatagramPath::close() {
    reports_.detach(*endpoint_, this);
    const int64_t deadline = net::now_milliseconds() + kLinger;
    ibv_wc completions[kPoll];
    while (pair_.posted() != pair_.completed() && !gone_ && !broken_ && net::now_milliseconds() < deadline) {
        const int count = ibv_poll_cq(pair_.completions(), kPoll, completions);
        for (int i = 0; i < count; ++i) {
            const DatagramTicket ticket = DatagramTicket::unpack(completions[i].wr_id);
            if (!ticket.send || !pair_.is_current(ticket)) continue;
            broken_ |= completions[i].status != IBV_WC_SUCCESS;
            pair_.complete_oldest();
        }
        if (count <= 0) sched_yield();
    }
    destroy(this);
}

// Progress.

void DatagramPath::progress() {
    if (locked_ && !lock_.try_lock()) return;
    if (!gone_) {
        take_some();
        if (broken_) [[unlikely]]
            restart();
        if (++rounds_ % kRoundsPerLook == 0) [[unlikely]]
            look_for_removal();
        if (!pair_.flush()) [[unlikely]]
            broken_ = true;
    }
    unlock();
}

size_t DatagramPath::take_some() {
    const int kept = std::exchange(stash_count_, 0);
    for (int i = 0; i < kept; ++i) take(stash_[i]);
    ibv_wc completions[kPoll];
    const int count = ibv_poll_cq(pair_.completions(), kPoll, completions);
    for (int i = 0; i < count; ++i) take(completions[i]);
    return static_cast<size_t>(kept + std::max(count, 0));
}

void DatagramPath::take(const ibv_wc& completion) {
    const DatagramTicket ticket = DatagramTicket::unpack(completion.wr_id);
    if (!pair_.is_current(ticket)) [[unlikely]]
        return;
    const bool good = completion.status == IBV_WC_SUCCESS;
    if (!ticket.send) {
        if (good && ticket.number < buffers_) [[likely]] {
            take_arrival(completion, ticket.number);
        } else {
            broken_ = true;
        }
        return;
    }
    if (pair_.posted() == pair_.completed()) return;  // more completions than requests cannot be
    if (!good) [[unlikely]] {
        fail_oldest(FI_EIO);
        broken_ = true;
        return;
    }
    const Sent& sent = sent_[pair_.oldest_place()];
    pair_.complete_oldest();
    reports_.transmitted(sent.flags, FI_SEND | FI_MSG, kSlotSend, sent.context);
}

void DatagramPath::take_arrival(const ibv_wc& completion, uint32_t buffer) {
    // Shorter than its route header, or longer than its buffer, no datagram is.
    const size_t most = kRouteBytes + pair_.payload_max();
    if (completion.byte_len < kRouteBytes || completion.byte_len > most) [[unlikely]] {
        broken_ |= !pair_.give_back(buffer);
        return;
    }
    const Arrived datagram{.buffer = buffer,
                           .size = completion.byte_len - static_cast<uint32_t>(kRouteBytes),
                           .data = ntohl(completion.imm_data),
                           .queue_pair = completion.src_qp,
                           .local_id = completion.slid,
                           .has_data = (completion.wc_flags & IBV_WC_WITH_IMM) != 0,
                           .has_route = (completion.wc_flags & IBV_WC_GRH) != 0};
    if (first_receive_ == last_receive_ || first_arrived_ != last_arrived_) {
        arrived_[last_arrived_++ % buffers_] = datagram;
        return;
    }
    const Posted& receive = receive_at(first_receive_++);
    place(receive, datagram);
}

// Gives the buffer back.
void DatagramPath::place(const Posted& receive, const Arrived& datagram) {
    const std::byte* bytes = pair_.buffer(datagram.buffer) + kRouteBytes;
    const size_t placed = std::min<size_t>(datagram.size, receive.capacity);
    if (receive.count == 1) [[likely]] {
        if (placed) memcpy(receive.ranges[0].iov_base, bytes, placed);
    } else {
        scatter(receive.ranges, receive.count, 0, bytes, placed);
    }
    report_placed(receive, datagram, placed);
    if (!pair_.give_back(datagram.buffer)) [[unlikely]]
        broken_ = true;
}

fi_addr_t DatagramPath::source_of(const Arrived& datagram, AvEntry* out) const {
    IbAddress& source = out->socket.ib;
    const bool told = datagram.has_route && source_gid(pair_.buffer(datagram.buffer), pair_.address().gid, source.gid);
    if (!told) return FI_ADDR_NOTAVAIL;
    out->socket.kind = AddressKind::IbUd;
    source.queue_pair = datagram.queue_pair;
    source.local_id = datagram.local_id;
    source.partition_key = pair_.address().partition_key;
    return av_->reverse(*out);
}

void DatagramPath::report_placed(const Posted& receive, const Arrived& datagram, uint64_t placed) {
    const Taken taken{.size = datagram.size,
                      .placed = placed,
                      .flags = datagram.has_data ? FI_REMOTE_CQ_DATA : 0,
                      .data = datagram.has_data ? datagram.data : 0};
    if (!sources_) return report(receive, taken);
    AvEntry source;
    const fi_addr_t address = source_of(datagram, &source);
    report_from(receive, taken, source, address);
}

// Failures.

void DatagramPath::fail_oldest(int error) {
    const Sent& sent = sent_[pair_.oldest_place()];
    pair_.complete_oldest();
    reports_.transmit_failed(FI_SEND | FI_MSG, kSlotSend, sent.context, error);
}

void DatagramPath::fail_all(int error) {
    gone_ = true;
    while (pair_.posted() != pair_.completed()) fail_oldest(error);
    fail_receives(error);
}

// The device stopped the queue pair over one request. What it has reported till then is taken first.
void DatagramPath::restart() {
    for (int i = 0; i < kLastLooks && take_some(); ++i) continue;
    broken_ = false;
    while (pair_.posted() != pair_.completed()) fail_oldest(FI_EIO);
    const bool works = pair_.revive([this](uint32_t buffer) {
        for (uint32_t i = first_arrived_; i != last_arrived_; ++i) {
            if (arrived_[i % buffers_].buffer == buffer) return true;
        }
        return false;
    });
    look_for_removal();
    if (!works && !gone_) fail_all(FI_EIO);
}

void DatagramPath::look_for_removal() {
    const int64_t now = net::now_nanoseconds();
    if (now - last_look_ < kRemovalInterval) return;
    last_look_ = now;
    rdma_cm_event* event;
    while (!gone_ && library_->get_cm_event(channel_, &event) == 0) {
        const bool removed = event->event == RDMA_CM_EVENT_DEVICE_REMOVAL;
        (void)library_->ack_cm_event(event);
        if (removed) fail_all(FI_ENODEV);
    }
}

// Sleeping.

bool DatagramPath::arm() {
    Guard guard(*this);
    if (gone_) return true;
    if (broken_ || stash_count_) return false;
    ibv_cq* queue;
    void* context;
    while (library_->get_cq_event(pair_.completions()->channel, &queue, &context) == 0) {
        library_->ack_cq_events(queue, 1);
    }
    if (!pair_.flush() || ibv_req_notify_cq(pair_.completions(), 0)) {
        broken_ = true;
        return false;
    }
    // What came before the request is not reported.
    stash_count_ = std::max(ibv_poll_cq(pair_.completions(), kPoll, stash_), 0);
    // Whoever wakes looks for the end of the device, too.
    rounds_ = kRoundsPerLook - 1;
    last_look_ = 0;
    return !stash_count_;
}

}  // namespace selvage::impl::verbs
