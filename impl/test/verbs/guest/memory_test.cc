// Remote memory over a device: what the device does by itself, and what goes by way of the engine.
#include "impl/test/verbs/guest/ends.h"

namespace selvage::test {
namespace {

constexpr int kLocal = kDeviceModes | FI_MR_LOCAL;

// A connection is there, so that what is tried next is about nothing else.
void meet(End& a, End& b, fi_addr_t to_b) {
    uint64_t in = 0, out = 7;
    ASSERT_EQ(fi_recv(b.ep.get(), &in, 8, nullptr, FI_ADDR_UNSPEC, nullptr), 0);
    ASSERT_EQ(fi_send(a.ep.get(), &out, 8, nullptr, to_b, nullptr), 0);
    ASSERT_TRUE(until({&a, &b}, [&] { return !a.done.empty() && !b.done.empty(); }));
    a.done.clear(), b.done.clear();
}

class VerbsMemory : public ::testing::TestWithParam<int> {};

TEST_P(VerbsMemory, WritesAndReadsMoveEveryLength) {
    End a({.mr_mode = GetParam()}), b({.mr_mode = GetParam()});
    const fi_addr_t to_b = a.address_of(b);
    constexpr size_t kMost = 3'000'000;
    Registered remote(b, kMost), source(a, kMost), sink(a, kMost);
    for (const size_t size : {1u, 8u, 256u, 257u, 8704u, 8705u, 100'000u, 3'000'000u}) {
        const std::string sent = pattern(size, static_cast<unsigned>(size));
        memcpy(source.bytes.data(), sent.data(), size);
        a.done.clear();
        ASSERT_EQ(fi_write(a.ep.get(), source.bytes.data(), size, fi_mr_desc(source.region.get()), to_b, remote.address,
                           remote.key, nullptr),
                  0);
        ASSERT_TRUE(until({&a, &b}, [&] { return a.done.size() == 1; })) << size;
        EXPECT_EQ(remote.bytes.substr(0, size), sent) << size;
        ASSERT_EQ(fi_read(a.ep.get(), sink.bytes.data(), size, fi_mr_desc(sink.region.get()), to_b, remote.address,
                          remote.key, nullptr),
                  0);
        ASSERT_TRUE(until({&a, &b}, [&] { return a.done.size() == 2; })) << size;
        EXPECT_EQ(sink.bytes.substr(0, size), sent) << size;
    }
    EXPECT_TRUE(a.failures.empty());
}

// Registered by the application, registered for the time of the access, and by the engine under the application's keys.
INSTANTIATE_TEST_SUITE_P(Modes, VerbsMemory, ::testing::Values(kLocal, kDeviceModes, 0));

TEST(VerbsMemoryByDevice, TheTargetNeedNotLookForAnAccessToComplete) {
    End a, b;
    ASSERT_EQ(a.info->domain_attr->mr_mode & kDeviceModes, kDeviceModes);
    const fi_addr_t to_b = a.address_of(b);
    meet(a, b, to_b);
    Registered remote(b, 100'000);
    std::string out = pattern(100'000, 5), in(100'000, '?');
    ASSERT_EQ(fi_write(a.ep.get(), out.data(), out.size(), nullptr, to_b, remote.address, remote.key, nullptr), 0);
    ASSERT_EQ(fi_read(a.ep.get(), in.data(), in.size(), nullptr, to_b, remote.address, remote.key, nullptr), 0);
    ASSERT_TRUE(until({&a}, [&] { return a.done.size() == 2; })) << "b does nothing here";
    EXPECT_EQ(in, out);
    EXPECT_EQ(remote.bytes, out);
}

TEST(VerbsMemoryByDevice, DataOfAWriteReachesTheTargetsQueueWhateverItsWidth) {
    End a, b;
    const fi_addr_t to_b = a.address_of(b);
    meet(a, b, to_b);
    Registered remote(b, 4096);
    const std::string out = pattern(4096, 9);
    for (const uint64_t data : {uint64_t{0x1234}, uint64_t{0xfedcba9876543210}}) {
        b.done.clear();
        ASSERT_EQ(
            fi_writedata(a.ep.get(), out.data(), out.size(), nullptr, data, to_b, remote.address, remote.key, nullptr),
            0);
        ASSERT_TRUE(until({&a, &b}, [&] { return !b.done.empty(); }));
        EXPECT_EQ(b.done[0].data, data);
        EXPECT_EQ(b.done[0].len, out.size());
        EXPECT_TRUE(b.done[0].flags & FI_REMOTE_WRITE);
        EXPECT_EQ(remote.bytes, out);
    }
}

TEST(VerbsMemoryByDevice, ManyWritesWaitForRoomAndArriveInOrder) {
    End a, b;
    const fi_addr_t to_b = a.address_of(b);
    Registered remote(b, 8);
    constexpr uint64_t kCount = 500;
    uint64_t posted = 0;
    std::vector<uint64_t> values(kCount);
    ASSERT_TRUE(until({&a, &b}, [&] {
        for (; posted < kCount; ++posted) {
            values[posted] = posted + 1;
            if (fi_write(a.ep.get(), &values[posted], 8, nullptr, to_b, remote.address, remote.key, nullptr)) break;
        }
        return a.done.size() == kCount;
    })) << a.done.size();
    uint64_t last;
    memcpy(&last, remote.bytes.data(), sizeof last);
    EXPECT_EQ(last, kCount);
}

TEST(VerbsMemoryByDevice, AKeyOfNobodyIsAnErrorAndThePeerIsReachedAgain) {
    End a, b;
    const fi_addr_t to_b = a.address_of(b);
    meet(a, b, to_b);
    Registered remote(b, 4096);
    uint64_t out = 1;
    ASSERT_EQ(fi_write(a.ep.get(), &out, 8, nullptr, to_b, remote.address, remote.key ^ 0x5500, &out), 0);
    ASSERT_TRUE(until({&a, &b}, [&] { return !a.failures.empty(); }));
    EXPECT_EQ(a.failures[0].err, FI_EACCES);
    EXPECT_EQ(a.failures[0].op_context, &out);
    // Outside of the region.
    until({&a, &b},
          [&] { return !fi_write(a.ep.get(), &out, 8, nullptr, to_b, remote.address + 4092, remote.key, &out); });
    ASSERT_TRUE(until({&a, &b}, [&] { return a.failures.size() >= 2; }));
    EXPECT_EQ(a.failures[1].err, FI_EACCES);
    uint64_t in = 0;
    ASSERT_EQ(fi_recv(b.ep.get(), &in, 8, nullptr, FI_ADDR_UNSPEC, nullptr), 0);
    until({&a, &b}, [&] { return !fi_send(a.ep.get(), &out, 8, nullptr, to_b, nullptr); });
    ASSERT_TRUE(until({&a, &b}, [&] { return in == 1; }));
}

TEST(VerbsMemoryByDevice, AtomicsGiveWhatWasThereAndApply) {
    End a, b;
    const fi_addr_t to_b = a.address_of(b);
    Registered remote(b, 64);
    uint64_t add = 5, before = 0, compare = 0, swap = 100;
    const auto now = [&] {
        uint64_t value;
        memcpy(&value, remote.bytes.data(), sizeof value);
        return value;
    };
    for (uint64_t round = 0; round < 3; ++round) {
        a.done.clear();
        ASSERT_EQ(fi_fetch_atomic(a.ep.get(), &add, 1, nullptr, &before, nullptr, to_b, remote.address, remote.key,
                                  FI_UINT64, FI_SUM, nullptr),
                  0);
        ASSERT_TRUE(until({&a, &b}, [&] { return !a.done.empty(); }));
        EXPECT_EQ(before, round * 5);
        EXPECT_EQ(now(), round * 5 + 5);
    }
    compare = 15;
    a.done.clear();
    ASSERT_EQ(fi_compare_atomic(a.ep.get(), &swap, 1, nullptr, &compare, nullptr, &before, nullptr, to_b,
                                remote.address, remote.key, FI_UINT64, FI_CSWAP, nullptr),
              0);
    ASSERT_TRUE(until({&a, &b}, [&] { return !a.done.empty(); }));
    EXPECT_EQ(before, 15u);
    EXPECT_EQ(now(), 100u);
    a.done.clear();
    ASSERT_EQ(fi_atomic(a.ep.get(), &add, 1, nullptr, to_b, remote.address, remote.key, FI_UINT64, FI_SUM, nullptr), 0);
    ASSERT_TRUE(until({&a, &b}, [&] { return !a.done.empty(); }));
    EXPECT_EQ(now(), 105u);
}

TEST(VerbsMemoryByDevice, AtomicsNeedNotTheTargetsHelpWhereTheUserAllowsIt) {
    if (!getenv("FI_VERBS_DEVICE_ATOMICS")) GTEST_SKIP() << "FI_VERBS_DEVICE_ATOMICS is not set";
    End a, b;
    const fi_addr_t to_b = a.address_of(b);
    meet(a, b, to_b);
    Registered remote(b, 64);
    uint64_t add = 5, before = 1;
    ASSERT_EQ(fi_fetch_atomic(a.ep.get(), &add, 1, nullptr, &before, nullptr, to_b, remote.address, remote.key,
                              FI_UINT64, FI_SUM, nullptr),
              0);
    ASSERT_TRUE(until({&a}, [&] { return !a.done.empty(); })) << "b does nothing here";
    EXPECT_EQ(before, 0u);
}

TEST(VerbsMemoryByDevice, AWriteBehindAnAtomicOfTheEngineComesAfterIt) {
    End a, b;
    const fi_addr_t to_b = a.address_of(b);
    meet(a, b, to_b);
    Registered remote(b, 64);
    uint64_t one = 1, hundred = 100;
    ASSERT_EQ(fi_atomic(a.ep.get(), &one, 1, nullptr, to_b, remote.address, remote.key, FI_UINT64, FI_MAX, nullptr), 0);
    ASSERT_EQ(fi_write(a.ep.get(), &hundred, 8, nullptr, to_b, remote.address, remote.key, nullptr), 0);
    ASSERT_EQ(fi_atomic(a.ep.get(), &one, 1, nullptr, to_b, remote.address, remote.key, FI_UINT64, FI_BOR, nullptr), 0);
    ASSERT_TRUE(until({&a, &b}, [&] { return a.done.size() == 3; }));
    uint64_t value;
    memcpy(&value, remote.bytes.data(), sizeof value);
    EXPECT_EQ(value, 101u);
}

}  // namespace
}  // namespace selvage::test
