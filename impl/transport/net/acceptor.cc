// See acceptor.h.
#include "impl/transport/net/acceptor.h"

#include <sys/epoll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>

#include "impl/base/create.h"
#include "impl/config/log.h"
#include "impl/transport/net/congestion.h"
#include "impl/transport/net/knobs.h"

namespace selvage::impl::net {
namespace {

// Reads of what a caller has sent who is refused: more than notes. Whoever goes on sending does not keep us there.
constexpr int kRefusedReads = 64;

// What this process may spend on pending connections, of the descriptors that it may have now.
struct Budget {
    size_t pending = kPendingMax;
    int first_reserved = INT32_MAX;  // descriptors are given out from the lowest, so this many are in use
};

Budget current_budget() {
    rlimit limit{};
    if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur >= size_t{1} << 20) return {};
    const size_t share = static_cast<size_t>(limit.rlim_cur) / kPendingShare;
    return {.pending = std::clamp<size_t>(share, 1, kPendingMax),
            .first_reserved = static_cast<int>(limit.rlim_cur - share)};
}

}  // namespace

PendingConnection::~PendingConnection() {
    if (socket >= 0) close(socket);
}

bool PendingConnection::holds(const Key& key) const {
    if (!challenged) return key.size == 0;
    uint8_t expected[kDigestBytes];
    prove_caller(key, transcript, expected);
    return same_digest(expected, proof.digest);
}

bool PendingConnection::welcome(const Key& key, const Self& self, const uint8_t* data, size_t data_size) {
    Note note;
    note.type = NoteType::Welcome;
    note.kind = hello.kind;
    note.instance = self.instance;
    note.sequence = self.sequence;
    note.data_size = static_cast<uint16_t>(data_size);
    if (data_size) memcpy(note.data, data, data_size);
    if (challenged) {
        prove_listener(key, transcript, note, note.digest);
    } else {
        memcpy(note.random, hello.random, sizeof note.random);
    }
    uint8_t bytes[kNoteMax];
    return send_all(socket, bytes, write_note(note, bytes));
}

void PendingConnection::refuse(Refusal reason, const uint8_t* data, size_t data_size) {
    Note note;
    note.type = NoteType::Reject;
    note.kind = hello.kind;
    note.refusal = reason;
    note.data_size = static_cast<uint16_t>(data_size);
    if (data_size) memcpy(note.data, data, data_size);
    uint8_t bytes[kNoteMax];
    (void)send_all(socket, bytes, write_note(note, bytes));
    // Unread input would turn the close into a reset, which may overtake the note.
    for (int i = 0; i < kRefusedReads && recv(socket, bytes, sizeof bytes, MSG_DONTWAIT) > 0; ++i) continue;
    shutdown(socket, SHUT_WR);
}

bool PendingConnection::left() const {
    uint8_t byte;
    return recv(socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT) >= 0 || (errno != EAGAIN && errno != EWOULDBLOCK);
}

int PendingConnection::release_socket() {
    const int result = socket;
    socket = -1;
    return result;
}

int Acceptor::open(SocketAddress* address, int backlog, int epoll) {
    int socket = -1;
    int error = listen_at(address, backlog, &socket);
    if (error) return error;
    error = watch_socket(epoll, socket, EPOLLIN, this);
    if (error) {
        ::close(socket);
        return error;
    }
    socket_ = socket;
    epoll_ = epoll;
    return 0;
}

void Acceptor::close() {
    if (socket_ >= 0) ::close(socket_);
    socket_ = -1;
    while (PendingConnection* pending = list_) {
        list_ = pending->next;
        leave_source(*pending);
        destroy(pending);
    }
    while (PendingConnection* pending = next_proved()) destroy(pending);
    pending_count_ = 0;
    any_dead_ = false;
    paused_until_ = 0;
}

// With no descriptor or place left the listener would stay readable, and every wait would return at once: it is set
// aside.
void Acceptor::pause(int64_t milliseconds) {
    (void)watch_socket(epoll_, socket_, 0, this, true);
    paused_until_ = now_milliseconds() + milliseconds;
}

// Who can be answered is before another is looked for, which costs as much where there is none. Callers that come
// singly have a round each.
bool Acceptor::accept_some() {
    const Budget budget = current_budget();
    for (int i = 0; i < 64 && !proved_; ++i) {
        if (pending_count_ >= budget.pending && !evict(kPendingGrace)) {
            pause(kPendingGrace);
            return false;
        }
        sockaddr_storage storage{};
        socklen_t size = sizeof storage;
        const int socket = accept4(socket_, reinterpret_cast<sockaddr*>(&storage), &size, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (socket >= 0) {
            took_some_ = true;
            if (socket >= budget.first_reserved) (void)evict(0);
            const SocketAddress from = from_storage(storage);
            choose_accepted(socket, from);
            admit(socket, from);
        } else if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS) {
            pause(kAcceptPause);
            return false;
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            return false;
        }  // anything else is the fault of that one connection
    }
    return proved_ && crowded_;
}

// Of those that have been here for so long: see acceptor.h. The list begins with the newest.
PendingConnection* Acceptor::find_victim(int64_t grace) const {
    size_t most = 0;
    for (const Source* source = sources_; source; source = source->next) most = std::max(most, source->count);
    const int64_t now = now_milliseconds();
    PendingConnection* victim = nullptr;
    for (PendingConnection* pending = list_; pending; pending = pending->next) {
        if (pending->state == PendingConnection::State::Dead || pending->source->count != most) continue;
        if (now - pending->since < grace) continue;
        const bool silent = pending->state == PendingConnection::State::Hello;
        if (!victim || silent || victim->state != PendingConnection::State::Hello) victim = pending;
    }
    return victim;
}

// False when nobody may be evicted.
bool Acceptor::evict(int64_t grace) {
    const size_t before = pending_count_;
    while (PendingConnection* victim = find_victim(grace)) {
        const PendingConnection::State state = victim->state;
        const size_t size = victim->in_size;
        advance(victim);  // it may be this side that is late
        if (pending_count_ != before) return true;
        if (victim->state != state || victim->in_size != size) continue;
        count(Stat::Expired);
        kill(victim);
        return true;
    }
    return false;
}

bool Acceptor::enter_source(PendingConnection& pending) {
    Source* source = sources_;
    while (source && !source->host.same_host(pending.from)) source = source->next;
    if (!source) {
        source = create<Source>();
        if (!source) return false;
        source->host = pending.from;
        source->next = sources_;
        sources_ = source;
    }
    ++source->count;
    pending.source = source;
    return true;
}

void Acceptor::leave_source(PendingConnection& pending) {
    Source* source = pending.source;
    pending.source = nullptr;
    if (!source || --source->count) return;
    Source** at = &sources_;
    while (*at != source) at = &(*at)->next;
    *at = source->next;
    destroy(source);
}

void Acceptor::admit(int socket, const SocketAddress& from) {
    auto* pending = create<PendingConnection>();
    if (!pending) {
        ::close(socket);
        return;
    }
    pending->socket = socket;
    pending->from = from;
    pending->since = now_milliseconds();
    if (from.kind == AddressKind::None || !enter_source(*pending)) {
        destroy(pending);
        return;
    }
    pending->next = list_;
    list_ = pending;
    ++pending_count_;
    advance(pending);  // its hello is often there
    const bool proving =
        pending->state == PendingConnection::State::Hello || pending->state == PendingConnection::State::Proof;
    if (proving && !watch(*pending)) kill(pending);
}

bool Acceptor::watch(PendingConnection& pending) {
    pending.watched = watch_socket(epoll_, pending.socket, EPOLLIN, &pending) == 0;
    return pending.watched;
}

void Acceptor::unwatch(PendingConnection& pending) {
    if (pending.watched) unwatch_socket(epoll_, pending.socket);
    pending.watched = false;
}

// The object lives until sweep(), as an event for it may be in the hand of the caller.
void Acceptor::kill(PendingConnection* pending) {
    pending->state = PendingConnection::State::Dead;
    leave_source(*pending);
    unwatch(*pending);
    ::close(pending->socket);
    pending->socket = -1;
    --pending_count_;
    any_dead_ = true;
}

// Anybody may connect and say anything, so not each of them has a line.
void Acceptor::report_foreign(const PendingConnection& pending) {
    const int64_t now = now_milliseconds();
    if (pending.state != PendingConnection::State::Hello || now < quiet_until_) return;
    quiet_until_ = now + kForeignPause;
    char address[kAddressBytesMax];
    write_text_address(pending.from, FI_SOCKADDR, address, sizeof address);
    log_for("tcp", FI_LOG_WARN, FI_LOG_EP_CTRL,
            "%s called and speaks another protocol than this library's: the connection is closed", address);
}

// Whether a key is asked for is up to whoever it is handed to: to him who has one, it has none.
bool Acceptor::take_hello(PendingConnection& pending, const Note& hello, size_t size) {
    if (hello.type != NoteType::Hello) return false;
    pending.hello = hello;
    const bool rail = hello.kind == CallKind::Rail && kind_ == CallKind::ReliableDatagram;
    if (hello.kind != kind_ && !rail) {
        pending.refuse(Refusal::Kind);
        return false;
    }
    if (is_keyless(hello)) {
        pending.state = PendingConnection::State::Proved;
        return true;
    }
    Note challenge;
    challenge.type = NoteType::Challenge;
    challenge.kind = hello.kind;
    fill_random(challenge.random, sizeof challenge.random);
    uint8_t bytes[kNoteMax];
    const size_t length = write_note(challenge, bytes);
    pending.transcript = make_transcript(pending.in, size, bytes, length);
    pending.challenged = true;
    pending.state = PendingConnection::State::Proof;
    return send_all(pending.socket, bytes, length);
}

// False: a note that has no place here.
bool Acceptor::take(PendingConnection& pending, const Note& note, size_t size) {
    if (pending.state == PendingConnection::State::Hello) return take_hello(pending, note, size);
    if (note.type != NoteType::Proof) return false;
    pending.proof = note;
    pending.state = PendingConnection::State::Proved;
    return true;
}

void Acceptor::advance(PendingConnection* pending) {
    if (pending->state == PendingConnection::State::Proved) return;  // an event of before
    while (pending->state == PendingConnection::State::Hello || pending->state == PendingConnection::State::Proof) {
        const size_t want = wanted_bytes(pending->in, pending->in_size);
        const ssize_t got =
            recv(pending->socket, pending->in + pending->in_size, want - pending->in_size, MSG_DONTWAIT);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
        if (got <= 0) return kill(pending);
        pending->in_size += static_cast<size_t>(got);
        Note note;
        size_t used = 0;
        const Scan scan = read_note(pending->in, pending->in_size, &note, &used);
        if (scan == Scan::More) continue;
        if (scan == Scan::Bad) report_foreign(*pending);
        if (scan == Scan::Bad || !take(*pending, note, used)) {
            count(Stat::Refused);
            return kill(pending);
        }
        pending->in_size = 0;
    }
    if (pending->state != PendingConnection::State::Proved) return;
    unwatch(*pending);
    leave_source(*pending);
    PendingConnection** at = &list_;
    while (*at != pending) at = &(*at)->next;
    *at = pending->next;
    --pending_count_;
    pending->next = nullptr;
    *proved_end_ = pending;
    proved_end_ = &pending->next;
}

PendingConnection* Acceptor::next_proved() {
    PendingConnection* pending = proved_;
    if (!pending) return nullptr;
    proved_ = pending->next;
    if (!proved_) proved_end_ = &proved_;
    pending->next = nullptr;
    return pending;
}

void Acceptor::sweep(int64_t now) {
    crowded_ = took_some_;
    took_some_ = false;
    if (paused_until_ && now >= paused_until_) {
        paused_until_ = 0;
        (void)watch_socket(epoll_, socket_, EPOLLIN, this, true);
    }
    if (!pending_count_ && !any_dead_) return;
    for (PendingConnection** at = &list_; *at;) {
        PendingConnection* pending = *at;
        if (pending->state != PendingConnection::State::Dead && now - pending->since >= kPendingLimit) {
            count(Stat::Expired);
            kill(pending);
        }
        if (pending->state == PendingConnection::State::Dead) {
            *at = pending->next;
            destroy(pending);
        } else {
            at = &pending->next;
        }
    }
    any_dead_ = false;
}

}  // namespace selvage::impl::net
