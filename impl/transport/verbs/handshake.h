// What two ends say before frames flow: pure functions over bytes, any input.
//
//   caller -> listener   Hello      with the connection manager's request (56 bytes fit): who calls, private data
//   listener -> caller   Challenge  with its answer: a random number, who answers
//   caller -> listener   Proof      the first message of the queue pair: digest of the key, both notes; a random number
//   listener -> caller   Welcome    digest of the key, all notes; private data. Or a Reject with a reason.
//
// FI_EP_MSG: an application that has accepted may wait for something else before it looks at its queues again, so the
// Challenge carries the Welcome, over a random number of the Hello, and the caller is connected with it. The Proof is
// still the first message, and nothing behind it is looked at before it fits. So a listener shows a digest of its key
// to whoever calls: such a key must not be one that can be guessed.
//
// Proof, Welcome and Reject are notes of the TCP transport (impl/transport/net/wire.h), whose rules hold here, too: the
// key never travels, the listener shows nothing that depends on it to someone who has not proved himself, and the port
// in Hello, joined with the address that the connection manager names, is where the caller listens. A connection
// request that is turned down at once is answered by the connection manager with a Refusal and private data.
#pragma once

#include "impl/transport/net/wire.h"

namespace selvage::impl::verbs {

using net::CallKind;
using net::Key;
using net::Note;
using net::NoteType;
using net::Refusal;

inline constexpr size_t kHelloBytes = 56;
inline constexpr size_t kNonceBytes = 16;
inline constexpr size_t kPrivateMax = 32;  // FI_OPT_CM_DATA_SIZE
inline constexpr size_t kChallengeBytes = 48;
inline constexpr size_t kAnswerBytes = kChallengeBytes + kDigestBytes + 4 + kPrivateMax;  // FI_EP_MSG
inline constexpr size_t kRefusalBytes = 8 + kPrivateMax;

// What peers may do with an endpoint's memory by way of the device alone.
inline constexpr uint8_t kAccessByDevice = 1;
inline constexpr uint8_t kAtomicsByDevice = 2;

struct Hello {
    CallKind kind = CallKind::ReliableDatagram;
    uint8_t features = 0;
    // ReliableDatagram.
    uint16_t port = 0;
    uint64_t instance = 0;
    uint32_t sequence = 0;
    // Message.
    uint8_t nonce[kNonceBytes] = {};
    uint8_t data_size = 0;
    uint8_t data[kPrivateMax] = {};
};
struct Challenge {
    uint8_t features = 0;
    uint64_t instance = 0;
    uint32_t sequence = 0;
    uint8_t random[net::kRandomBytes] = {};
};

void write_hello(const Hello& hello, uint8_t (&out)[kHelloBytes]);
bool read_hello(const uint8_t (&bytes)[kHelloBytes], Hello* out);
void write_challenge(const Challenge& challenge, uint8_t (&out)[kChallengeBytes]);
bool read_challenge(const uint8_t (&bytes)[kChallengeBytes], Challenge* out);
size_t write_refusal(Refusal reason, const uint8_t* data, size_t size, uint8_t (&out)[kRefusalBytes]);
// Gone for what this library did not write.
Refusal read_refusal(const void* bytes, size_t size, uint8_t (&data)[kPrivateMax], size_t* data_size);
int error_of(Refusal refusal);

// Both ends have the two first notes in these forms.
class Handshake {
public:
    uint8_t hello[kHelloBytes] = {};
    uint8_t challenge[kChallengeBytes] = {};

    // The caller's proof, and what it expects for an answer; the listener's view of the same.
    size_t prove(const Key& key, CallKind kind, uint8_t (&out)[net::kNoteMax]);
    bool proved(const Key& key, const Note& proof);
    size_t welcome(const Key& key, CallKind kind, const uint8_t* data, size_t size, uint8_t (&out)[net::kNoteMax]);
    bool welcomed(const Key& key, const Note& answer) const;
    // FI_EP_MSG: the challenge and the welcome in one. What the caller reads is false when it does not fit the key.
    void answer(const Key& key, const uint8_t* data, size_t size, uint8_t (&out)[kAnswerBytes]) const;
    bool read_answer(const Key& key, const uint8_t (&bytes)[kAnswerBytes], Note* out) const;

private:
    net::Transcript first() const;
    net::Transcript second() const;

    uint8_t random_[net::kRandomBytes] = {};  // the caller's
};

}  // namespace selvage::impl::verbs
