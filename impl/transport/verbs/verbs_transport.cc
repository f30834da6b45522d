// See verbs_transport.h: opening and closing, peers, sleeping.
#include "impl/transport/verbs/verbs_transport.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>

#include "impl/base/create.h"

namespace selvage::impl {

using verbs::as_error;

namespace {

constexpr int kBacklog = 1024;

bool set_nonblocking(int descriptor) {
    const int flags = fcntl(descriptor, F_GETFL);
    return flags >= 0 && fcntl(descriptor, F_SETFL, flags | O_NONBLOCK) == 0;
}

int watch(int epoll, int descriptor, uint32_t events) {
    epoll_event event{};
    event.events = events;
    return epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event) ? -errno : 0;
}

}  // namespace

int VerbsTransport::open_queues(const Setup& setup) {
    device_ = setup.device;
    address_ = setup.address;
    key_ = setup.key;
    features_ = setup.features;
    fenced_ = setup.fenced;
    want_look_ = true;
    net::fill_random(&instance_, sizeof instance_);
    const verbs::RdmaLibrary& library = *device_->library;
    epoll_ = epoll_create1(EPOLL_CLOEXEC);
    if (epoll_ < 0) return -errno;
    channel_ = library.create_event_channel();
    wakes_ = channel_ ? library.create_comp_channel(device_->context) : nullptr;
    completions_ = wakes_ ? library.create_cq(device_->context, std::min(verbs::kCompletions, device_->limits.max_cqe),
                                              nullptr, wakes_, 0)
                          : nullptr;
    if (!completions_) return as_error(errno);
    if (!set_nonblocking(channel_->fd) || !set_nonblocking(wakes_->fd)) return -errno;
    const int error = watch(epoll_, channel_->fd, EPOLLIN);
    return error ? error : watch(epoll_, wakes_->fd, EPOLLIN);
}

int VerbsTransport::open_listener() {
    const verbs::RdmaLibrary& library = *device_->library;
    if (library.create_id(channel_, &listener_, nullptr, RDMA_PS_TCP)) return as_error(errno);
    if (library.bind_addr(listener_, &address_.any) || library.listen(listener_, kBacklog)) return as_error(errno);
    address_.set_port(ntohs(library.get_src_port(listener_)));
    return listener_->verbs == device_->context ? 0 : -FI_ENODEV;
}

int VerbsTransport::open_datagram(const Setup& setup) {
    int error = open_queues(setup);
    if (!error) error = open_listener();
    if (error) close();
    return error;
}

int VerbsTransport::open_connected(const Setup& setup) {
    const int error = open_queues(setup);
    connected_ = true;
    if (error) close();
    return error;
}

void VerbsTransport::close() {
    if (!device_) return;
    const verbs::RdmaLibrary& library = *device_->library;
    if (completions_) linger();
    while (calls_) forget_call(calls_);
    if (listener_) (void)library.destroy_id(listener_);
    if (completions_) (void)library.destroy_cq(completions_);
    if (wakes_) (void)library.destroy_comp_channel(wakes_);
    if (channel_) library.destroy_event_channel(channel_);
    for (int* descriptor : {&epoll_, &timer_}) {
        if (*descriptor >= 0) ::close(*descriptor);
        *descriptor = -1;
    }
    peers_.clear();
    if (self_) destroy(self_);
    free(slots_);
    slots_ = nullptr;
    slot_count_ = 0;
    listener_ = nullptr;
    completions_ = nullptr;
    wakes_ = nullptr;
    channel_ = nullptr;
    broken_ = fallen_ = waiting_ = chained_ = dialing_ = only_ = self_ = nullptr;
    pending_count_ = 0;
    stash_count_ = 0;
    any_dead_ = gone_ = connected_ = false;
    events_ = nullptr;
    av_ = nullptr;
    device_ = nullptr;
}

// Completions of sends alone: what arrives now has nobody to go to.
void VerbsTransport::collect_sent() {
    ibv_wc completions[verbs::kPoll];
    const int count = ibv_poll_cq(completions_, verbs::kPoll, completions);
    for (int i = 0; i < count; ++i) {
        const verbs::Ticket ticket = verbs::Ticket::unpack(completions[i].wr_id);
        Call* call = call_of(ticket);
        if (!call) continue;
        if (completions[i].status != IBV_WC_SUCCESS) {
            call->stage = Call::Stage::Dead;
        } else if (ticket.number & verbs::Ticket::kOfLane) {
            if (!ticket.send || !call->lane || call->lane->idle()) continue;
            (void)call->lane->sent();
            if (!call->lane->push()) call->stage = Call::Stage::Dead;
        } else if (ticket.send) {
            call->link.completed(ticket.number, true, [](void*) {});
        }
    }
}

// Frames that were reported as sent arrive before the connections end, as far as the peers take them in time. An end
// that the other has left waits for nothing: the device would try again and again.
void VerbsTransport::linger() {
    events_ = nullptr;
    const int64_t deadline = net::now_milliseconds() + verbs::kLinger;
    const auto busy = [](Call& call) {
        const bool talks = call.stage == Call::Stage::Up || call.stage == Call::Stage::Leaving;
        const bool left = call.peer && call.peer->broken;
        return talks && !left && call.link.flush() && call.link.signal_all() && !call.idle();
    };
    while (true) {
        while (take_event()) continue;
        bool any = false;
        for (Call* call = calls_; call; call = call->next) any |= busy(*call);
        if (!any || gone_ || net::now_milliseconds() > deadline) break;
        collect_sent();
        sched_yield();
    }
    for (Call* call = calls_; call; call = call->next) {
        if (call->stage == Call::Stage::Up) (void)device_->library->disconnect(call->id);
    }
}

bool VerbsTransport::is_self(const SocketAddress& address) const {
    return listener_ && net::same_address(address, address_);
}

int VerbsTransport::peer_at(const SocketAddress& address, Peer** out) {
    Peer* peer = peers_.find(address);
    if (!peer) peer = peers_.add(address);
    if (!peer) return -FI_ENOMEM;
    *out = peer;
    if (peer->phase != Peer::Phase::Down) return 0;
    const int error = dial(*peer);
    if (!error) return 0;
    let_fall(*peer);
    *out = nullptr;
    return error;
}

// Calls.

// The completion queue must never overflow: every request of every call may be in it, if they fail together.
int VerbsTransport::make_room(size_t calls, size_t lanes) {
    constexpr size_t kMost = 1 << 16;
    const int needed = static_cast<int>(std::min(calls, kMost)) * verbs::Link::kMostCompletions +
                       static_cast<int>(std::min(lanes, kMost)) * verbs::Lane::kMostCompletions;
    if (needed <= completions_->cqe) return 0;
    const int most = device_->limits.max_cqe;
    if (needed > most) return -FI_ENOSPC;
    const int error =
        device_->library->resize_cq(completions_, std::min(most, std::max(needed, 2 * completions_->cqe)));
    return error ? as_error(error) : 0;
}

int VerbsTransport::new_call(Call** out) {
    const int error = make_room(call_count_ + 1, lane_count_);
    if (error) return error;
    uint32_t index = 0;
    while (index < slot_count_ && slots_[index]) ++index;
    if (index > UINT16_MAX) return -FI_ENOSPC;
    if (index == slot_count_) {
        const uint32_t count = slot_count_ ? 2 * slot_count_ : 16;
        auto** grown = static_cast<Call**>(realloc(slots_, count * sizeof *slots_));
        if (!grown) return -FI_ENOMEM;
        std::fill(grown + slot_count_, grown + count, nullptr);
        slots_ = grown;
        slot_count_ = count;
    }
    void* block = malloc(sizeof(Call));
    if (!block) return -FI_ENOMEM;
    auto* call = new (block) Call(*device_, static_cast<uint16_t>(index), ++generation_);
    call->link.set_fenced(fenced_);
    slots_[index] = call;
    call->next = calls_;
    call->at = &calls_;
    if (calls_) calls_->at = &call->next;
    calls_ = call;
    ++call_count_;
    *out = call;
    return 0;
}

void VerbsTransport::forget_call(Call* call) {
    if (call->peer && call->peer->call == call) call->peer->call = nullptr;
    if (due_ == call) due_ = nullptr;
    close_lane(*call);
    call->link.close();
    if (call->id) (void)device_->library->destroy_id(call->id);
    slots_[call->link.index()] = nullptr;
    *call->at = call->next;
    if (call->next) call->next->at = call->at;
    --call_count_;
    destroy(call);
}

// Calls are not destroyed where that turns out, as whoever called may still look at them.
void VerbsTransport::kill(Call& call) {
    if (call.stage == Call::Stage::Proof && !call.peer) --pending_count_;
    if (call.peer && call.peer->call == &call) call.peer->call = nullptr;
    call.peer = nullptr;
    call.stage = Call::Stage::Dead;
    close_lane(call);  // its messages go to memory that the application will have back
    any_dead_ = true;
}

void VerbsTransport::reap_failed() {
    any_dead_ = false;
    for (Call* call = calls_; call;) {
        Call* next = call->next;
        if (call->stage == Call::Stage::Dead) forget_call(call);
        call = next;
    }
    want_look_ = true;
}

void VerbsTransport::detach_call(Peer& peer) {
    if (peer.call) kill(*peer.call);
}

// Peers.

void VerbsTransport::mark_broken(Peer& peer, int error) {
    if (peer.broken || peer.phase == Peer::Phase::Down) return;
    peer.broken = true;
    peer.error = error;
    peer.next_broken = broken_;
    broken_ = &peer;
}

// A peer is down, and may be discarded if it stays so.
void VerbsTransport::let_fall(Peer& peer) {
    if (connected_ || &peer == self_ || peer.fallen) return;
    peer.fallen = true;
    peer.next_fallen = fallen_;
    fallen_ = &peer;
    want_look_ = true;
}

// With no peer in hand. Those that came up again go on; those that a list still has wait for a later look.
void VerbsTransport::discard_fallen() {
    for (Peer** at = &fallen_; Peer* peer = *at;) {
        const bool idle = peer->idle();
        if (!idle && peer->phase == Peer::Phase::Down) {
            at = &peer->next_fallen;
            continue;
        }
        *at = peer->next_fallen;
        peer->fallen = false;
        if (idle) peers_.remove(*peer);
    }
}

void VerbsTransport::drop(Peer& peer, int error) {
    if (peer.phase == Peer::Phase::Down) return;
    mark_broken(peer, error);
    peer.dropped = true;
}

void VerbsTransport::await_room(Peer& peer) {
    if (peer.wants_room) return;
    peer.wants_room = true;
    peer.next_waiting = waiting_;
    waiting_ = &peer;
}

SendResult VerbsTransport::send_unready(Peer& peer) {
    if (peer.phase == Peer::Phase::Down || peer.broken) return SendResult::Down;
    if (peer.phase == Peer::Phase::Up && !peer.call->link.flush()) {
        mark_broken(peer, FI_EIO);
        return SendResult::Down;
    }
    await_room(peer);
    return SendResult::Again;
}

AccessResult VerbsTransport::access(Peer& peer, const DeviceAccess& access) {
    if (peer.phase != Peer::Phase::Up || peer.broken) {
        return send_unready(peer) == SendResult::Again ? AccessResult::Again : AccessResult::Down;
    }
    verbs::Link& link = peer.call->link;
    if (!link.access_room() || (access.has_data && !link.credits())) {
        return send_unready(peer) == SendResult::Again ? AccessResult::Again : AccessResult::Down;
    }
    bool failed;
    if (!link.access(access, &failed)) return AccessResult::Impossible;
    if (!failed) return AccessResult::Posted;
    mark_broken(peer, FI_EIO);
    return AccessResult::Down;
}

void VerbsTransport::send_credits(Call& call) {
    if (call.stage == Call::Stage::Up && !call.link.send_credits_now() && call.peer) mark_broken(*call.peer, FI_EIO);
}

void VerbsTransport::repost(Call& call) {
    if (due_ == &call) due_ = nullptr;
    if (!call.link.is_open()) return;
    if (!call.link.repost() && call.peer) mark_broken(*call.peer, FI_EIO);
    send_credits_now(call);
}

void VerbsTransport::flush_chains() {
    while (Peer* peer = chained_) {
        chained_ = peer->next_chained;
        peer->chained = false;
        if (peer->phase == Peer::Phase::Up && peer->call && !peer->call->link.flush()) mark_broken(*peer, FI_EIO);
    }
}

// Sleeping.

bool VerbsTransport::arm() {
    if (chained_) flush_chains();
    if (due_) repost(*due_);
    if (broken_ || any_dead_ || stash_count_) return false;
    const verbs::RdmaLibrary& library = *device_->library;
    ibv_cq* queue;
    void* context;
    while (library.get_cq_event(wakes_, &queue, &context) == 0) library.ack_cq_events(queue, 1);
    if (ibv_req_notify_cq(completions_, 0)) return gone_;
    // What came before the request is not reported.
    const int count = ibv_poll_cq(completions_, verbs::kPoll, stash_);
    stash_count_ = std::max(count, 0);
    // Whoever wakes looks at connections, too.
    rounds_ = verbs::kRoundsPerLook - 1;
    last_look_ = 0;
    return !stash_count_ && set_timer();
}

// Wakes a sleeper for what is due without anything arriving.
bool VerbsTransport::set_timer() {
    constexpr int64_t kTick = 20'000'000;
    // With nothing but a listener, only events matter.
    if (!dialing_ && (!want_look_ || call_count_ == 0)) return true;
    if (timer_ < 0) {
        timer_ = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
        if (timer_ < 0 || watch(epoll_, timer_, EPOLLIN | EPOLLET)) return false;
    }
    itimerspec when{};
    when.it_value = {.tv_sec = 0, .tv_nsec = kTick};
    return timerfd_settime(timer_, 0, &when, nullptr) == 0;
}

}  // namespace selvage::impl
