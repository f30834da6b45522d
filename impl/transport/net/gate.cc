// See gate.h.
#include "impl/transport/net/gate.h"

#include <sys/epoll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>

#include "impl/base/create.h"
#include "impl/config/log.h"
#include "impl/transport/net/knobs.h"

namespace selvage::impl::net {
namespace {

// What this process may spend on pending connections, of the descriptors that it may have now.
struct Budget {
    size_t strangers = kStrangersMax;
    int first_reserved = INT32_MAX;  // descriptors are given out from the lowest, so this many are in use
};

Budget current_budget() {
    rlimit limit{};
    if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur >= size_t{1} << 20) return {};
    const size_t share = static_cast<size_t>(limit.rlim_cur) / kStrangersShare;
    return {.strangers = std::clamp<size_t>(share, 1, kStrangersMax),
            .first_reserved = static_cast<int>(limit.rlim_cur - share)};
}

}  // namespace

Stranger::~Stranger() {
    if (socket >= 0) close(socket);
}

bool Stranger::holds(const Key& key) const {
    uint8_t expected[kDigestBytes];
    prove_caller(key, transcript, expected);
    return same_digest(expected, proof.digest);
}

bool Stranger::welcome(const Key& key, const Self& self, const uint8_t* data, size_t data_size) {
    Note note;
    note.type = NoteType::kWelcome;
    note.kind = hello.kind;
    note.instance = self.instance;
    note.sequence = self.sequence;
    note.data_size = static_cast<uint16_t>(data_size);
    if (data_size) memcpy(note.data, data, data_size);
    prove_listener(key, transcript, note, note.digest);
    uint8_t bytes[kNoteMax];
    return send_all(socket, bytes, write_note(note, bytes));
}

void Stranger::refuse(Refusal reason, const uint8_t* data, size_t data_size) {
    Note note;
    note.type = NoteType::kReject;
    note.kind = hello.kind;
    note.refusal = reason;
    note.data_size = static_cast<uint16_t>(data_size);
    if (data_size) memcpy(note.data, data, data_size);
    uint8_t bytes[kNoteMax];
    (void)send_all(socket, bytes, write_note(note, bytes));
    // Unread input would turn the close into a reset, which may overtake the note.
    while (recv(socket, bytes, sizeof bytes, MSG_DONTWAIT) > 0) continue;
    shutdown(socket, SHUT_WR);
}

bool Stranger::left() const {
    uint8_t byte;
    return recv(socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT) >= 0 || (errno != EAGAIN && errno != EWOULDBLOCK);
}

int Stranger::release_socket() {
    const int result = socket;
    socket = -1;
    return result;
}

int Gate::open(SocketAddress* address, int backlog, int epoll) {
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

void Gate::close() {
    if (socket_ >= 0) ::close(socket_);
    socket_ = -1;
    while (Stranger* stranger = list_) {
        list_ = stranger->next;
        leave_source(*stranger);
        destroy(stranger);
    }
    while (Stranger* stranger = next_proved()) destroy(stranger);
    strangers_ = 0;
    any_dead_ = false;
    paused_until_ = 0;
}

// With no descriptor or place left the listener would stay readable, and every wait would return at once: it is set
// aside.
void Gate::pause(int64_t milliseconds) {
    (void)watch_socket(epoll_, socket_, 0, this, true);
    paused_until_ = now_milliseconds() + milliseconds;
}

void Gate::accept_some() {
    const Budget budget = current_budget();
    for (int i = 0; i < 64; ++i) {
        if (strangers_ >= budget.strangers && !evict(kStrangerGrace)) return pause(kStrangerGrace);
        sockaddr_storage storage{};
        socklen_t size = sizeof storage;
        const int socket = accept4(socket_, reinterpret_cast<sockaddr*>(&storage), &size, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (socket >= 0) {
            if (socket >= budget.first_reserved) (void)evict(0);
            admit(socket, from_storage(storage));
        } else if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS) {
            return pause(kAcceptPause);
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            return;
        }  // anything else is the fault of that one connection
    }
}

// Of those that have been here for so long: see gate.h. The list begins with the newest.
Stranger* Gate::find_victim(int64_t grace) const {
    size_t most = 0;
    for (const Source* source = sources_; source; source = source->next) most = std::max(most, source->count);
    const int64_t now = now_milliseconds();
    Stranger* victim = nullptr;
    for (Stranger* stranger = list_; stranger; stranger = stranger->next) {
        if (stranger->state == Stranger::State::kDead || stranger->source->count != most) continue;
        if (now - stranger->since < grace) continue;
        const bool silent = stranger->state == Stranger::State::kHello;
        if (!victim || silent || victim->state != Stranger::State::kHello) victim = stranger;
    }
    return victim;
}

// False when nobody may be evicted.
bool Gate::evict(int64_t grace) {
    const size_t before = strangers_;
    while (Stranger* victim = find_victim(grace)) {
        const Stranger::State state = victim->state;
        const size_t size = victim->in_size;
        advance(victim);  // it may be this side that is late
        if (strangers_ != before) return true;
        if (victim->state != state || victim->in_size != size) continue;
        count(Stat::kExpired);
        kill(victim);
        return true;
    }
    return false;
}

bool Gate::enter_source(Stranger& stranger) {
    Source* source = sources_;
    while (source && !source->host.same_host(stranger.from)) source = source->next;
    if (!source) {
        source = create<Source>();
        if (!source) return false;
        source->host = stranger.from;
        source->next = sources_;
        sources_ = source;
    }
    ++source->count;
    stranger.source = source;
    return true;
}

void Gate::leave_source(Stranger& stranger) {
    Source* source = stranger.source;
    stranger.source = nullptr;
    if (!source || --source->count) return;
    Source** at = &sources_;
    while (*at != source) at = &(*at)->next;
    *at = source->next;
    destroy(source);
}

void Gate::admit(int socket, const SocketAddress& from) {
    auto* stranger = create<Stranger>();
    if (!stranger) {
        ::close(socket);
        return;
    }
    stranger->socket = socket;
    stranger->from = from;
    stranger->since = now_milliseconds();
    tune_stream(socket);
    if (from.kind == AddressKind::kNone || !enter_source(*stranger)) {
        destroy(stranger);
        return;
    }
    if (watch_socket(epoll_, socket, EPOLLIN, stranger)) {
        leave_source(*stranger);
        destroy(stranger);
        return;
    }
    stranger->next = list_;
    list_ = stranger;
    ++strangers_;
    advance(stranger);  // its hello is often there
}

// The object lives until sweep(), as an event for it may be in the hand of the caller.
void Gate::kill(Stranger* stranger) {
    stranger->state = Stranger::State::kDead;
    leave_source(*stranger);
    unwatch_socket(epoll_, stranger->socket);
    ::close(stranger->socket);
    stranger->socket = -1;
    --strangers_;
    any_dead_ = true;
}

// Anybody may connect and say anything, so not each of them has a line.
void Gate::report_foreign(const Stranger& stranger) {
    const int64_t now = now_milliseconds();
    if (stranger.state != Stranger::State::kHello || now < quiet_until_) return;
    quiet_until_ = now + kForeignPause;
    char address[kAddressBytesMax];
    write_text_address(stranger.from, FI_SOCKADDR, address, sizeof address);
    log_for("tcp", FI_LOG_WARN, FI_LOG_EP_CTRL,
            "%s called and speaks another protocol than this library's: the connection is closed", address);
}

// False: a note that has no place here.
bool Gate::take(Stranger& stranger, const Note& note, size_t size) {
    if (stranger.state == Stranger::State::kHello) {
        if (note.type != NoteType::kHello) return false;
        stranger.hello = note;
        if (note.kind != kind_) {
            stranger.refuse(Refusal::kKind);
            return false;
        }
        Note challenge;
        challenge.type = NoteType::kChallenge;
        challenge.kind = kind_;
        fill_random(challenge.random, sizeof challenge.random);
        uint8_t bytes[kNoteMax];
        const size_t length = write_note(challenge, bytes);
        stranger.transcript = make_transcript(stranger.in, size, bytes, length);
        stranger.state = Stranger::State::kProof;
        return send_all(stranger.socket, bytes, length);
    }
    if (note.type != NoteType::kProof) return false;
    stranger.proof = note;
    stranger.state = Stranger::State::kProved;
    return true;
}

void Gate::advance(Stranger* stranger) {
    if (stranger->state == Stranger::State::kProved) return;  // an event of before
    while (stranger->state == Stranger::State::kHello || stranger->state == Stranger::State::kProof) {
        const size_t want = wanted_bytes(stranger->in, stranger->in_size);
        const ssize_t got =
            recv(stranger->socket, stranger->in + stranger->in_size, want - stranger->in_size, MSG_DONTWAIT);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
        if (got <= 0) return kill(stranger);
        stranger->in_size += static_cast<size_t>(got);
        Note note;
        size_t used = 0;
        const Scan scan = read_note(stranger->in, stranger->in_size, &note, &used);
        if (scan == Scan::kMore) continue;
        if (scan == Scan::kBad) report_foreign(*stranger);
        if (scan == Scan::kBad || !take(*stranger, note, used)) {
            count(Stat::kRefused);
            return kill(stranger);
        }
        stranger->in_size = 0;
    }
    if (stranger->state != Stranger::State::kProved) return;
    unwatch_socket(epoll_, stranger->socket);
    leave_source(*stranger);
    Stranger** at = &list_;
    while (*at != stranger) at = &(*at)->next;
    *at = stranger->next;
    --strangers_;
    stranger->next = nullptr;
    *proved_end_ = stranger;
    proved_end_ = &stranger->next;
}

Stranger* Gate::next_proved() {
    Stranger* stranger = proved_;
    if (!stranger) return nullptr;
    proved_ = stranger->next;
    if (!proved_) proved_end_ = &proved_;
    stranger->next = nullptr;
    return stranger;
}

void Gate::sweep(int64_t now) {
    if (paused_until_ && now >= paused_until_) {
        paused_until_ = 0;
        (void)watch_socket(epoll_, socket_, EPOLLIN, this, true);
    }
    if (!strangers_ && !any_dead_) return;
    for (Stranger** at = &list_; *at;) {
        Stranger* stranger = *at;
        if (stranger->state != Stranger::State::kDead && now - stranger->since >= kStrangerLimit) {
            count(Stat::kExpired);
            kill(stranger);
        }
        if (stranger->state == Stranger::State::kDead) {
            *at = stranger->next;
            destroy(stranger);
        } else {
            at = &stranger->next;
        }
    }
    any_dead_ = false;
}

}  // namespace selvage::impl::net
