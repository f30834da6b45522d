// See dial.h.
#include "impl/transport/net/dial.h"

#include <sys/epoll.h>
#include <unistd.h>

#include "impl/transport/net/congestion.h"

namespace selvage::impl::net {

Dial::~Dial() {
    if (socket_ >= 0) close(socket_);
}

int Dial::release_socket() {
    const int socket = socket_;
    socket_ = -1;
    return socket;
}

int Dial::start(const SocketAddress& from, const SocketAddress& to, const Note& hello) {
    replace_hello(hello);
    int result = 0;
    const int failed = start_connect(from, to, &socket_, &result);
    if (failed) return failed;
    if (result && result != EINPROGRESS) {
        refused_ = result;
    } else {
        // To this machine the connection is there when connect() returns, whatever that says.
        (void)say_hello();
        tune_stream(socket_);  // while the other end accepts
    }
    return 0;
}

void Dial::replace_hello(const Note& hello) {
    hello_size_ = write_note(hello, hello_);
    keyless_ = is_keyless(hello);
    memcpy(random_, hello.random, sizeof random_);
}

// 0, EAGAIN when it is not connected yet, or another positive errno. What has to be done on a fresh connection is done
// while the other end looks for the hello.
int Dial::say_hello() {
    if (!send_all(socket_, hello_, hello_size_)) {
        if (errno == ENOTCONN || errno == EAGAIN) return EAGAIN;
        return refused_ = errno;
    }
    state_ = State::Challenge;
    choose_congestion(socket_);
    return 0;
}

uint32_t Dial::events() const { return state_ == State::Connecting ? EPOLLOUT : EPOLLIN; }

Step Dial::fail(int code) {
    error = code;
    return Step::Failed;
}

Step Dial::fail_to_read(int code) {
    const bool silent = state_ == State::Challenge && !in_size_ && (code == ECONNRESET || code == EPIPE);
    if (silent) foreign = Foreign::Silent;
    return fail(code);
}

// The socket is writable or has failed. A connection to oneself, which TCP permits when the kernel happens to choose
// the destination's port, is nobody listening.
Step Dial::send_hello() {
    const int result = refused_ ? refused_ : pending_error(socket_);
    if (result) return fail(result);
    const int failed = say_hello();
    return failed && failed != EAGAIN ? fail(failed) : Step::Pending;  // not connected: woken too early
}

Step Dial::answer_challenge(const Key& key, const Note& note, size_t size) {
    transcript_ = make_transcript(hello_, hello_size_, in_, size);
    Note proof;
    proof.type = NoteType::Proof;
    proof.kind = note.kind;
    prove_caller(key, transcript_, proof.digest);
    uint8_t bytes[kNoteMax];
    if (!send_all(socket_, bytes, write_note(proof, bytes))) return fail(errno);
    state_ = State::Welcome;
    return Step::Pending;
}

Step Dial::check_welcome(const Key& key, const Note& note) {
    uint8_t expected[kDigestBytes];
    prove_listener(key, transcript_, note, expected);
    return same_digest(expected, note.digest) ? Step::Done : fail(FI_EKEYREJECTED);
}

Step Dial::take(const Key& key, const Note& note, size_t size) {
    answer = note;
    if (note.type == NoteType::Reject) return Step::Refused;
    if (state_ == State::Challenge) {
        if (note.type == NoteType::Challenge) return answer_challenge(key, note, size);
        if (note.type != NoteType::Welcome || !keyless_) return fail(FI_ECONNABORTED);
        return memcmp(note.random, random_, sizeof random_) == 0 ? Step::Done : fail(FI_ECONNABORTED);
    }
    return note.type == NoteType::Welcome ? check_welcome(key, note) : fail(FI_ECONNABORTED);
}

// Never reads past the note: what follows the welcome is frames, which are read where they belong.
Step Dial::read_answer(const Key& key) {
    for (;;) {
        Note note;
        size_t used = 0;
        const Scan scan = in_size_ ? read_note(in_, in_size_, &note, &used) : Scan::More;
        if (scan == Scan::Bad) {
            foreign = Foreign::Speaks;
            return fail(FI_ECONNABORTED);
        }
        if (scan == Scan::Whole) {
            const Step step = take(key, note, used);
            in_size_ = 0;
            if (step != Step::Pending) return step;
            continue;
        }
        const size_t want = wanted_bytes(in_, in_size_);
        const ssize_t got = recv(socket_, in_ + in_size_, want - in_size_, MSG_DONTWAIT);
        if (got == 0) return fail_to_read(FI_ECONNRESET);
        if (got < 0) {
            if (errno == EINTR) continue;
            return errno == EAGAIN || errno == EWOULDBLOCK ? Step::Pending : fail_to_read(errno);
        }
        in_size_ += static_cast<size_t>(got);
    }
}

Step Dial::advance(const Key& key) {
    if (state_ == State::Connecting) {
        const Step step = send_hello();
        if (step != Step::Pending || state_ == State::Connecting) return step;
    }
    return read_answer(key);
}

int error_of(Refusal refusal) {
    switch (refusal) {
        case Refusal::Key:
            return FI_EKEYREJECTED;
        case Refusal::Busy:
        case Refusal::Taken:
        case Refusal::Crossed:
            return FI_EBUSY;
        default:
            return FI_ECONNREFUSED;
    }
}

}  // namespace selvage::impl::net
