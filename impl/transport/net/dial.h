// An outgoing connection until frames flow: connect, hello, challenge, proof, welcome. Where the hello says that the
// caller has no key (mark_keyless), challenge and proof are left out, or not, as the other end likes.
//
// The owner holds the endpoint's lock, watches the socket and calls advance() when it is ready; closing is the owner's.
#pragma once

#include <cerrno>

#include "impl/transport/net/sockets.h"
#include "impl/transport/net/wire.h"

namespace selvage::impl::net {

enum class Step : uint8_t {
    Pending,
    Done,     // welcome: frames may flow
    Refused,  // answer.refusal says why, answer.data what the other application said
    Failed,   // `error` says why
};

// Why the other end of an attempt that failed may be no endpoint of this library.
enum class Foreign : uint8_t {
    No,
    Silent,  // it took the connection, and closed it without an answer to the hello; so does a listener without room
    Speaks,  // what it said is no note
};

class Dial {
public:
    ~Dial();
    Dial() = default;
    Dial(const Dial&) = delete;
    Dial& operator=(const Dial&) = delete;

    // 0, or a negative fabric errno when nothing can be tried now. That nobody is there is reported by advance().
    int start(const SocketAddress& from, const SocketAddress& to, const Note& hello);
    Step advance(const Key& key);
    // Another one than start() was given. REQUIRES: !is_connected()
    void replace_hello(const Note& hello);
    // What epoll should wake for.
    uint32_t events() const;
    int socket() const { return socket_; }
    // The other end's kernel has taken the connection.
    bool is_connected() const { return state_ != State::Connecting; }
    // It had, though the connection may have ended before this side looked: then it was not refused, but reset.
    bool was_taken() const { return is_connected() || error == ECONNRESET || error == EPIPE; }
    // The other end is there; how long its application takes to accept is its own affair.
    bool waits_for_welcome() const { return state_ == State::Welcome; }
    // With Done: the socket is the caller's from now on.
    int release_socket();

    int error = 0;                  // positive fabric errno
    Foreign foreign = Foreign::No;  // with Failed
    Note answer;                    // Welcome or Reject

private:
    enum class State : uint8_t { Connecting, Challenge, Welcome };
    Step fail(int code);
    Step fail_to_read(int code);
    Step send_hello();
    int say_hello();
    Step read_answer(const Key& key);
    Step take(const Key& key, const Note& note, size_t size);
    Step answer_challenge(const Key& key, const Note& note, size_t size);
    Step check_welcome(const Key& key, const Note& note);

    State state_ = State::Connecting;
    int socket_ = -1;
    int refused_ = 0;  // what connect said at once
    uint8_t hello_[kNoteMax];
    size_t hello_size_ = 0;
    bool keyless_ = false;
    uint8_t random_[kRandomBytes];  // of the hello
    uint8_t in_[kNoteMax];
    size_t in_size_ = 0;
    Transcript transcript_{};
};

// What an application gets for a refusal: a positive fabric errno.
int error_of(Refusal refusal);

}  // namespace selvage::impl::net
