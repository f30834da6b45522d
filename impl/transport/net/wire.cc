// See wire.h.
#include "impl/transport/net/wire.h"

#include <algorithm>
#include <cstring>

#include "impl/net/context_id.h"

namespace selvage::impl::net {
namespace {

constexpr uint8_t kMagic[8] = {0xc5, 'S', 'e', 'l', 'v', 'a', 'g', 'e'};

// Offsets of a note on the wire.
constexpr size_t kAtVersion = 8, kAtType = 10, kAtKind = 11, kAtSize = 12, kAtRefusal = 14, kAtPort = 16, kAtZero = 18,
                 kAtSequence = 20, kAtInstance = 24, kAtRandom = 32, kAtDigest = 64;
static_assert(kAtDigest + kDigestBytes == kNoteFixed);

void put16(uint8_t* out, uint16_t value) {
    out[0] = static_cast<uint8_t>(value);
    out[1] = static_cast<uint8_t>(value >> 8);
}

uint16_t get16(const uint8_t* in) { return static_cast<uint16_t>(in[0] | in[1] << 8); }

void put64(uint8_t* out, uint64_t value) {
    for (int i = 0; i < 8; ++i) out[i] = static_cast<uint8_t>(value >> (8 * i));
}

uint64_t get64(const uint8_t* in) {
    uint64_t value = 0;
    for (int i = 0; i < 8; ++i) value |= static_cast<uint64_t>(in[i]) << (8 * i);
    return value;
}

bool known(uint8_t type, uint8_t kind, uint16_t refusal) {
    return type >= static_cast<uint8_t>(NoteType::Hello) && type <= static_cast<uint8_t>(NoteType::Reject) &&
           (kind == static_cast<uint8_t>(CallKind::ReliableDatagram) ||
            kind == static_cast<uint8_t>(CallKind::Message) || kind == static_cast<uint8_t>(CallKind::Rail)) &&
           refusal <= static_cast<uint16_t>(Refusal::Kind);
}

}  // namespace

void put_contexts(const Contexts& contexts, Note* hello) {
    if (!contexts.from && !contexts.to) return;
    put16(hello->data, contexts.from);
    put16(hello->data + 2, contexts.to);
    hello->data_size = 4;
}

bool get_contexts(const Note& hello, Contexts* out) {
    *out = {};
    if (!hello.data_size) return true;
    if (hello.data_size != 4) return false;
    *out = {.from = get16(hello.data), .to = get16(hello.data + 2)};
    return valid_context(out->from) && valid_context(out->to) && !is_transmit_context(out->to);
}

void mark_keyless(Note* hello) { hello->digest[0] |= 1; }

bool is_keyless(const Note& hello) {
    return hello.type == NoteType::Hello && hello.kind == CallKind::ReliableDatagram && (hello.digest[0] & 1);
}

size_t write_note(const Note& note, uint8_t* out) {
    memset(out, 0, kNoteFixed);
    memcpy(out, kMagic, sizeof kMagic);
    put16(out + kAtVersion, kWireVersion);
    out[kAtType] = static_cast<uint8_t>(note.type);
    out[kAtKind] = static_cast<uint8_t>(note.kind);
    const size_t data_size = std::min<size_t>(note.data_size, kPrivateMax);
    put16(out + kAtSize, static_cast<uint16_t>(kNoteFixed + data_size));
    put16(out + kAtRefusal, static_cast<uint16_t>(note.refusal));
    put16(out + kAtPort, note.port);
    put16(out + kAtSequence, static_cast<uint16_t>(note.sequence));
    put16(out + kAtSequence + 2, static_cast<uint16_t>(note.sequence >> 16));
    put64(out + kAtInstance, note.instance);
    memcpy(out + kAtRandom, note.random, kRandomBytes);
    memcpy(out + kAtDigest, note.digest, kDigestBytes);
    memcpy(out + kNoteFixed, note.data, data_size);
    return kNoteFixed + data_size;
}

Scan read_note(const uint8_t* bytes, size_t size, Note* out, size_t* used) {
    if (memcmp(bytes, kMagic, std::min(size, sizeof kMagic)) != 0) return Scan::Bad;
    if (size < kAtPort) return Scan::More;
    const size_t length = get16(bytes + kAtSize);
    if (get16(bytes + kAtVersion) != kWireVersion || length < kNoteFixed || length > kNoteMax) return Scan::Bad;
    if (!known(bytes[kAtType], bytes[kAtKind], get16(bytes + kAtRefusal))) return Scan::Bad;
    if (size < length) return Scan::More;
    for (size_t i = kAtZero; i < kAtSequence; ++i) {
        if (bytes[i]) return Scan::Bad;
    }
    out->type = static_cast<NoteType>(bytes[kAtType]);
    out->kind = static_cast<CallKind>(bytes[kAtKind]);
    out->refusal = static_cast<Refusal>(get16(bytes + kAtRefusal));
    out->port = get16(bytes + kAtPort);
    out->sequence = get16(bytes + kAtSequence) | static_cast<uint32_t>(get16(bytes + kAtSequence + 2)) << 16;
    out->instance = get64(bytes + kAtInstance);
    memcpy(out->random, bytes + kAtRandom, kRandomBytes);
    memcpy(out->digest, bytes + kAtDigest, kDigestBytes);
    out->data_size = static_cast<uint16_t>(length - kNoteFixed);
    memcpy(out->data, bytes + kNoteFixed, out->data_size);
    *used = length;
    return Scan::Whole;
}

size_t wanted_bytes(const uint8_t* bytes, size_t size) {
    if (size < kNoteFixed) return kNoteFixed;
    return std::clamp<size_t>(get16(bytes + kAtSize), kNoteFixed, kNoteMax);
}

Transcript make_transcript(const uint8_t* hello, size_t hello_size, const uint8_t* challenge, size_t challenge_size) {
    Transcript transcript;
    Sha256 hash;
    hash.add(hello, hello_size);
    hash.add(challenge, challenge_size);
    hash.finish(transcript.digest);
    return transcript;
}

void prove_caller(const Key& key, const Transcript& transcript, uint8_t (&digest)[kDigestBytes]) {
    Hmac hmac(key.bytes, key.size);
    hmac.add("caller", 6);
    hmac.add(transcript.digest, sizeof transcript.digest);
    hmac.finish(digest);
}

void prove_listener(const Key& key, const Transcript& transcript, const Note& welcome,
                    uint8_t (&digest)[kDigestBytes]) {
    Note bare = welcome;
    memset(bare.digest, 0, sizeof bare.digest);
    uint8_t bytes[kNoteMax];
    const size_t size = write_note(bare, bytes);
    Hmac hmac(key.bytes, key.size);
    hmac.add("listener", 8);
    hmac.add(transcript.digest, sizeof transcript.digest);
    hmac.add(bytes, size);
    hmac.finish(digest);
}

}  // namespace selvage::impl::net
