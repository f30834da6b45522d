// Long messages that the devices carry from memory to memory, sent by one or read by the other: memory that the
// application has registered, and that the library keeps registered for it.
#include "impl/test/verbs/guest/ends.h"
#include "impl/test/verbs/mapping.h"

namespace selvage::test {
namespace {

// Connected queue pairs of this process.
size_t queue_pairs() {
    FILE* list = popen("rdma resource show qp", "r");
    if (!list) return 0;
    const std::string here = " pid " + std::to_string(getpid()) + " ";
    char line[512];
    size_t count = 0;
    while (fgets(line, sizeof line, list)) {
        const std::string text = line;
        count +=
            text.find("type RC") != text.npos && text.find("state RTS") != text.npos && text.find(here) != text.npos;
    }
    return pclose(list) ? 0 : count;
}

const Request kNaming{.mr_mode = kDeviceModes | FI_MR_LOCAL};

// Two ends, and memory of each that is registered for messages alone.
class VerbsLong : public ::testing::Test {
protected:
    static constexpr size_t kSize = 2 << 20;

    VerbsLong() : a(kNaming), b(kNaming), source(a, kSize, FI_SEND | FI_RECV), place(b, kSize, FI_SEND | FI_RECV) {
        to_b = a.address_of(b);
    }
    void* of(Registered& memory) { return memory.region.get() ? fi_mr_desc(memory.region.get()) : nullptr; }
    // From and to an offset; false when it did not arrive.
    bool moves(size_t size, size_t from, size_t to) {
        source.bytes.replace(from, size, pattern(size, static_cast<unsigned>(size + from)));
        place.bytes.assign(kSize, '?');
        a.done.clear(), b.done.clear();
        EXPECT_EQ(fi_recv(b.ep.get(), &place.bytes[to], size, of(place), FI_ADDR_UNSPEC, nullptr), 0);
        EXPECT_EQ(fi_send(a.ep.get(), &source.bytes[from], size, of(source), to_b, nullptr), 0);
        if (!until({&a, &b}, [&] { return !a.done.empty() && !b.done.empty(); })) return false;
        EXPECT_EQ(b.done[0].len, size);
        EXPECT_EQ(place.bytes.compare(to, size, source.bytes, from, size), 0) << size;
        EXPECT_EQ(place.bytes.substr(0, to), std::string(to, '?'));
        EXPECT_EQ(place.bytes.substr(to + size), std::string(kSize - to - size, '?'));
        return true;
    }

    End a, b;
    Registered source, place;
    fi_addr_t to_b;
};

TEST_F(VerbsLong, MessagesOfEveryLengthGoFromMemoryToMemory) {
    for (const size_t size : {8192u, 8193u, 16383u, 16384u, 65'536u, 262'143u, 262'144u, 1'000'001u}) {
        for (const size_t offset : {size_t{0}, size_t{1}, size_t{4097}}) ASSERT_TRUE(moves(size, offset, 2 * offset));
    }
}

TEST_F(VerbsLong, TheyHaveAQueuePairOfTheirOwnAndOthersNeedNone) {
    ASSERT_TRUE(moves(8192, 0, 0));
    EXPECT_EQ(queue_pairs(), 2u) << "one of each end";
    ASSERT_TRUE(moves(65'536, 0, 0));
    EXPECT_EQ(queue_pairs(), 4u);
    ASSERT_TRUE(moves(65'536, 0, 0));
    EXPECT_EQ(queue_pairs(), 4u);
}

// The receiver's word is waited for where the application wants delivery.
TEST_F(VerbsLong, DeliveryIsToldAfterTheReceiverHasIt) {
    source.bytes.replace(0, 100'000, pattern(100'000, 3));
    const iovec range{source.bytes.data(), 100'000};
    void* descriptor = of(source);
    fi_msg message{};
    message.msg_iov = &range;
    message.desc = &descriptor;
    message.iov_count = 1;
    message.addr = to_b;
    ASSERT_EQ(fi_recv(b.ep.get(), place.bytes.data(), kSize, of(place), FI_ADDR_UNSPEC, nullptr), 0);
    ASSERT_EQ(fi_sendmsg(a.ep.get(), &message, FI_COMPLETION | FI_DELIVERY_COMPLETE), 0);
    bool early = false;
    ASSERT_TRUE(until({&a, &b}, [&] {
        early |= !a.done.empty() && b.done.empty();
        return !a.done.empty();
    }));
    EXPECT_FALSE(early);
    ASSERT_EQ(b.done.size(), 1u);
    EXPECT_EQ(place.bytes.compare(0, 100'000, source.bytes, 0, 100'000), 0);
}

// More ranges than a region keeps.
TEST_F(VerbsLong, ManyRangesOfARegionAreSentInTurn) {
    for (size_t round = 0; round < 40; ++round) ASSERT_TRUE(moves(262'144, round % 13 * 120'000, round * 100));
}

TEST_F(VerbsLong, ManyAtOnceArriveInOrderBeyondTheRoomOfTheDevice) {
    constexpr size_t kCount = 200, kEach = 20'000;
    std::string sent = pattern(64 * kEach, 5);
    source.bytes.replace(0, sent.size(), sent);
    size_t posted = 0, taken = 0;
    ASSERT_TRUE(until(
        {&a, &b},
        [&] {
            while (posted < kCount &&
                   !fi_send(a.ep.get(), &source.bytes[posted % 64 * kEach], kEach, of(source), to_b, nullptr)) {
                ++posted;
            }
            while (taken < kCount && taken - b.done.size() < 64 &&
                   !fi_recv(b.ep.get(), &place.bytes[taken % 64 * kEach], kEach, of(place), FI_ADDR_UNSPEC, &taken)) {
                ++taken;
            }
            return b.done.size() == kCount && a.done.size() == kCount;
        },
        60));
    EXPECT_EQ(place.bytes.compare(0, 8 * kEach, sent, 192 % 64 * kEach, 8 * kEach), 0);
    EXPECT_TRUE(a.failures.empty() && b.failures.empty());
}

TEST_F(VerbsLong, AMessageThatIsTooLongIsCutAndNothingBehindTheBufferIsWritten) {
    for (const size_t size : {100'000u, 400'000u}) {
        const size_t room = size / 2;
        source.bytes.replace(0, size, pattern(size, 1));
        place.bytes.assign(kSize, '?');
        b.failures.clear();
        ASSERT_EQ(fi_recv(b.ep.get(), place.bytes.data(), room, of(place), FI_ADDR_UNSPEC, nullptr), 0);
        ASSERT_EQ(fi_send(a.ep.get(), source.bytes.data(), size, of(source), to_b, nullptr), 0);
        ASSERT_TRUE(until({&a, &b}, [&] { return !b.failures.empty(); }));
        EXPECT_EQ(b.failures[0].err, FI_ETRUNC);
        EXPECT_EQ(b.failures[0].olen, size - room);
        EXPECT_EQ(place.bytes.compare(0, room, source.bytes, 0, room), 0);
        EXPECT_EQ(place.bytes.find_last_not_of('?'), room - 1);
    }
}

// Memory that is registered again, or elsewhere, is not taken for what was there before.
TEST_F(VerbsLong, ARegionThatIsClosedTakesWhatWasKeptOfItAlong) {
    ASSERT_TRUE(moves(65'536, 0, 0));
    ASSERT_TRUE(moves(300'000, 0, 0));
    for (int round = 0; round < 3; ++round) {
        ASSERT_EQ(source.region.close(), 0);
        source.bytes = std::string(kSize, 'x');
        ASSERT_EQ(fi_mr_reg(a.domain.get(), source.bytes.data(), kSize, FI_SEND, 0, Registered::next_key()++, 0,
                            source.region.out(), nullptr),
                  0);
        ASSERT_TRUE(moves(65'536, 0, 0));
        ASSERT_TRUE(moves(300'000, 0, 0));
    }
}

TEST_F(VerbsLong, AManyMessageBufferTakesLongOnesAndShortOnes) {
    source.bytes.replace(0, 70'000, pattern(70'000, 9));
    const iovec range{place.bytes.data(), kSize};
    void* descriptor = of(place);
    fi_msg buffer{};
    buffer.msg_iov = &range;
    buffer.desc = &descriptor;
    buffer.iov_count = 1;
    buffer.addr = FI_ADDR_UNSPEC;
    ASSERT_EQ(fi_recvmsg(b.ep.get(), &buffer, FI_MULTI_RECV), 0);
    for (const size_t size : {70'000u, 100u, 30'000u}) {
        ASSERT_EQ(fi_send(a.ep.get(), source.bytes.data(), size, of(source), to_b, nullptr), 0);
    }
    ASSERT_TRUE(until({&a, &b}, [&] { return b.done.size() == 3 && a.done.size() == 3; }));
    size_t found = 0;
    for (const auto& entry : b.done) {
        const auto at = static_cast<size_t>(static_cast<char*>(entry.buf) - place.bytes.data());
        EXPECT_EQ(place.bytes.compare(at, entry.len, source.bytes, 0, entry.len), 0);
        found += entry.len;
    }
    EXPECT_EQ(found, 100'100u);
}

TEST_F(VerbsLong, AMessageThatNobodyFetchedGoesWithItsSender) {
    auto other = std::make_unique<End>(kNaming);
    Registered memory(*other, kSize, FI_SEND);
    const fi_addr_t to = other->address_of(b);
    ASSERT_EQ(fi_send(other->ep.get(), memory.bytes.data(), kSize, of(memory), to, nullptr), 0);
    const auto passes = [&](std::vector<End*> ends) {
        const auto start = std::chrono::steady_clock::now();
        until(ends, [&] { return std::chrono::steady_clock::now() - start > std::chrono::milliseconds(500); });
    };
    passes({other.get(), &b});
    ASSERT_EQ(other->ep.close(), 0);
    ASSERT_EQ(memory.region.close(), 0);
    passes({&b});
    ASSERT_TRUE(moves(65'536, 0, 0));
}

// Nothing is registered by the application. At every length the later ones come from registrations that are kept.
class VerbsKept : public ::testing::Test {
protected:
    VerbsKept() { to_b = a.address_of(b); }
    void moves(size_t size) {
        const std::string sent = pattern(size, ++seed);
        memcpy(source.bytes, sent.data(), size);
        memset(place.bytes, '?', size);
        a.done.clear(), b.done.clear();
        ASSERT_EQ(fi_recv(b.ep.get(), place.bytes, size, nullptr, FI_ADDR_UNSPEC, nullptr), 0);
        ASSERT_EQ(fi_send(a.ep.get(), source.bytes, size, nullptr, to_b, nullptr), 0);
        ASSERT_TRUE(until({&a, &b}, [&] { return !a.done.empty() && !b.done.empty(); }));
        ASSERT_TRUE(memcmp(place.bytes, sent.data(), size) == 0) << size;
    }

    End a, b;
    Mapping source{1 << 20}, place{1 << 20};
    fi_addr_t to_b;
    unsigned seed = 0;
};

TEST_F(VerbsKept, MessagesOfEveryLengthArriveTimeAndAgain) {
    for (const size_t size : {16'383u, 16'384u, 65'536u, 262'144u, 1'000'001u}) {
        for (int round = 0; round < 4; ++round) ASSERT_NO_FATAL_FAILURE(moves(size));
    }
}

// The device would read from the pages that were there before, and write to them.
TEST_F(VerbsKept, OtherPagesAtTheSameAddressesAreSentAndReceivedInto) {
    for (const size_t size : {65'536u, 300'000u}) {
        for (int round = 0; round < 12; ++round) {
            ASSERT_NO_FATAL_FAILURE(moves(size));
            if (round % 4 == 1) source.renew('s');
            if (round % 4 == 2) place.renew('p');
            if (round % 4 == 3) {
                ASSERT_EQ(madvise(source.bytes, source.size, MADV_DONTNEED), 0);
                ASSERT_EQ(madvise(place.bytes, place.size, MADV_DONTNEED), 0);
            }
        }
    }
}

TEST_F(VerbsKept, MemoryThatOthersShareIsSentAndReceivedInto) {
    Mapping shared(1 << 20, MAP_SHARED);
    std::swap(shared.bytes, source.bytes);
    for (int round = 0; round < 3; ++round) ASSERT_NO_FATAL_FAILURE(moves(65'536));
    std::swap(shared.bytes, place.bytes);
    for (int round = 0; round < 3; ++round) ASSERT_NO_FATAL_FAILURE(moves(300'000));
}

}  // namespace
}  // namespace selvage::test
