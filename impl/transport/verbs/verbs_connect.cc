// See verbs_transport.h: how connections come and go.
#include <algorithm>

#include "impl/base/create.h"
#include "impl/transport/net/settings.h"
#include "impl/transport/verbs/verbs_transport.h"

namespace selvage::impl {

using verbs::as_error;
using verbs::CallKind;
using verbs::Note;
using verbs::NoteType;
using verbs::Refusal;

namespace {

uint8_t reads_of(const verbs::VerbsDomain& device) {
    const int most = std::min(device.limits.max_qp_rd_atom, device.limits.max_qp_init_rd_atom);
    return static_cast<uint8_t>(std::clamp<int>(most, 0, verbs::kReadsUnderWay));
}

rdma_conn_param parameters(const void* data, size_t size, uint8_t reads) {
    rdma_conn_param result{};
    result.private_data = data;
    result.private_data_len = static_cast<uint8_t>(size);
    result.responder_resources = result.initiator_depth = reads;
    result.flow_control = 1;
    result.retry_count = 7;
    result.rnr_retry_count = 7;  // without end; credits keep it from being needed
    return result;
}

SocketAddress address_from(const sockaddr& address) {
    sockaddr_storage storage{};
    memcpy(&storage, &address, address.sa_family == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in));
    return net::from_storage(storage);
}

}  // namespace

// Gives the peer time, and calls.
int VerbsTransport::dial(Peer& peer) {
    if (gone_) return -FI_ENODEV;
    peer.deadline = net::now_milliseconds() + net::connect_timeout();
    const int error = start_call(peer);
    if (error) return error;
    peer.phase = Peer::Phase::Dialing;
    watch_dialing(peer);
    return 0;
}

void VerbsTransport::watch_dialing(Peer& peer) {
    if (peer.dialing) return;
    peer.dialing = true;
    peer.next_dialing = dialing_;
    dialing_ = &peer;
}

int VerbsTransport::start_call(Peer& peer) {
    Call* call;
    int error = new_call(&call);
    if (error) return error;
    const verbs::RdmaLibrary& library = *device_->library;
    SocketAddress from = address_;
    from.set_port(0);
    SocketAddress to = peer.remote;
    if (library.create_id(channel_, &call->id, call, RDMA_PS_TCP) ||
        library.resolve_addr(call->id, &from.any, &to.any, verbs::kResolveLimit)) {
        error = as_error(errno);
        forget_call(call);
        return error;
    }
    peer.call = call;
    call->peer = &peer;
    peer.dial_again = 0;
    want_look_ = true;
    return 0;
}

// The route is known: the queue pair, and the request that carries the hello.
int VerbsTransport::request(Call& call) {
    if (call.id->verbs != device_->context) return -FI_ENODEV;
    const int error = call.link.open(call.id, completions_);
    if (error) return error;
    verbs::Hello hello;
    hello.features = features_;
    if (connected_) {
        hello.kind = CallKind::Message;
        net::fill_random(hello.nonce, sizeof hello.nonce);
        hello.data_size = static_cast<uint8_t>(private_size_);
        std::copy(private_data_, private_data_ + private_size_, hello.data);
    } else {
        hello.port = address_.port();
        hello.instance = instance_;
        hello.sequence = ++sequence_;
    }
    write_hello(hello, call.handshake.hello);
    rdma_conn_param wanted = parameters(call.handshake.hello, sizeof call.handshake.hello, reads_of(*device_));
    if (device_->library->connect(call.id, &wanted)) return as_error(errno);
    call.stage = Call::Stage::Connecting;
    return 0;
}

void VerbsTransport::call_failed(Call& call, int error) {
    Peer* peer = call.peer;
    kill(call);
    if (peer) mark_broken(*peer, error);
}

// The other side does not want this call, but there may be another: its own, or a later one.
bool VerbsTransport::retry_later(Peer& peer, Refusal refusal) {
    if (connected_) return false;
    if (refusal != Refusal::Crossed && refusal != Refusal::Taken && refusal != Refusal::Busy) return false;
    detach_call(peer);
    keep_dialing(peer);
    peer.dial_again =
        net::now_milliseconds() + (refusal == Refusal::Crossed ? verbs::kCrossedPause : verbs::kBusyPause);
    return true;
}

// A refusal is a message, and the end that follows it an event: a late look finds both, the end first. Then the peer
// was taken for one that is lost, and is dialed on.
void VerbsTransport::keep_dialing(Peer& peer) {
    if (!peer.broken || peer.phase != Peer::Phase::Dialing || peer.error != FI_ECONNRESET) return;
    Peer** at = &broken_;
    while (*at != &peer) at = &(*at)->next_broken;
    *at = peer.next_broken;
    peer.broken = false;
    watch_dialing(peer);
}

void VerbsTransport::refused(Call& call, Refusal refusal, const uint8_t* data, size_t size) {
    Peer* peer = call.peer;
    if (!peer) return kill(call);
    if (retry_later(*peer, refusal)) return;
    peer->farewell.data_size = static_cast<uint16_t>(std::min(size, sizeof peer->farewell.data));
    if (size) memcpy(peer->farewell.data, data, peer->farewell.data_size);
    if (peer->broken && peer->error == FI_ECONNRESET) peer->error = verbs::error_of(refusal);
    call_failed(call, verbs::error_of(refusal));
}

// Events of the connection manager.

void VerbsTransport::look() {
    if (fallen_) discard_fallen();
    while (take_event()) continue;
    look_at_time();
}

bool VerbsTransport::take_event() {
    const verbs::RdmaLibrary& library = *device_->library;
    rdma_cm_event* event;
    if (library.get_cm_event(channel_, &event)) return false;
    // An identifier cannot be destroyed before its events are acknowledged, so that is done first.
    rdma_cm_event copy = *event;
    uint8_t data[256] = {};
    const size_t size = event->param.conn.private_data ? event->param.conn.private_data_len : 0;
    if (size) memcpy(data, event->param.conn.private_data, size);
    copy.param.conn.private_data = data;
    copy.param.conn.private_data_len = static_cast<uint8_t>(size);
    library.ack_cm_event(event);
    if (copy.event == RDMA_CM_EVENT_DEVICE_REMOVAL) {
        on_gone();
    } else if (copy.event == RDMA_CM_EVENT_CONNECT_REQUEST) {
        on_request(copy.id, copy.param.conn);
    } else if (auto* call = static_cast<Call*>(copy.id->context); call && call->stage != Call::Stage::Dead) {
        on_event(copy, call);
    }
    return true;
}

void VerbsTransport::on_event(const rdma_cm_event& event, Call* call) {
    const verbs::RdmaLibrary& library = *device_->library;
    const auto* data = static_cast<const uint8_t*>(event.param.conn.private_data);
    const size_t size = event.param.conn.private_data_len;
    const int status = event.status < 0 ? -event.status : 0;
    switch (event.event) {
        case RDMA_CM_EVENT_ADDR_RESOLVED:
            if (library.resolve_route(call->id, verbs::kResolveLimit)) call_failed(*call, errno);
            return;
        case RDMA_CM_EVENT_ROUTE_RESOLVED:
            if (const int error = request(*call)) call_failed(*call, -error);
            return;
        case RDMA_CM_EVENT_ESTABLISHED:
            if (call->stage == Call::Stage::Connecting) on_established(*call, data, size);
            return;
        case RDMA_CM_EVENT_REJECTED: {
            uint8_t words[verbs::kPrivateMax];
            size_t length;
            const Refusal refusal = verbs::read_refusal(data, size, words, &length);
            return refused(*call, refusal, words, length);
        }
        case RDMA_CM_EVENT_ADDR_ERROR:
        case RDMA_CM_EVENT_ROUTE_ERROR:
            return call_failed(*call, status ? status : FI_EHOSTUNREACH);
        case RDMA_CM_EVENT_CONNECT_ERROR:
        case RDMA_CM_EVENT_UNREACHABLE:
            return call_failed(*call, status ? status : FI_ETIMEDOUT);
        case RDMA_CM_EVENT_DISCONNECTED:
            // What it sent before is still in the completion queue: the call stays until that was looked at.
            if (!call->peer) return kill(*call);
            return mark_broken(*call->peer, FI_ECONNRESET);
        default:
            return;
    }
}

// The device goes, and everything on it.
void VerbsTransport::on_gone() {
    gone_ = true;
    for (Call* call = calls_; call; call = call->next) {
        if (call->stage == Call::Stage::Dead) continue;
        if (call->peer) {
            mark_broken(*call->peer, FI_ENODEV);
        } else {
            kill(*call);
        }
    }
    for (Peer* peer = peers_.first(); peer; peer = peer->next) mark_broken(*peer, FI_ENODEV);
}

int VerbsTransport::answer(rdma_cm_id* id, const uint8_t (&hello)[verbs::kHelloBytes], uint8_t reads,
                           const uint8_t* data, size_t size, Call** out) {
    Call* call = nullptr;
    int error = new_call(&call);
    if (error) return error;
    verbs::Challenge challenge;
    challenge.features = features_;
    challenge.instance = instance_;
    challenge.sequence = sequence_;
    net::fill_random(challenge.random, sizeof challenge.random);
    std::copy(hello, hello + sizeof hello, call->handshake.hello);
    write_challenge(challenge, call->handshake.challenge);
    error = id->verbs == device_->context ? call->link.open(id, completions_) : -FI_ENODEV;
    uint8_t words[verbs::kAnswerBytes];
    size_t length = verbs::kChallengeBytes;
    std::copy(call->handshake.challenge, call->handshake.challenge + length, words);
    if (connected_) {
        call->handshake.answer(key_, data, size, words);
        length = sizeof words;
    }
    rdma_conn_param given = parameters(words, length, std::min(reads, reads_of(*device_)));
    if (!error && device_->library->accept(id, &given)) error = as_error(errno);
    if (error) {
        forget_call(call);
        return error;
    }
    call->id = id;
    id->context = call;
    call->stage = Call::Stage::Proof;
    *out = call;
    return 0;
}

void VerbsTransport::on_request(rdma_cm_id* id, const rdma_conn_param& given) {
    uint8_t hello[verbs::kHelloBytes];
    verbs::Hello read;
    Refusal refusal = Refusal::None;
    Call* call = nullptr;
    id->context = nullptr;
    if (given.private_data_len < sizeof hello) {
        refusal = Refusal::Kind;
    } else {
        memcpy(hello, given.private_data, sizeof hello);
        if (!read_hello(hello, &read) || read.kind != CallKind::ReliableDatagram) refusal = Refusal::Kind;
    }
    if (refusal == Refusal::None && pending_count_ >= verbs::kPendingMax) refusal = Refusal::Busy;
    const uint8_t reads = std::min(given.responder_resources, given.initiator_depth);
    if (refusal == Refusal::None && answer(id, hello, reads, nullptr, 0, &call)) refusal = Refusal::Busy;
    if (refusal != Refusal::None) {
        add_stat(stat_, Stat::Refused);
        uint8_t words[verbs::kRefusalBytes];
        const size_t size = verbs::write_refusal(refusal, nullptr, 0, words);
        (void)device_->library->reject(id, words, static_cast<uint8_t>(size));
        (void)device_->library->destroy_id(id);
        return;
    }
    call->hello = read;
    call->features = read.features;
    call->instance = read.instance;
    call->sequence = read.sequence;
    call->deadline = net::now_milliseconds() + verbs::kPendingLimit;
    ++pending_count_;
    want_look_ = true;
}

void VerbsTransport::on_established(Call& call, const uint8_t* data, size_t size) {
    verbs::Challenge challenge;
    if (size < verbs::kChallengeBytes) return call_failed(call, FI_ECONNABORTED);
    memcpy(call.handshake.challenge, data, verbs::kChallengeBytes);
    if (!read_challenge(call.handshake.challenge, &challenge)) return call_failed(call, FI_ECONNABORTED);
    call.features = challenge.features;
    call.instance = challenge.instance;
    call.sequence = challenge.sequence;
    Note welcome;
    if (connected_) {
        uint8_t answer[verbs::kAnswerBytes];
        if (size < sizeof answer) return call_failed(call, FI_ECONNABORTED);
        memcpy(answer, data, sizeof answer);
        if (!call.handshake.read_answer(key_, answer, &welcome)) return call_failed(call, FI_EKEYREJECTED);
    }
    uint8_t note[net::kNoteMax];
    const size_t length = call.handshake.prove(key_, connected_ ? CallKind::Message : CallKind::ReliableDatagram, note);
    if (!call.link.send_note(note, length)) return call_failed(call, FI_EIO);
    call.stage = Call::Stage::Welcome;
    if (!connected_ || !call.peer || call.peer->broken) return;
    raise(*call.peer, call);
    if (events_) events_->connected(welcome.data, welcome.data_size);
}

// Notes over the queue pair.

void VerbsTransport::on_note(Call& call, const std::byte* bytes, size_t size) {
    Note note;
    size_t used = 0;
    const bool whole =
        size <= net::kNoteMax &&
        net::read_note(reinterpret_cast<const uint8_t*>(bytes), size, &note, &used) == net::Scan::Whole && used == size;
    if (call.stage == Call::Stage::Leaving || call.stage == Call::Stage::Dead) return;
    if (whole && call.stage == Call::Stage::Proof) return on_proof(call, note);
    const bool answered = call.stage == Call::Stage::Welcome || (connected_ && note.type == NoteType::Reject);
    if (whole && answered) return on_answer(call, note);
    call_failed(call, FI_ECONNABORTED);
}

bool VerbsTransport::may_take(const Peer& peer, const verbs::Hello& hello, Refusal* refusal) const {
    *refusal = Refusal::Crossed;
    switch (peer.phase) {
        case Peer::Phase::Down:
            return true;
        case Peer::Phase::Dialing:
            // Both call: the lower instance's call counts. Without a call of our own under way, the other's does.
            return !peer.broken && (!peer.call || hello.instance < instance_);
        case Peer::Phase::Up:
            break;
    }
    // It, or another at its address, seems to have lost the connection that is here; it will be known soon.
    const bool older = peer.instance == hello.instance && static_cast<int32_t>(hello.sequence - peer.sequence) <= 0;
    if (!older) *refusal = Refusal::Taken;
    return false;
}

// The peer that a proved caller is, or why it is turned away.
VerbsTransport::Peer* VerbsTransport::host_of(const Call& call, Refusal* refusal) {
    SocketAddress from = address_from(call.id->route.addr.dst_addr);
    from.set_port(call.hello.port);
    Peer* peer;
    if (call.hello.instance == instance_) {
        if (!self_) {
            void* block = malloc(sizeof(Peer));
            self_ = block ? new (block) Peer(address_) : nullptr;
        }
        peer = self_;
    } else if (is_self(from)) {
        *refusal = Refusal::Taken;  // nobody else listens there
        return nullptr;
    } else if (peer = peers_.find(from); !peer) {
        peer = peers_.add(from);
    }
    if (!peer) {
        *refusal = Refusal::Busy;
        return nullptr;
    }
    return may_take(*peer, call.hello, refusal) ? peer : nullptr;
}

void VerbsTransport::on_proof(Call& call, const Note& note) {
    if (!call.handshake.proved(key_, note)) {
        Peer* peer = call.peer;
        turn_away(call, Refusal::Key);
        if (peer) mark_broken(*peer, FI_EKEYREJECTED);
        return;
    }
    Refusal refusal = Refusal::None;
    Peer* peer = connected_ ? call.peer : host_of(call, &refusal);
    if (!peer) return turn_away(call, refusal);
    if (connected_) return raise(*peer, call);
    uint8_t bytes[net::kNoteMax];
    const size_t size = call.handshake.welcome(key_, CallKind::ReliableDatagram, nullptr, 0, bytes);
    if (!call.link.send_note(bytes, size)) return call_failed(call, FI_EIO);
    --pending_count_;
    raise(*peer, call);
}

void VerbsTransport::on_answer(Call& call, const Note& note) {
    if (note.type == NoteType::Reject) return refused(call, note.refusal, note.data, note.data_size);
    if (!call.handshake.welcomed(key_, note)) return call_failed(call, FI_EKEYREJECTED);
    if (!call.peer || call.peer->broken) return;
    raise(*call.peer, call);
}

// The reason is sent over the connection, which ends when it has arrived.
void VerbsTransport::turn_away(Call& call, Refusal refusal) {
    if (refusal == Refusal::Key || refusal == Refusal::Busy) add_stat(stat_, Stat::Refused);
    if (call.peer) {
        call.peer->call = nullptr;
        call.peer = nullptr;
    } else {
        --pending_count_;
    }
    Note note;
    note.type = NoteType::Reject;
    note.kind = connected_ ? CallKind::Message : CallKind::ReliableDatagram;
    note.refusal = refusal;
    uint8_t bytes[net::kNoteMax];
    const size_t size = net::write_note(note, bytes);
    call.stage = Call::Stage::Leaving;
    call.deadline = net::now_milliseconds() + verbs::kLinger;
    want_look_ = true;
    if (!call.link.send_note(bytes, size)) kill(call);
}

// The call carries frames from now on.
void VerbsTransport::raise(Peer& peer, Call& call) {
    if (peer.call && peer.call != &call) kill(*peer.call);
    peer.call = &call;
    call.peer = &peer;
    call.stage = Call::Stage::Up;
    peer.phase = Peer::Phase::Up;
    peer.features = call.features;
    peer.instance = call.instance;
    peer.sequence = call.sequence;
}

// Time.

void VerbsTransport::look_at_time() {
    last_look_ = net::now_nanoseconds();
    verbs::sweep_kept(*device_);
    const int64_t now = last_look_ / 1'000'000;
    bool expecting = false;
    for (Call* call = calls_; call; call = call->next) {
        const bool pending = call->stage == Call::Stage::Proof && !call->peer;
        if (call->stage == Call::Stage::Leaving) {
            (void)call->link.signal_all();
            if (call->idle() || now >= call->deadline) kill(*call);
            expecting = true;
        } else if (pending) {
            if (now >= call->deadline) kill(*call);
            expecting = true;
        }
    }
    Peer* kept = nullptr;
    for (Peer* peer = dialing_; peer;) {
        Peer* next = peer->next_dialing;
        if (peer->phase != Peer::Phase::Dialing || peer->broken) {
            peer->dialing = false;
        } else {
            // How long the other application takes to accept is its own affair.
            const bool waits = connected_ && peer->call && peer->call->stage != Call::Stage::Resolving;
            if (!waits && now >= peer->deadline) {
                mark_broken(*peer, FI_ETIMEDOUT);
            } else if (!peer->call && now >= peer->dial_again) {
                if (const int error = start_call(*peer)) mark_broken(*peer, -error);
            }
            peer->next_dialing = kept;
            kept = peer;
        }
        peer = next;
    }
    dialing_ = kept;
    if (only_ && only_->ending && only_->call) {
        (void)only_->call->link.signal_all();
        if (only_->call->idle() || now >= only_->deadline) mark_broken(*only_, FI_ECANCELED);
        expecting = true;
    }
    want_look_ = expecting || dialing_ || call_count_ == 0;
}

void VerbsTransport::on_failed(Call& call, const ibv_wc& completion) {
    if (!call.peer) {
        if (call.stage != Call::Stage::Dead) kill(call);
        return;
    }
    int error = FI_ECONNRESET;
    if (completion.status == IBV_WC_RETRY_EXC_ERR || completion.status == IBV_WC_RNR_RETRY_EXC_ERR) {
        error = FI_ETIMEDOUT;
    }
    mark_broken(*call.peer, error);
}

// FI_EP_MSG.

int VerbsTransport::connect_to(const SocketAddress& to, const uint8_t* data, size_t size, ConnectionEvents* events) {
    Peer* peer = only_ ? nullptr : peers_.add(to);
    if (!peer) return only_ ? -FI_EISCONN : -FI_ENOMEM;
    private_size_ = std::min(size, sizeof private_data_);
    if (private_size_) memcpy(private_data_, data, private_size_);
    const int error = dial(*peer);
    if (error) {
        peers_.clear();
        return error;
    }
    peer->awaits_answer = true;
    only_ = peer;
    events_ = events;
    return 0;
}

int VerbsTransport::adopt(verbs::PendingConnection* caller, const uint8_t* data, size_t size,
                          ConnectionEvents* events) {
    rdma_cm_id* id = caller->id;
    Peer* peer = only_ ? nullptr : peers_.add(address_from(id->route.addr.dst_addr));
    int error = peer ? 0 : only_ ? -FI_EISCONN : -FI_ENOMEM;
    Call* call = nullptr;
    if (!error && caller->gone) error = -FI_ECONNABORTED;
    if (!error && device_->library->migrate_id(id, channel_)) error = as_error(errno);
    if (!error) error = answer(id, caller->hello_bytes, caller->reads, data, size, &call);
    if (error) {
        uint8_t words[verbs::kRefusalBytes];
        const size_t length = verbs::write_refusal(Refusal::Gone, nullptr, 0, words);
        (void)device_->library->reject(id, words, static_cast<uint8_t>(length));
        (void)device_->library->destroy_id(id);
        if (!only_) peers_.clear();
    } else {
        call->features = caller->hello.features;
        call->peer = peer;
        peer->call = call;
        peer->phase = Peer::Phase::Dialing;
        only_ = peer;
        events_ = events;
    }
    destroy(caller);
    return error;
}

int VerbsTransport::shut_down() {
    if (is_down()) return -FI_ENOTCONN;
    if (only_->awaits_answer && !connected()) return -FI_ENOTCONN;
    if (connected()) {
        only_->ending = true;
        only_->deadline = net::now_milliseconds() + verbs::kLinger;
        want_look_ = true;
        (void)only_->call->link.flush();
    } else {
        mark_broken(*only_, FI_ECANCELED);
    }
    return 0;
}

bool VerbsTransport::local_name(SocketAddress* out) const {
    if (!only_ || !only_->call) return false;
    *out = address_from(only_->call->id->route.addr.src_addr);
    return true;
}

}  // namespace selvage::impl
