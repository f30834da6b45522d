// What is on the wire: notes while a connection is set up, then frames. Pure functions over bytes: no sockets, no
// memory of their own, any input.
//
// A connection begins with a handshake of four notes; only then do frames flow, in both directions:
//
//   caller -> listener   Hello      who calls: kind of endpoint, port of its own listener, instance, a random number,
//                                    private data (FI_EP_MSG), contexts (FI_EP_RDM)
//   listener -> caller   Challenge  a random number
//   caller -> listener   Proof      digest of key, both notes
//   listener -> caller   Welcome    digest of key, both notes, private data; or Reject with a reason
//
// A caller of FI_EP_RDM whose domain has no key says so in its hello (mark_keyless), and is answered by the welcome, or
// the reject, at once: he has nothing to prove. Such a welcome has the random number of the hello, and no digest. A
// listener with a key refuses him. One that does not know the mark, of a release before, challenges him, and he proves
// that he has no key.
//
// Only the two digests depend on the key (the domain's auth_key, possibly empty); it never travels. The listener shows
// nothing that depends on it to someone who has not proved himself. The digests of the two sides differ in a role, so
// neither can be sent back. What follows is neither encrypted nor signed: the key says who may take part, not that the
// network is hostile.
//
// The port in Hello, joined with the address that the kernel names as the sender's, is the caller's own listening
// address: so the source of messages is known without the caller being able to claim another host's.
//
// A note is kNoteFixed bytes and its private data, all numbers little endian. A frame is an impl/engine/frame.h Header
// as it is in memory (both ends have the same byte order: the hello of the other is not understood) and its payload.
#pragma once

#include <cstddef>
#include <cstdint>

#include "impl/base/hmac.h"
#include "impl/engine/frame.h"

namespace selvage::impl::net {

inline constexpr uint16_t kWireVersion = 3;
inline constexpr size_t kRandomBytes = 32;
inline constexpr size_t kPrivateMax = 256;
inline constexpr size_t kNoteFixed = 96;
inline constexpr size_t kNoteMax = kNoteFixed + kPrivateMax;

enum class NoteType : uint8_t { Hello = 1, Challenge, Proof, Welcome, Reject };
// Rail: of an endpoint of reliable datagrams that is connected, by another link (tcp/tcp_rails.h).
enum class CallKind : uint8_t { ReliableDatagram = 1, Message = 2, Rail = 3 };
enum class Refusal : uint16_t {
    None,
    Key,      // the proof does not fit the key
    Crossed,  // the other side's own call to this endpoint is the one that counts
    Taken,    // this address is connected already; perhaps the old end is not known to be gone yet
    Busy,     // no memory or descriptor now
    ByUser,   // fi_reject
    Gone,     // nobody listens any more, or the request was never accepted
    Kind,     // a listener for the other kind of endpoint
};

struct Note {
    NoteType type = NoteType::Hello;
    CallKind kind = CallKind::ReliableDatagram;
    Refusal refusal = Refusal::None;  // Reject
    uint16_t port = 0;                // Hello, host byte order
    uint16_t data_size = 0;
    uint32_t sequence = 0;              // Hello, Welcome: of the calls that the sender made so far
    uint64_t instance = 0;              // Hello, Welcome: of the endpoint, chosen at random
    uint8_t random[kRandomBytes] = {};  // Hello, Challenge; Welcome of who was not challenged
    uint8_t digest[kDigestBytes] = {};  // Proof, Welcome of who was challenged; Hello: mark_keyless
    // Hello, Welcome, Reject of FI_EP_MSG; Hello of FI_EP_RDM (Contexts), Welcome of FI_EP_RDM (tcp/tcp_rails.h)
    uint8_t data[kPrivateMax] = {};
};

// The contexts of scalable endpoints at both ends of a call (net/context_id.h): the data of a hello of FI_EP_RDM, where
// one is not the first.
struct Contexts {
    uint16_t from = 0;
    uint16_t to = 0;
};
void put_contexts(const Contexts& contexts, Note* hello);
// False when the data says anything else.
bool get_contexts(const Note& hello, Contexts* out);

// Of a hello of FI_EP_RDM: the caller has no key and takes a welcome without a challenge. In the first bit of the
// digest, which is zero in other hellos and which releases before this one did not look at; so are the others, and
// nobody looks at them.
void mark_keyless(Note* hello);
bool is_keyless(const Note& hello);

// Returns the length; `out` has kNoteMax bytes.
size_t write_note(const Note& note, uint8_t* out);

enum class Scan : uint8_t {
    More,  // good so far, but not whole
    Whole,
    Bad,
};

// Reads the note at the start of `bytes`; garbage is Bad at its first byte. *used is set with Whole.
Scan read_note(const uint8_t* bytes, size_t size, Note* out, size_t* used);

// How many bytes a reader of notes may hold, given what it has: up to the fixed part, then up to the end of this note.
// A reader that asks for no more never takes a byte of what follows the note.
size_t wanted_bytes(const uint8_t* bytes, size_t size);

// Reads the header of the frame at the start of `bytes`. More: not even a header. Bad: no such frame can be. Whole:
// the header is in *out, and the payload, or the part of it that is there, follows.
inline Scan read_frame(const std::byte* bytes, size_t size, size_t payload_max, Header* out) {
    if (size < sizeof(Header)) return Scan::More;
    __builtin_memcpy(out, bytes, sizeof(Header));
    return out->size <= payload_max ? Scan::Whole : Scan::Bad;
}

// The digest over the hello and the challenge, as they were on the wire: what both proofs are about.
struct Transcript {
    uint8_t digest[kDigestBytes];
};
Transcript make_transcript(const uint8_t* hello, size_t hello_size, const uint8_t* challenge, size_t challenge_size);

struct Key {
    const uint8_t* bytes = nullptr;
    size_t size = 0;
};
void prove_caller(const Key& key, const Transcript& transcript, uint8_t (&digest)[kDigestBytes]);
// Covers the whole welcome but its digest.
void prove_listener(const Key& key, const Transcript& transcript, const Note& welcome, uint8_t (&digest)[kDigestBytes]);

}  // namespace selvage::impl::net
