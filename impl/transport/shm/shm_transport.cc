// See shm_transport.h: what happens once per peer, or rarely.
#include "impl/transport/shm/shm_transport.h"

#include <sys/mman.h>
#include <time.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "impl/config/log.h"
#include "impl/endpoint/ep.h"
#include "impl/stat/stat_file.h"
#include "impl/transport/shm/forked.h"
#include "impl/transport/shm/settings.h"

namespace selvage::impl {

using shm::SlotControl;

namespace {

constexpr uint64_t kLookMs = 5;            // between two looks at some of the peers
constexpr size_t kLooksPerRound = 8;       // in which every peer is looked at once, if they are not very many
constexpr size_t kPeersPerLook = 64;       // at most, but for those who slept: each takes some 0.3 us
constexpr uint64_t kStartGraceMs = 1000;   // a peer may come up, or room for it, later than the first message to it
constexpr uint64_t kBusyGraceMs = 30000;   // many may want a slot of the same peer, and lose their processor meanwhile
constexpr size_t kDownKept = 16;           // peers that are down and whose memory is not used again
constexpr uint64_t kSweepMs = 1000;        // between two searches for what the dead have left
constexpr unsigned kSleepMs = 100;         // a sleeper with peers wakes to see whether they live
constexpr unsigned kLonelySleepMs = 1000;  // one without, to see whether the first could not wake it
constexpr unsigned kShortSleepMs = 1;  // one that waits for room, or may miss the bell, to see whether there is some

uint64_t now_ms() {
    timespec now;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return static_cast<uint64_t>(now.tv_sec) * 1000 + static_cast<uint64_t>(now.tv_nsec) / 1000000;
}

void destroy_peer(ShmPeer* peer) {
    peer->~ShmPeer();
    free(peer);
}

// Clears away what the dead have left, unless that was just done. A process that lives long opens its later endpoints
// after others have died.
void sweep_now_and_then() {
    static std::atomic<uint64_t> swept{0};  // milliseconds. Relaxed: a guess, and two sweeps at once do no harm
    const uint64_t now = now_ms();
    const uint64_t last = swept.load(std::memory_order_relaxed);
    if (last && now - last < kSweepMs) return;
    swept.store(now, std::memory_order_relaxed);
    shm::sweep_stale_regions();
}

}  // namespace

int ShmTransport::open_at(const char (&text)[kShmTextMax], shm::Bytes key) {
    sweep_now_and_then();
    generation_ = shm::fork_generation();
    fences_ = !shm::fenced_by_others();
    pulls_ = shm::may_pull();
    shares_ = shm::may_share();
    by_slot_ = static_cast<Peer**>(calloc(shm::kSlots, sizeof *by_slot_));
    if (!by_slot_) return -FI_ENOMEM;
    memcpy(self_.text, text, sizeof self_.text);
    self_.key = key;
    const int error = region_.create(&self_, !shm::can_fence_others());
    if (error) {
        close();
        return error;
    }
    // For the first to come, whose first message waits while a slot is mapped. Without memory for it: as for others.
    first_slot_ = region_.prepare_slot(0);
    // Without descriptors for it, everything goes through the rings.
    if (pulls_) introductions_.open(self_.instance);
    return 0;
}

void ShmTransport::close() {
    // Whoever reads our memory sees that it is no longer meant for it (shm_pull.cc).
    explicit_bzero(self_.instance, sizeof self_.instance);
    const bool ours = generation_ == shm::fork_generation();
    while (peer_count_) ours ? release(*peers_[0]) : set_aside(*peers_[0]);
    while (down_) destroy_peer(take_oldest_down());
    // In a child of fork() it is not mapped (MADV_DONTFORK).
    if (first_slot_ && ours) shm::unmap_slot(first_slot_);
    first_slot_ = nullptr;
    if (ours) {
        // Before the region, by which others would find what is left of them.
        bell_.close();
        introductions_.close();
        region_.remove();
    } else {
        bell_.forget();
        introductions_.forget();
        region_.forget();
    }
    free(peers_);
    free(hot_);
    free(by_slot_);
    peers_ = hot_ = by_slot_ = nullptr;
    peer_count_ = peer_capacity_ = hot_count_ = 0;
    accepted_end_ = 0;
    reap_the_rest();
    unreaped_count_ = 0;
    waiting_for_room_ = failed_ = awaited_ = watched_ = nullptr;
    writers_ = 0;
    armed_ = false;
}

// Peers.

ShmPeer* ShmTransport::find_living(const char (&text)[kShmTextMax]) {
    for (size_t i = 0; i < peer_count_; ++i) {
        Peer& peer = *peers_[i];
        if (peer.life == ShmPeerLife::Living && strcmp(peer.text, text) == 0) return &peer;
    }
    return nullptr;
}

ShmPeer* ShmTransport::add_peer(const char (&text)[kShmTextMax]) {
    if (peer_count_ == peer_capacity_) {
        const size_t capacity = std::max<size_t>(peer_capacity_ * 2, 8);
        auto** peers = static_cast<Peer**>(realloc(peers_, capacity * sizeof *peers_));
        if (!peers) return nullptr;
        peers_ = peers;
        auto** hot = static_cast<Peer**>(realloc(hot_, capacity * sizeof *hot_));
        if (!hot) return nullptr;
        hot_ = hot;
        peer_capacity_ = capacity;
    }
    Peer* peer = create_peer();
    if (!peer) return nullptr;
    memcpy(peer->text, text, sizeof peer->text);
    peer->place = peer_count_;
    peers_[peer_count_++] = peer;
    return peer;
}

void ShmTransport::set_aside(Peer& peer) {
    peer.life = ShmPeerLife::Down;
    peers_[peer.place] = peers_[--peer_count_];
    peers_[peer.place]->place = peer.place;
    peer.next_failed = nullptr;
    (down_ ? last_down_->next_failed : down_) = &peer;
    last_down_ = &peer;
    ++down_count_;
}

ShmPeer* ShmTransport::take_oldest_down() {
    Peer* oldest = down_;
    down_ = oldest->next_failed;
    --down_count_;
    return oldest;
}

// The memory of a peer that is down serves another one: after Sink::down nobody names it. The oldest first, and not the
// last few: whoever still did would meet a peer that is down, and not another's. One that went down while it waited for
// room stays in that list until the end of handle_failures().
ShmPeer* ShmTransport::create_peer() {
    void* block;
    if (down_count_ > kDownKept && !down_->waiting_for_room) {
        Peer* oldest = take_oldest_down();
        oldest->~ShmPeer();
        block = oldest;
    } else {
        block = aligned_alloc(alignof(Peer), sizeof(Peer));
    }
    return block ? new (block) Peer : nullptr;
}

int ShmTransport::find_peer_at(const char (&text)[kShmTextMax], Peer** out) {
    if (!shm::valid_text(text)) return -FI_EINVAL;
    Peer* peer = find_living(text);
    if (!peer) peer = add_peer(text);
    if (!peer) return -FI_ENOMEM;
    // One that can be answered where it asked is entered when that is not enough.
    const int error = peer->out.lines || peer->slot_answers.writable ? 0 : connect(*peer);
    if (error) return error;
    *out = peer;
    return 0;
}

// Takes a slot in the peer's region. A peer that nobody has seen yet may be starting, and a full /dev/shm may be
// emptied: -FI_EAGAIN for a while.
int ShmTransport::connect(Peer& peer) {
    const int error =
        peer.remote.enter(peer.text, self_, {.looked_at = !peer.in.lines, .written = peer.slot_answers.written});
    if (error == -FI_EAGAIN || error == -FI_EBUSY || error == -FI_ENOSPC) {
        if (waits(peer, error == -FI_EBUSY ? kBusyGraceMs : kStartGraceMs)) return -FI_EAGAIN;
        return error == -FI_ENOSPC ? error : -FI_EHOSTUNREACH;
    }
    if (error) return error;
    const int refused = join(peer);
    if (refused) return refused;
    if (!peer.in.lines) await_answers(peer);
    // The frames behind it wake an owner that sleeps; answers that it has not seen yet do so here.
    if (peer.slot_answers.written) {
        shm::full_fence();
        wake_owner(peer);
    }
    return 0;
}

// Whether something that a peer lacks may still come, since it was missed first.
bool ShmTransport::waits(Peer& peer, uint64_t grace) {
    const uint64_t now = now_ms();
    if (!peer.missing_since) peer.missing_since = now;
    return now - peer.missing_since < grace;
}

// A peer that is sent more than a page at a time gets the whole ring.
int ShmTransport::allocate_ring(Peer& peer) {
    const int error = peer.remote.allocate_ring();
    if (error == -FI_ENOSPC && waits(peer, kStartGraceMs)) return -FI_EAGAIN;
    if (error) return error;
    peer.missing_since = 0;
    peer.out.lines = shm::ring_of(peer.remote.slot);
    peer.out.allocated = shm::Outbound::kWhole;
    return 0;
}

int ShmTransport::enter_peer_at(const char (&text)[kShmTextMax], Peer** out) {
    Peer* peer = find_living(text);
    if (!peer && !shm::region_exists(text)) return -FI_EHOSTUNREACH;
    const bool fresh = !peer;
    if (fresh) peer = add_peer(text);
    if (!peer) return -FI_ENOMEM;
    if (peer->out.lines) {
        *out = peer;
        return 0;
    }
    // It will answer in a slot of ours, and senders take the first that is free: there is one for each peer.
    int error = region_.reserve(std::min(peer_count_, shm::kSlots) - 1);
    if (!error)
        error = peer->remote.enter(peer->text, self_, {.looked_at = false, .written = peer->slot_answers.written});
    if (!error) {
        // As long as the peer can be had otherwise: later it would be lost for want of room.
        error = peer->remote.allocate_ring();
        if (error) peer->remote.leave();
    }
    if (error == -FI_EBUSY) {
        if (waits(*peer, kStartGraceMs)) return -FI_EAGAIN;
    }
    if (error) {
        if (fresh) set_aside(*peer);  // nobody has seen it
        return error == -FI_EAGAIN ? -FI_EHOSTUNREACH : error;
    }
    error = join(*peer);
    if (error) return error;
    peer->out.allocated = shm::Outbound::kWhole;
    *out = peer;
    return 0;
}

// The peer's region was entered.
int ShmTransport::join(Peer& peer) {
    peer.missing_since = 0;
    uint8_t instance[shm::kIdBytes];
    memcpy(instance, peer.remote.header->instance, sizeof instance);
    if (peer.known && memcmp(instance, peer.instance, sizeof instance) != 0) {
        // The one that wrote to us is not the one that lives there now.
        peer.remote.leave();
        mark_failed(peer, FI_ECONNRESET, true);
        return -FI_EAGAIN;
    }
    memcpy(peer.instance, instance, sizeof instance);
    peer.known = true;
    peer.slot_answers.writable = false;
    peer.out.lines = shm::ring_of(peer.remote.slot);
    peer.out.region = peer.remote.header;
    peer.out.limit = peer.out.answer_limit = peer.out.allocated = shm::kFirstLines;
    if (peer.remote.header->senders_fence) fences_ = true;
    return 0;
}

// Gives back everything but the peer itself.
void ShmTransport::release(Peer& peer) {
    set_aside(peer);
    leave_awaited(peer);
    leave_watched(peer);
    const bool entered = peer.out.region;
    if (entered) {
        peer.remote.say_closed();
        shm::full_fence();
        shm::RegionHeader& owner = *peer.out.region;
        if (owner.armed.load(std::memory_order_relaxed)) shm::ring_bell(owner, bell_);
        peer.remote.leave();
    }
    peer.out = {};
    peer.long_out.active = peer.long_in.active = false;
    if (peer.in.lines) {
        revoke_grants_of(peer);
        by_slot_[peer.in.index] = nullptr;
        // A sender that lives has to be notified, and keeps the slot until it left: accept() sees to that.
        const bool held = region_.slot_is_held(peer.in.index);
        if (held) {
            // Without a ring of its own, this is how it tells an orderly close at once.
            if (peer.slot_answers.written && !entered && !peer.error)
                peer.in.slot().left.store(1, std::memory_order_release);
            const int cause = peer.error == FI_ENOSPC ? FI_ENOSPC : FI_ECONNABORTED;
            peer.in.slot().refused.store(static_cast<uint32_t>(cause), std::memory_order_relaxed);
        }
        shm::unmap_slot(&peer.in.slot());
        if (!held) region_.free_slot(peer.in.index);
    }
    peer.in = {};
    peer.slot_answers = {};
}

// Nothing of a process that was killed stays behind.
void ShmTransport::reap_peer(Peer& peer) {
    release(peer);
    if (shm::reclaim_region(peer.text) || unreaped_count_ == kUnreapedMost) return;  // else a later sweep finds it
    memcpy(unreaped_[unreaped_count_++], peer.text, sizeof peer.text);
}

void ShmTransport::reap_the_rest() {
    for (size_t i = unreaped_count_; i-- > 0;) {
        if (!shm::reclaim_region(unreaped_[i])) continue;
        if (i != --unreaped_count_) memcpy(unreaped_[i], unreaped_[unreaped_count_], sizeof unreaped_[i]);
    }
}

void ShmTransport::mark_failed(Peer& peer, int error, bool drainable) {
    if (peer.life != ShmPeerLife::Living) return;
    peer.life = ShmPeerLife::Failed;
    peer.error = error;
    if (!drainable) peer.in.phase = shm::RingPhase::Broken;
    peer.next_failed = failed_;
    failed_ = &peer;
}

// Locks do not lie: a process that is gone holds none. The lock of a slot is one of as many as there are senders, and
// the kernel goes through all of them to find it. So it is looked at only where nothing shorter tells: a peer whose
// region is known is gone once that has no owner, and one that leaves its slot says so.
bool ShmTransport::has_gone(const Peer& peer) const {
    if (peer.in.lines && peer.in.slot().closed.load(std::memory_order_acquire)) return true;
    if (!peer.out.region) return has_dropped_slot(peer);
    return !peer.remote.owner_is_alive() || peer.remote.slot->left.load(std::memory_order_acquire);
}

bool ShmTransport::has_dropped_slot(const Peer& peer) const {
    return peer.in.lines && !region_.slot_is_held(peer.in.index);
}

void ShmTransport::check_life(Peer& peer) {
    if (peer.life != ShmPeerLife::Living) return;
    if (has_gone(peer)) return mark_failed(peer, FI_ECONNRESET, true);
    if (!peer.out.region) return;
    const uint32_t refused = peer.remote.slot->refused.load(std::memory_order_relaxed);
    const bool known = refused == FI_EACCES || refused == FI_ENOSPC;
    if (refused) mark_failed(peer, known ? static_cast<int>(refused) : FI_ECONNABORTED, true);
}

// The words by which a sender raises our attention are anybody's to change. What was published in a ring that is not
// polled is found here at the latest.
void ShmTransport::look_at_cold(Peer& peer) {
    uint64_t first;
    if (peer.life == ShmPeerLife::Living && peer.in.lines && !peer.in.hot && peer.in.poll(&first)) make_hot(peer);
}

void ShmTransport::look_around() {
    calls_ = 0;
    if (introductions_due_) poll_introductions();
    const uint64_t now = now_ms();
    const uint64_t passed = now - last_look_;
    if (passed < kLookMs) return;
    last_look_ = now;
    reap_the_rest();
    // Slots whose sender could not raise our attention, or whose acceptance failed for lack of memory.
    const size_t used = slots_in_use();
    for (size_t slot = 0; slot < used; ++slot) {
        if (!by_slot_[slot]) notice(slot);
    }
    // A part of the peers at a time; all of them after a long sleep.
    const bool all = passed >= kLookMs * kLooksPerRound;
    const size_t part = std::min((peer_count_ + kLooksPerRound - 1) / kLooksPerRound, kPeersPerLook);
    for (size_t left = all ? peer_count_ : part; left; --left) {
        if (next_checked_ >= peer_count_) next_checked_ = 0;
        Peer& peer = *peers_[next_checked_++];
        check_life(peer);
        look_at_cold(peer);
    }
}

// Arrivals.

void ShmTransport::notice(size_t slot) {
    Peer* peer = by_slot_[slot];
    // Of a slot that was accepted the owner alone says when it is free, whatever its state is made to be.
    // A state that is none would keep senders away for ever; such a slot is looked at and freed like any other.
    if (!peer) {
        if (region_.header->state[slot].load(std::memory_order_acquire) != shm::kSlotFree) accept(slot);
        return;
    }
    if (peer->life != ShmPeerLife::Living) return;
    if (!peer->in.hot) make_hot(*peer);
    if (peer->in.slot().closed.load(std::memory_order_acquire)) mark_failed(*peer, FI_ECONNRESET, true);
}

void ShmTransport::accept(size_t slot) {
    int error = 0;
    SlotControl* control = slot == 0 ? std::exchange(first_slot_, nullptr) : nullptr;
    if (!control) control = region_.map_slot(slot, &error);
    if (!control) {
        // Without memory: again at the next look. A slot that is not in the file is no slot.
        if (error == -FI_EINVAL) region_.free_slot(slot);
        return;
    }
    accept_hello(slot, control);
    if (by_slot_[slot]) return;
    // Refused; once its sender is gone, too, the slot is free again.
    if (!region_.slot_is_held(slot)) region_.free_slot(slot);
    shm::unmap_slot(control);
}

namespace {

// The hello as it was when it was looked at.
struct Hello {
    char text[kShmTextMax];
    uint8_t instance[shm::kIdBytes];
    uint8_t proof[shm::kProofBytes];
    uint64_t instance_at;
    uint32_t answered;
    bool looks_at_answers;
};

bool read_hello(const SlotControl& control, const shm::Identity& self, Hello* out) {
    memcpy(out->text, control.text, sizeof out->text);
    memcpy(out->instance, control.instance, sizeof out->instance);
    memcpy(out->proof, control.proof, sizeof out->proof);
    memcpy(&out->instance_at, &control.instance_at, sizeof out->instance_at);
    memcpy(&out->answered, &control.answered, sizeof out->answered);
    out->looks_at_answers = !control.answers_closed.load(std::memory_order_relaxed);
    if (!shm::valid_text(out->text)) return false;
    uint8_t expected[shm::kProofBytes];
    shm::hello_proof(self.key, self.instance, out->instance, out->text, expected);
    return same_digest(expected, out->proof);
}

}  // namespace

// True if the peer is another endpoint than the one of this id; it is marked failed if it is dead.
bool ShmTransport::belongs_to_other(Peer& peer, const uint8_t (&instance)[shm::kIdBytes]) {
    if (peer.in.lines) return true;
    return peer.known && memcmp(peer.instance, instance, sizeof instance) != 0;
}

void ShmTransport::count_refused() {
    if (endpoint_) add_stat(endpoint_->stat, Stat::Refused);
}

void ShmTransport::accept_hello(size_t slot, SlotControl* control) {
    if (control->refused.load(std::memory_order_relaxed)) return;
    Hello hello;
    if (!read_hello(*control, self_, &hello)) {
        if (log_turn(&refusals_logged_)) {
            log_for("shm", FI_LOG_WARN, FI_LOG_EP_CTRL,
                    "a sender without the domain's key, or with a bad hello, is refused");
        }
        count_refused();
        control->refused.store(FI_EACCES, std::memory_order_relaxed);
        return;
    }
    Peer* peer = find_living(hello.text);
    if (peer && belongs_to_other(*peer, hello.instance)) {
        if (has_dropped_slot(*peer)) mark_failed(*peer, FI_ECONNRESET, true);
        check_life(*peer);
        if (peer->life == ShmPeerLife::Living) {
            count_refused();
            control->refused.store(FI_EADDRINUSE, std::memory_order_relaxed);
            return;
        }
        peer = nullptr;
    }
    if (!peer) peer = add_peer(hello.text);
    if (!peer) return;
    memcpy(peer->instance, hello.instance, sizeof peer->instance);
    peer->known = true;
    peer->in.lines = shm::ring_of(control);
    peer->in.index = static_cast<uint32_t>(slot);
    peer->instance_at = hello.instance_at;
    // Answers that this side no longer looks for, published before that hello.
    if (peer->out.lines && hello.answered > peer->slot_answers.taken) await_answers(*peer);
    peer->slot_answers.writable = !peer->out.lines && hello.looks_at_answers;
    report_choice(*peer);
    report(peer->in.slot().copies, peer->copies.word());
    by_slot_[slot] = peer;
    accepted_end_ = std::max(accepted_end_, slot + 1);
    make_hot(*peer);
    if (control->closed.load(std::memory_order_acquire)) mark_failed(*peer, FI_ECONNRESET, true);
}

void ShmTransport::make_hot(Peer& peer) {
    peer.in.slot().cold.store(0, std::memory_order_relaxed);
    peer.in.idle = 0;
    peer.in.hot = true;
    hot_[hot_count_++] = &peer;
}

// Rings that are idle raise our attention when they are used again (the protocol of `cold` in bell.h). The fence is a
// system call that interrupts other processors, so one serves all rings that are or will soon be due: the others have
// been idle for less than half of kIdlePolls, so the next is at least that many calls of progress away.
void ShmTransport::cool_rings() {
    uint32_t hot = hot_count_;
    for (uint32_t i = 0; i < hot;) {
        Peer& peer = *hot_[i];
        if (hot > kAlwaysHot && peer.in.idle >= kIdlePolls / 2) {
            peer.in.slot().cold.store(1, std::memory_order_relaxed);
            std::swap(hot_[i], hot_[--hot]);
            continue;
        }
        if (peer.in.idle >= kIdlePolls) peer.in.idle = 0;
        ++i;
    }
    if (hot == hot_count_) return;
    const bool fenced = shm::fence_senders();
    for (uint32_t i = hot; i < hot_count_; ++i) {
        Peer& peer = *hot_[i];
        uint64_t first;
        peer.in.idle = 0;
        peer.in.hot = !fenced || peer.in.poll(&first);
        if (!peer.in.hot) continue;
        peer.in.slot().cold.store(0, std::memory_order_relaxed);
        hot_[hot++] = &peer;
    }
    hot_count_ = hot;
}

void ShmTransport::leave_hot(Peer& peer) {
    if (!peer.in.hot) return;
    peer.in.hot = false;
    Peer** end = hot_ + hot_count_;
    Peer** at = std::find(hot_, end, &peer);
    if (at == end) return;
    *at = end[-1];
    --hot_count_;
}

// Sending, when the fast way is closed.

void ShmTransport::wait_for_room(Peer& peer) {
    if (peer.waiting_for_room) return;
    peer.waiting_for_room = true;
    peer.next_waiting = waiting_for_room_;
    waiting_for_room_ = &peer;
}

SendResult ShmTransport::make_room(Peer& peer, size_t lines) {
    if (peer.life != ShmPeerLife::Living) return SendResult::Down;
    int error = peer.out.lines ? 0 : connect(peer);
    if (!error && !peer.out.has_room(lines) && !peer.out.is_whole()) error = allocate_ring(peer);
    if (error == -FI_EAGAIN && peer.life == ShmPeerLife::Living) {
        wait_for_room(peer);
        return SendResult::Again;
    }
    if (error) {
        mark_failed(peer, -error, true);
        return SendResult::Down;
    }
    if (peer.long_out.active) {
        wait_for_room(peer);
        return SendResult::Again;
    }
    if (!peer.out.refresh()) {
        mark_failed(peer, FI_ECONNABORTED, true);
        return SendResult::Down;
    }
    if (peer.out.has_room(lines)) return SendResult::Done;
    wait_for_room(peer);
    return SendResult::Again;
}

void ShmTransport::wake_owner(Peer& peer) {
    if (peer.out.slot().cold.load(std::memory_order_relaxed)) peer.remote.raise_attention();
    if (peer.out.region->armed.load(std::memory_order_relaxed)) shm::ring_bell(*peer.out.region, bell_);
}

// Sleeping.

int ShmTransport::wait_descriptor() const {
    if (!bell_.is_open()) {
        const int error = bell_.open(self_.instance);
        if (error) return error;
    }
    return bell_.descriptor();
}

bool ShmTransport::something_waits() {
    if (failed_ || region_.header->attention.load(std::memory_order_acquire)) return true;
    const size_t used = slots_in_use();
    bool waits = false;
    for (size_t slot = 0; slot < used; ++slot) {
        uint64_t first;
        Peer* peer = by_slot_[slot];
        if (!peer || !peer->in.poll(&first)) continue;
        // progress() would not look there, and the caller would come back for ever.
        if (!peer->in.hot) make_hot(*peer);
        waits = true;
    }
    if (waits) return true;
    // As offer_room() will find.
    constexpr uint64_t kRoomAfter = shm::kRingLines - shm::kAnswerRoom - kRoomLines - 1;
    for (const Peer* peer = waiting_for_room_; peer; peer = peer->next_waiting) {
        if (peer->life != ShmPeerLife::Living || !peer->out.lines) continue;
        const uint64_t consumed = peer->out.slot().consumed.load(std::memory_order_acquire);
        if (peer->out.position - consumed <= kRoomAfter) return true;
    }
    return false;
}

bool ShmTransport::arm() {
    if (wait_descriptor() < 0) return false;
    if (introductions_due_) poll_introductions();
    armed_ = true;
    // Before the look at attention: an owner that answers without being looked at enters this region (bell.h).
    const bool answered = close_all_answers();
    region_.header->armed.store(sleep_ += 2, std::memory_order_relaxed);  // odd
    const bool fenced = shm::fence_senders();
    if (answered || something_waits()) {
        disarm();
        return false;
    }
    bell_.set_timer(waiting_for_room_ || !fenced ? kShortSleepMs : peer_count_ ? kSleepMs : kLonelySleepMs);
    return true;
}

void ShmTransport::disarm() {
    armed_ = false;
    region_.header->armed.store(0, std::memory_order_relaxed);
    bell_.silence();
    look_around();  // who slept may have slept long
}

}  // namespace selvage::impl
