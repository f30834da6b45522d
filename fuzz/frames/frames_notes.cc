// Fuzz target: the notes with which a TCP connection begins (impl/transport/net/wire.h), as anyone may send them.
//
// What must hold: reading looks at no byte behind the ones that are there; a whole note is no longer than a note may
// be; what came whole is whole whatever follows, and not before; writing what was read gives what was read again; a
// reader that asks for as many bytes as wanted_bytes() says takes none of what follows the note.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "impl/transport/net/wire.h"

namespace selvage::impl::net {
namespace {

[[noreturn]] void fail(const char* what) {
    std::fprintf(stderr, "selvage: notes: %s\n", what);
    std::abort();
}
void check(bool holds, const char* what) {
    if (!holds) fail(what);
}

bool same(const Note& a, const Note& b) {
    return a.type == b.type && a.kind == b.kind && a.refusal == b.refusal && a.port == b.port &&
           a.data_size == b.data_size && a.sequence == b.sequence && a.instance == b.instance &&
           std::memcmp(a.random, b.random, sizeof a.random) == 0 &&
           std::memcmp(a.digest, b.digest, sizeof a.digest) == 0 && std::memcmp(a.data, b.data, a.data_size) == 0;
}

// Of an exact copy, so that AddressSanitizer sees every byte too far.
Scan read(const std::uint8_t* bytes, std::size_t size, Note& note, std::size_t& used) {
    const std::unique_ptr<std::uint8_t[]> exact(new std::uint8_t[size]);
    if (size != 0) std::memcpy(exact.get(), bytes, size);
    return read_note(exact.get(), size, &note, &used);
}

void check_whole(const std::uint8_t* bytes, const Note& note, std::size_t used) {
    check(used >= kNoteFixed && used <= kNoteMax, "a note of an impossible length");
    check(wanted_bytes(bytes, used) == used, "a reader would take more or less than the note");
    std::uint8_t written[kNoteMax];
    check(write_note(note, written) == used, "written, it has another length");
    Note again;
    std::size_t used_again = 0;
    check(read_note(written, used, &again, &used_again) == Scan::Whole && used_again == used && same(note, again),
          "written and read, it is another");
    Note before;
    for (std::size_t part = 0; part < used; part += 1 + part / 4)
        check(read(bytes, part, before, used_again) == Scan::More, "whole, or bad, before it is there");
}

void check_frames(const std::uint8_t* bytes, std::size_t size) {
    constexpr std::size_t kPayloadMax = 16384;
    Header header;
    const Scan scan = read_frame(reinterpret_cast<const std::byte*>(bytes), size, kPayloadMax, &header);
    check((scan == Scan::More) == (size < sizeof header), "a frame without a header");
    check(scan != Scan::Whole || header.size <= kPayloadMax, "a frame that is longer than any");
}

}  // namespace
}  // namespace selvage::impl::net

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace selvage::impl::net;
    Note note;
    std::size_t used = 0;
    const Scan scan = read(data, size, note, used);
    if (scan == Scan::Whole) {
        check(used <= size, "a note that is not all there");
        check_whole(data, note, used);
    }
    check(wanted_bytes(data, size) >= kNoteFixed && wanted_bytes(data, size) <= kNoteMax, "a reader wants too much");
    check_frames(data, size);
    return 0;
}
