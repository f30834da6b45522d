// Frames whose payload lies in many ranges, some of them empty, on every path of sending.
#include <gtest/gtest.h>

#include <memory>
#include <random>

#include "impl/test/tcp/fake_sink.h"

namespace selvage::impl::test {
namespace {

// The most ranges that a frame of the engine has (Resolved::kPieces).
constexpr size_t kMost = 64;

struct Pieces {
    std::string text;
    std::vector<iovec> ranges;

    // `size` bytes in `count` ranges; with `gaps`, every third of them is empty.
    Pieces(size_t size, size_t count, bool gaps, uint64_t seed) : text(size, '\0') {
        for (size_t i = 0; i < size; ++i) text[i] = static_cast<char>(seed * 31 + i * 7 + (i >> 8));
        const size_t filled = gaps ? count - (count + 2) / 3 : count;
        for (size_t i = 0, at = 0, used = 0; i < count; ++i) {
            const bool empty = gaps && i % 3 == 0;
            const size_t length = empty ? 0 : ++used == filled ? size - at : size / filled;
            ranges.push_back({text.data() + at, length});
            at += length;
        }
    }
    SendResult send(Side& side, Peer& peer, bool more = false) {
        Header header{};
        header.size = static_cast<uint32_t>(text.size());
        return side.transport.send(peer, {header, ranges.data(), ranges.size(), this, more});
    }
};

struct Connected {
    Side a, b;
    Peer* peer = a.peer(b);
    Connected() {
        send_text(a.transport, *peer, "hello");
        EXPECT_TRUE(run({&a, &b}, [&] { return b.sink.frames.size() == 1; }));
        b.sink.frames.clear();
    }
    // Everything that was sent arrives as it was sent.
    void expect(const std::vector<std::unique_ptr<Pieces>>& sent) {
        ASSERT_TRUE(run({&a, &b}, [&] { return b.sink.frames.size() >= sent.size(); })) << b.sink.frames.size();
        for (size_t i = 0; i < sent.size(); ++i)
            ASSERT_TRUE(b.sink.frames[i].payload == sent[i]->text) << "frame " << i;
        EXPECT_TRUE(a.sink.downs.empty());
        EXPECT_TRUE(b.sink.downs.empty());
    }
};

constexpr size_t kSizes[] = {1, 300, 600, 4096, 4097, 24'000, 200'000};

TEST(TcpPieces, AFrameOfAnyNumberOfRangesArrivesWhenItIsSentAtOnce) {
    for (const size_t size : kSizes) {
        for (size_t count = 3; count <= kMost; ++count) {
            Connected pair;
            std::vector<std::unique_ptr<Pieces>> sent;
            sent.push_back(std::make_unique<Pieces>(size, count, size > count, count));
            ASSERT_NE(sent[0]->send(pair.a, *pair.peer), SendResult::Down) << size << " bytes in " << count;
            ASSERT_NO_FATAL_FAILURE(pair.expect(sent)) << size << " bytes in " << count;
            count += size > 1 ? 7 : 60;
        }
    }
}

TEST(TcpPieces, AFrameOfAnyNumberOfRangesArrivesWhenItHasToWait) {
    Connected pair;
    std::vector<std::unique_ptr<Pieces>> sent;
    std::mt19937 random(7);
    for (int i = 0; i < 400; ++i) {
        const size_t count = 3 + random() % (kMost - 2);
        sent.push_back(std::make_unique<Pieces>(kSizes[1 + random() % (std::size(kSizes) - 1)], count, i % 2, i));
        SendResult result;
        while ((result = sent.back()->send(pair.a, *pair.peer, true)) == SendResult::Again) {
            pair.a.progress();
            pair.b.progress();
        }
        ASSERT_NE(result, SendResult::Down) << i;
    }
    pair.expect(sent);
}

TEST(TcpPieces, AFrameOfAnyNumberOfRangesArrivesWhenTheSocketTakesAPartOfIt) {
    for (const size_t count : {size_t{21}, size_t{40}, size_t{63}, kMost}) {
        Connected pair;
        std::vector<std::unique_ptr<Pieces>> sent;
        // One per round, as each is given to the socket at once; the receiver reads nothing until there is no room.
        SendResult result = SendResult::Done;
        for (int i = 0; i < 10'000 && result != SendResult::Again; ++i) {
            sent.push_back(std::make_unique<Pieces>(200'000, count, i % 2, i));
            result = sent.back()->send(pair.a, *pair.peer);
            ASSERT_NE(result, SendResult::Down);
            pair.a.progress();
        }
        ASSERT_EQ(result, SendResult::Again);
        sent.pop_back();
        ASSERT_NO_FATAL_FAILURE(pair.expect(sent)) << count;
    }
}

TEST(TcpPieces, ABufferThatCanHoldTakesAnyFrameAndGivesItBackWhole) {
    auto buffer = std::make_unique<tcp::SendBuffer>();
    std::mt19937 random(11);
    std::deque<std::unique_ptr<Pieces>> held;
    std::string expected, taken;
    for (int i = 0; i < 20'000; ++i) {
        if (buffer->can_hold()) {
            held.push_back(std::make_unique<Pieces>(5000, 3 + random() % (kMost - 2), random() % 2, i));
            const size_t skip = random() % 4000;
            buffer->hold(held.back()->ranges.data(), held.back()->ranges.size(), held.back().get(), skip);
            expected += held.back()->text.substr(skip);
            if (random() % 2 && buffer->room() > 9) {
                buffer->append("in between", 10);
                expected += "in between";
            }
        }
        iovec pieces[kMost];
        size_t total;
        const size_t count = buffer->gather(pieces, 2 + random() % (kMost - 1), &total);
        ASSERT_GT(total, 0u) << "what is held cannot be sent";
        size_t part = random() % (total + 1);
        const size_t whole = part;
        for (size_t k = 0; k < count && part; ++k) {
            const size_t length = std::min(part, pieces[k].iov_len);
            taken.append(static_cast<const char*>(pieces[k].iov_base), length);
            part -= length;
        }
        buffer->advance(whole);
        ASSERT_EQ(expected.compare(0, taken.size(), taken), 0);
        expected.erase(0, taken.size());
        taken.clear();
        for (void* token; buffer->pop_done(&token);) {
            ASSERT_EQ(token, held.front().get());
            held.pop_front();
        }
        ASSERT_EQ(buffer->empty(), expected.empty());
    }
}

}  // namespace
}  // namespace selvage::impl::test
