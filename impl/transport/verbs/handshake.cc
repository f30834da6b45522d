// See handshake.h.
#include "impl/transport/verbs/handshake.h"

#include <algorithm>
#include <bit>

#include "impl/transport/net/dial.h"
#include "impl/transport/net/sockets.h"

namespace selvage::impl::verbs {
namespace {

// Version and, as frames are sent as they are in memory, the byte order.
constexpr uint8_t kMagic[3] = {'S', 'v', std::endian::native == std::endian::little ? 6 : 0x86};

template <typename Number>
void put(uint8_t* out, Number value) {
    for (size_t i = 0; i < sizeof value; ++i) out[i] = static_cast<uint8_t>(value >> (8 * i));
}
template <typename Number>
Number take(const uint8_t* bytes) {
    Number value = 0;
    for (size_t i = 0; i < sizeof value; ++i) value |= static_cast<Number>(Number{bytes[i]} << (8 * i));
    return value;
}
bool has_magic(const uint8_t* bytes) { return std::equal(kMagic, kMagic + sizeof kMagic, bytes); }

}  // namespace

void write_hello(const Hello& hello, uint8_t (&out)[kHelloBytes]) {
    std::fill(out, out + kHelloBytes, uint8_t{0});
    std::copy(kMagic, kMagic + sizeof kMagic, out);
    out[3] = static_cast<uint8_t>(hello.kind);
    out[4] = hello.features;
    out[5] = hello.data_size;
    put(out + 6, hello.port);
    if (hello.kind == CallKind::Message) {
        std::copy(hello.nonce, hello.nonce + kNonceBytes, out + 8);
        std::copy(hello.data, hello.data + hello.data_size, out + 8 + kNonceBytes);
    } else {
        put(out + 8, hello.instance);
        put(out + 16, hello.sequence);
    }
}

bool read_hello(const uint8_t (&bytes)[kHelloBytes], Hello* out) {
    *out = Hello{};
    if (!has_magic(bytes)) return false;
    out->kind = static_cast<CallKind>(bytes[3]);
    out->features = bytes[4];
    if (out->kind == CallKind::Message) {
        out->data_size = bytes[5];
        if (out->data_size > kPrivateMax) return false;
        const uint8_t* data = bytes + 8 + kNonceBytes;
        std::copy(bytes + 8, data, out->nonce);
        std::copy(data, data + out->data_size, out->data);
        return true;
    }
    if (out->kind != CallKind::ReliableDatagram) return false;
    out->port = take<uint16_t>(bytes + 6);
    out->instance = take<uint64_t>(bytes + 8);
    out->sequence = take<uint32_t>(bytes + 16);
    return out->port != 0;
}

void write_challenge(const Challenge& challenge, uint8_t (&out)[kChallengeBytes]) {
    std::copy(kMagic, kMagic + sizeof kMagic, out);
    out[3] = challenge.features;
    put(out + 4, challenge.sequence);
    put(out + 8, challenge.instance);
    std::copy(challenge.random, challenge.random + net::kRandomBytes, out + 16);
}

bool read_challenge(const uint8_t (&bytes)[kChallengeBytes], Challenge* out) {
    if (!has_magic(bytes)) return false;
    out->features = bytes[3];
    out->sequence = take<uint32_t>(bytes + 4);
    out->instance = take<uint64_t>(bytes + 8);
    std::copy(bytes + 16, bytes + 16 + net::kRandomBytes, out->random);
    return true;
}

size_t write_refusal(Refusal reason, const uint8_t* data, size_t size, uint8_t (&out)[kRefusalBytes]) {
    size = std::min(size, kPrivateMax);
    std::fill(out, out + kRefusalBytes, uint8_t{0});
    std::copy(kMagic, kMagic + sizeof kMagic, out);
    out[3] = static_cast<uint8_t>(reason);
    out[4] = static_cast<uint8_t>(size);
    if (size) std::copy(data, data + size, out + 8);
    return kRefusalBytes;
}

Refusal read_refusal(const void* bytes, size_t size, uint8_t (&data)[kPrivateMax], size_t* data_size) {
    *data_size = 0;
    const auto* from = static_cast<const uint8_t*>(bytes);
    if (!from || size < kRefusalBytes || !has_magic(from)) return Refusal::Gone;
    if (from[4] > kPrivateMax || from[3] > static_cast<uint8_t>(Refusal::Kind)) return Refusal::Gone;
    *data_size = from[4];
    std::copy(from + 8, from + 8 + from[4], data);
    return static_cast<Refusal>(from[3]);
}

int error_of(Refusal refusal) { return net::error_of(refusal); }

net::Transcript Handshake::first() const {
    return net::make_transcript(hello, sizeof hello, challenge, sizeof challenge);
}

// The caller's number is in it, so that no old welcome fits.
net::Transcript Handshake::second() const {
    const net::Transcript before = first();
    return net::make_transcript(before.digest, sizeof before.digest, random_, sizeof random_);
}

size_t Handshake::prove(const Key& key, CallKind kind, uint8_t (&out)[net::kNoteMax]) {
    net::fill_random(random_, sizeof random_);
    Note proof;
    proof.type = NoteType::Proof;
    proof.kind = kind;
    std::copy(random_, random_ + sizeof random_, proof.random);
    net::prove_caller(key, first(), proof.digest);
    return net::write_note(proof, out);
}

bool Handshake::proved(const Key& key, const Note& proof) {
    uint8_t expected[kDigestBytes];
    net::prove_caller(key, first(), expected);
    std::copy(proof.random, proof.random + sizeof random_, random_);
    return proof.type == NoteType::Proof && same_digest(expected, proof.digest);
}

size_t Handshake::welcome(const Key& key, CallKind kind, const uint8_t* data, size_t size,
                          uint8_t (&out)[net::kNoteMax]) {
    Note note;
    note.type = NoteType::Welcome;
    note.kind = kind;
    note.data_size = static_cast<uint16_t>(std::min(size, sizeof note.data));
    if (note.data_size) std::copy(data, data + note.data_size, note.data);
    net::prove_listener(key, second(), note, note.digest);
    return net::write_note(note, out);
}

bool Handshake::welcomed(const Key& key, const Note& answer) const {
    uint8_t expected[kDigestBytes];
    net::prove_listener(key, second(), answer, expected);
    return answer.type == NoteType::Welcome && same_digest(expected, answer.digest);
}

void Handshake::answer(const Key& key, const uint8_t* data, size_t size, uint8_t (&out)[kAnswerBytes]) const {
    Note note;
    note.type = NoteType::Welcome;
    note.kind = CallKind::Message;
    note.data_size = static_cast<uint16_t>(std::min(size, kPrivateMax));
    if (note.data_size) std::copy(data, data + note.data_size, note.data);
    net::prove_listener(key, first(), note, note.digest);
    std::fill(out, out + kAnswerBytes, uint8_t{0});
    uint8_t* at = std::copy(challenge, challenge + kChallengeBytes, out);
    at = std::copy(note.digest, note.digest + kDigestBytes, at);
    *at = static_cast<uint8_t>(note.data_size);
    std::copy(note.data, note.data + note.data_size, at + 4);
}

bool Handshake::read_answer(const Key& key, const uint8_t (&bytes)[kAnswerBytes], Note* out) const {
    const uint8_t* at = bytes + kChallengeBytes;
    *out = Note{};
    out->type = NoteType::Welcome;
    out->kind = CallKind::Message;
    std::copy(at, at + kDigestBytes, out->digest);
    at += kDigestBytes;
    if (*at > kPrivateMax) return false;
    out->data_size = *at;
    std::copy(at + 4, at + 4 + out->data_size, out->data);
    uint8_t expected[kDigestBytes];
    net::prove_listener(key, first(), *out, expected);
    return same_digest(expected, out->digest);
}

}  // namespace selvage::impl::verbs
