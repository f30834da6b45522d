// Notes, digests and the send buffer: pure functions over bytes.
#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <random>
#include <string>

#include "impl/transport/net/wire.h"
#include "impl/transport/tcp/send_buffer.h"

namespace selvage::impl::net {
namespace {

Note example() {
    Note note;
    note.type = NoteType::Hello;
    note.kind = CallKind::Message;
    note.port = 0xbeef;
    note.instance = 0x0123456789abcdefULL;
    note.sequence = 77;
    note.data_size = 11;
    memcpy(note.data, "hello world", 11);
    for (size_t i = 0; i < kRandomBytes; ++i) note.random[i] = static_cast<uint8_t>(i);
    return note;
}

TEST(TcpNote, IsReadAsItWasWrittenAndNotBeforeItIsWhole) {
    uint8_t bytes[kNoteMax];
    const size_t size = write_note(example(), bytes);
    EXPECT_EQ(size, kNoteFixed + 11);
    Note note;
    size_t used = 0;
    for (size_t part = 0; part < size; ++part) {
        // A copy of its own size, so that reading past it is seen.
        std::unique_ptr<uint8_t[]> copy(new uint8_t[part]);
        memcpy(copy.get(), bytes, part);
        EXPECT_EQ(read_note(copy.get(), part, &note, &used), Scan::More) << part;
        EXPECT_LE(wanted_bytes(copy.get(), part), size);
        EXPECT_GT(wanted_bytes(copy.get(), part), part);
    }
    ASSERT_EQ(read_note(bytes, size, &note, &used), Scan::Whole);
    EXPECT_EQ(used, size);
    uint8_t again[kNoteMax];
    ASSERT_EQ(write_note(note, again), size);
    EXPECT_EQ(memcmp(bytes, again, size), 0);
}

TEST(TcpNote, AnyChangeOfWhatIsFixedIsNoNote) {
    uint8_t bytes[kNoteMax];
    const size_t size = write_note(example(), bytes);
    Note note;
    size_t used = 0;
    for (const size_t at : {0u, 7u, 8u, 9u, 10u, 11u, 13u, 15u, 18u, 19u}) {
        bytes[at] ^= 0x80;
        EXPECT_EQ(read_note(bytes, size, &note, &used), Scan::Bad) << at;
        bytes[at] ^= 0x80;
    }
    const uint8_t web[] = "GET / HTTP/1.1\r\n";
    EXPECT_EQ(read_note(web, 1, &note, &used), Scan::Bad) << "at its first byte";
}

TEST(TcpNote, RandomBytesNeverReadPastTheirEnd) {
    std::mt19937 random(1);
    uint8_t bytes[kNoteMax];
    for (int round = 0; round < 20000; ++round) {
        const size_t size = write_note(example(), bytes);
        for (int i = 0; i < 3; ++i) bytes[random() % size] = static_cast<uint8_t>(random());
        const size_t part = random() % (size + 1);
        std::unique_ptr<uint8_t[]> copy(new uint8_t[part]);
        memcpy(copy.get(), bytes, part);
        Note note;
        size_t used = 0;
        if (read_note(copy.get(), part, &note, &used) == Scan::Whole) {
            EXPECT_LE(used, part);
            EXPECT_LE(note.data_size, kPrivateMax);
        }
        EXPECT_LE(wanted_bytes(copy.get(), part), kNoteMax);
    }
}

TEST(TcpProof, DependsOnTheKeyTheRoleAndEveryWord) {
    const uint8_t one[] = {1}, two[] = {2};
    const Transcript transcript = make_transcript(one, 1, two, 1);
    uint8_t a[kDigestBytes], b[kDigestBytes];
    prove_caller({one, 1}, transcript, a);
    prove_caller({two, 1}, transcript, b);
    EXPECT_FALSE(same_digest(a, b));
    prove_listener({one, 1}, transcript, Note{}, b);
    EXPECT_FALSE(same_digest(a, b)) << "a proof cannot be sent back";
    Note other;
    other.sequence = 1;
    prove_listener({one, 1}, transcript, other, a);
    EXPECT_FALSE(same_digest(a, b));
    prove_caller({one, 1}, transcript, a);
    prove_caller({one, 1}, make_transcript(one, 1, one, 1), b);
    EXPECT_FALSE(same_digest(a, b));
}

TEST(TcpSendBuffer, GivesBackEveryByteInOrderWhateverTheSocketTakes) {
    std::mt19937 random(7);
    auto buffer = std::make_unique<tcp::SendBuffer>();
    std::string expected, sent;
    std::deque<std::string> memory;
    size_t tokens = 0, done = 0;
    for (int round = 0; round < 20000; ++round) {
        const size_t size = random() % 3000;
        std::string text(size, static_cast<char>(round));
        if (random() % 2 && buffer->room() >= size) {
            buffer->append(text.data(), size);
            expected += text;
        } else if (buffer->can_hold() && size > 2) {
            memory.push_back(text);
            const iovec ranges[2] = {{memory.back().data(), 1}, {memory.back().data() + 1, size - 1}};
            buffer->hold(ranges, 2, reinterpret_cast<void*>(++tokens));
            expected += text;
        }
        iovec pieces[24];
        size_t total = 0;
        const size_t count = buffer->gather(pieces, 24, &total);
        size_t take = total ? random() % (total + 1) : 0;
        const size_t taken = take;
        for (size_t i = 0; i < count && take; ++i) {
            const size_t part = std::min(take, pieces[i].iov_len);
            sent.append(static_cast<char*>(pieces[i].iov_base), part);
            take -= part;
        }
        buffer->advance(taken);
        void* token;
        while (buffer->pop_done(&token)) EXPECT_EQ(token, reinterpret_cast<void*>(++done));
        ASSERT_EQ(sent, expected.substr(0, sent.size()));
        if (sent.size() > 100000) {
            expected.erase(0, sent.size());
            sent.clear();
        }
    }
}

}  // namespace
}  // namespace selvage::impl::net
