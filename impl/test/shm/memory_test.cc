// What an endpoint keeps of peers that came and went.
#include <malloc.h>
#include <sys/stat.h>

#include "impl/test/shm/fake_sink.h"

namespace selvage::impl::test {
namespace {

// Bytes of the heap in use; always 0 where the allocator does not say (sanitizers).
size_t heap_in_use() { return mallinfo2().uordblks + mallinfo2().hblkhd; }

struct ShmVisitors : testing::Test {
    Name home{"home"};
    ShmTransport owner;
    FakeSink sink;
    size_t answered = 0;

    void SetUp() override {
        ASSERT_EQ(owner.open_at(home.text, {}), 0);
        sink.on_deliver = [this](ShmPeer& peer, const Header&, const std::byte*) {
            answered += send_text(owner, peer, "welcome") == SendResult::Done;
        };
    }
    // Some endpoints that come at the same time, say something, are answered, and go.
    void visit(size_t at_once) {
        const size_t before = answered;
        {
            std::vector<ShmTransport> visitors(at_once);
            for (ShmTransport& visitor : visitors) {
                ShmPeer* peer = nullptr;
                ASSERT_EQ(visitor.open_at(Name("visitor").text, {}), 0);
                ASSERT_EQ(visitor.find_peer_at(home.text, &peer), 0);
                send_text(visitor, *peer, "hello");
            }
            ASSERT_TRUE(progress_until(owner, sink, [&] { return answered == before + at_once; }));
        }
        ASSERT_TRUE(progress_until(owner, sink, [&] { return sink.downs.size() == at_once; }));
        sink.downs.clear();
    }
};

TEST_F(ShmVisitors, TenThousandThatCameAndWentLeaveNothingBehind) {
    for (int i = 0; i < 20; ++i) visit(10);
    const size_t before = heap_in_use();
    for (int i = 0; i < 1000; ++i) visit(10);
    const size_t after = heap_in_use();
    EXPECT_EQ(answered, 10'200u);
    EXPECT_LE(after, before + 8192) << "for 10,000 peers; the allocator keeps some blocks in its caches";
}

// The memory is another peer's now, and nothing in it is of the one before.
TEST_F(ShmVisitors, APeerInTheMemoryOfAnotherBeginsAnew) {
    std::vector<ShmPeer*> seen;
    sink.on_deliver = [&](ShmPeer& peer, const Header&, const std::byte*) {
        seen.push_back(&peer);
        EXPECT_EQ(peer.state, nullptr);
        EXPECT_EQ(peer.ahead, kWindowFirst);
        EXPECT_EQ(peer.life, ShmPeerLife::Living);
        EXPECT_EQ(peer.out.lines, nullptr);
        EXPECT_EQ(peer.in.position, 0u);
        peer.ahead = 1;  // as an engine that spent it
        ++answered;
    };
    for (int i = 0; i < 100; ++i) visit(1);
    ASSERT_EQ(seen.size(), 100u);
    EXPECT_NE(std::find(seen.begin() + 1, seen.end(), seen[0]), seen.end()) << "the memory is used again";
    EXPECT_EQ(std::find(seen.begin() + 1, seen.begin() + 10, seen[0]), seen.begin() + 10) << "but not at once";
}

// Of the file behind an endpoint's region.
size_t region_bytes(const Name& name) {
    struct stat status {};
    return stat(file_of(name).c_str(), &status) == 0 ? static_cast<size_t>(status.st_blocks) * 512 : 0;
}

// An owner, and a sender that has just taken a slot of it.
class ShmSlots : public testing::Test {
protected:
    void SetUp() override {
        ASSERT_EQ(owner.open_at(home.text, {}), 0);
        ASSERT_EQ(sender.open_at(there.text, {}), 0);
        ASSERT_EQ(sender.find_peer_at(home.text, &peer), 0);
    }

    Name home{"home"}, there{"there"};
    ShmTransport owner, sender;
    FakeSink at_owner;
    ShmPeer* peer = nullptr;
    const size_t before = shm::kHeaderBytes;  // bytes of the owner's region ahead of the slot
};

TEST_F(ShmSlots, ASenderOfFewMessagesCostsTwoPagesAndOneOfManyAWholeRing) {
    std::vector<std::string> sent;
    const auto send_until = [&](uint64_t position) {
        while (peer->out.position < position) {
            sent.push_back("message " + std::to_string(sent.size()));
            ASSERT_EQ(send_text(sender, *peer, sent.back()), SendResult::Done);
        }
    };
    send_until(shm::kFirstLines - 1);
    EXPECT_EQ(region_bytes(home) - before, shm::kFirstBytes);
    send_until(shm::kRingLines - shm::kAnswerRoom - 1);
    EXPECT_EQ(region_bytes(home) - before, shm::kSlotBytes);
    EXPECT_EQ(send_text(sender, *peer, "no room"), SendResult::Again);
    ASSERT_TRUE(progress_until(owner, at_owner, [&] { return at_owner.arrivals.size() == sent.size(); }));
    for (size_t i = 0; i < sent.size(); ++i) EXPECT_EQ(at_owner.arrivals[i].payload, sent[i]);
}

TEST_F(ShmSlots, AFirstMessageThatIsLongerThanAPageGetsTheWholeRing) {
    const std::string longest(ShmTransport::kFrameMax, 'x');
    ASSERT_EQ(send_text(sender, *peer, longest), SendResult::Done);
    ASSERT_TRUE(progress_until(owner, at_owner, [&] { return at_owner.arrivals.size() == 1; }));
    EXPECT_EQ(at_owner.arrivals[0].payload, longest);
}

}  // namespace
}  // namespace selvage::impl::test
