// FI_EP_DGRAM of verbs against a device inside the process (fake_datagrams.h).
#include <gtest/gtest.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>

#include <chrono>
#include <thread>

#include "impl/test/verbs/dgram_side.h"

namespace selvage::impl::test {
namespace {

constexpr size_t kPacket = DatagramSide::kPacket;

using Side = DatagramSide;

std::string text(size_t size) {
    std::string result(size, '\0');
    for (size_t i = 0; i < size; ++i) result[i] = static_cast<char>(i * 7 + (i >> 8));
    return result;
}

TEST(VerbsDatagrams, ShortOnesGoInlineAndLongOnesFromRegisteredMemory) {
    FakeDatagrams fake;
    Side a(fake), b(fake);
    ASSERT_EQ(a.result, 0);
    const fi_addr_t to = a.address_of(b);
    for (const size_t size : {size_t{0}, size_t{8}, size_t{256}, size_t{257}, kPacket}) {
        const size_t before = fake.inlined;
        const std::string sent = text(size);
        std::string got(size, '?');
        ASSERT_EQ(b.receive(got.data(), size, &got), 0);
        ASSERT_EQ(fi_send(a.ep(), sent.data(), size, nullptr, to, &a), 0);
        EXPECT_EQ(a.next(), 1);
        EXPECT_EQ(a.entry.op_context, &a);
        EXPECT_EQ(b.next(), 1);
        EXPECT_EQ(b.entry.op_context, &got);
        EXPECT_EQ(b.entry.len, size);
        EXPECT_EQ(got, sent);
        EXPECT_EQ(fake.inlined - before, size && size <= 256 ? 1u : 0u);
    }
    EXPECT_EQ(fake.handles_made, 1u);
}

TEST(VerbsDatagrams, ADeviceThatTakesNothingInlineIsServedFromRegisteredMemory) {
    FakeDatagrams fake;
    fake.inline_max = 0;
    Side a(fake);
    const fi_addr_t self = a.address_of(a);
    uint64_t in = 0, out = 77;
    ASSERT_EQ(a.receive(&in, 8), 0);
    ASSERT_EQ(fi_inject(a.ep(), &out, 8, self), 0);
    out = 0;  // the application's again
    EXPECT_EQ(a.next(), 1);
    EXPECT_EQ(in, 77u);
}

TEST(VerbsDatagrams, TheBytesOfAnInjectedDatagramAreTakenAtTheCall) {
    FakeDatagrams fake;
    fake.holds = true;
    Side a(fake), b(fake);
    const fi_addr_t to = a.address_of(b);
    std::string bytes = text(600), got(600, '?');
    ASSERT_EQ(b.receive(got.data(), got.size()), 0);
    ASSERT_EQ(fi_inject(a.ep(), bytes.data(), bytes.size(), to), 0);
    EXPECT_EQ(b.next(), 1);
    EXPECT_EQ(got, bytes);
    fake.release();
    EXPECT_EQ(a.next(), -FI_EAGAIN);  // nothing tells of it
}

TEST(VerbsDatagrams, ASendCompletesWhenTheDeviceSaysSoAndAFullQueueTakesNoMore) {
    FakeDatagrams fake;
    fake.holds = true;
    Side a(fake), b(fake);
    const fi_addr_t to = a.address_of(b);
    uint64_t out = 1;
    size_t posted = 0;
    for (; posted < 1000 && !fi_send(a.ep(), &out, 8, nullptr, to, nullptr); ++posted) continue;
    EXPECT_EQ(posted, 64u);
    EXPECT_EQ(a.path().transmit_left(), 0u);
    EXPECT_EQ(fi_inject(a.ep(), &out, 8, to), -FI_EAGAIN);
    EXPECT_EQ(a.next(), -FI_EAGAIN);
    fake.release();
    for (size_t i = 0; i < posted; ++i) EXPECT_EQ(a.next(), 1);
    EXPECT_EQ(a.path().transmit_left(), 64u);
    EXPECT_EQ(fi_inject(a.ep(), &out, 8, to), 0);
    fake.release();
}

TEST(VerbsDatagrams, WhatComesBeforeAReceiveWaitsInItsBufferAndTheRestIsDropped) {
    FakeDatagrams fake;
    Side a(fake), b(fake);
    const fi_addr_t to = a.address_of(b);
    for (uint64_t i = 0; i < 100; ++i) ASSERT_EQ(fi_inject(a.ep(), &i, 8, to), 0);
    EXPECT_EQ(fake.dropped, 36u);
    EXPECT_EQ(b.next(), -FI_EAGAIN);
    for (uint64_t i = 0; i < 64; ++i) {
        uint64_t in = 1000;
        ASSERT_EQ(b.receive(&in, 8), 0);
        EXPECT_EQ(b.next(), 1);
        EXPECT_EQ(in, i);
    }
    EXPECT_EQ(b.next(), -FI_EAGAIN);
    EXPECT_EQ(fake.receives_posted(b.number()), 64u);
    EXPECT_EQ(b.path().receive_left(), 64u);
}

TEST(VerbsDatagrams, ReceivesBeyondTheQueueAreRefusedAndACancelledOneLeavesItsPlace) {
    FakeDatagrams fake;
    Side a(fake);
    const fi_addr_t self = a.address_of(a);
    std::vector<uint64_t> in(65);
    for (size_t i = 0; i < 64; ++i) ASSERT_EQ(a.receive(&in[i], 8, &in[i]), 0);
    EXPECT_EQ(a.receive(&in[64], 8, &in[64]), -FI_EAGAIN);
    EXPECT_EQ(a.path().cancel(&in[0]), 0);
    EXPECT_EQ(a.path().cancel(&in[0]), -FI_ENOENT);
    EXPECT_EQ(a.next(), -FI_EAVAIL);
    EXPECT_EQ(a.error.err, FI_ECANCELED);
    EXPECT_EQ(a.error.op_context, &in[0]);
    ASSERT_EQ(a.receive(&in[64], 8, &in[64]), 0);
    for (uint64_t i = 1; i <= 64; ++i) {
        ASSERT_EQ(fi_inject(a.ep(), &i, 8, self), 0);
        EXPECT_EQ(a.next(), 1);
        EXPECT_EQ(a.entry.op_context, &in[i]);
        EXPECT_EQ(in[i], i);
    }
}

TEST(VerbsDatagrams, TheSourceIsFoundByEitherKindOfRouteAndNothingElseIsTakenForOne) {
    using verbs::source_gid;
    const Gid own = gid_of_host(1), other = gid_of_host(7);
    uint8_t gid[16];
    const auto told = [&](std::string route, const Gid& port) {
        uint8_t bytes[16];
        memcpy(bytes, port.data(), 16);
        return source_gid(reinterpret_cast<const std::byte*>(route.data()), bytes, gid);
    };
    const auto as_gid = [](const Gid& value) { return std::string(reinterpret_cast<const char*>(value.data()), 16); };
    EXPECT_TRUE(told(ipv4_route(other, own), own));
    EXPECT_EQ(memcmp(gid, other.data(), 16), 0);
    EXPECT_FALSE(told(ipv4_route(other, gid_of_host(9)), own));
    EXPECT_FALSE(told(std::string(40, '\0'), own));
    EXPECT_FALSE(told(std::string(40, '\xff'), own));
    const Gid wide = {0xfd, 0, 0, 0x77, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}, far = {0xfd, 0, 0, 0x77, 9};
    EXPECT_TRUE(told("\x60" + std::string(7, '\0') + as_gid(far) + as_gid(wide), wide));
    EXPECT_EQ(memcmp(gid, far.data(), 16), 0);
    // An IPv4 header says nothing to a port that has no IPv4 address.
    EXPECT_FALSE(told(ipv4_route(other, wide), wide));
    // RoCE of the first version writes the longer header for IPv4 addresses, too.
    EXPECT_TRUE(told("\x60" + std::string(7, '\0') + as_gid(other) + as_gid(own), own));
    EXPECT_EQ(memcmp(gid, other.data(), 16), 0);
}

TEST(VerbsDatagrams, SourcesAreToldByNumberAndUnknownOnesByAddress) {
    FakeDatagrams fake;
    constexpr uint64_t kCaps = FI_MSG | FI_SEND | FI_RECV | FI_SOURCE | FI_SOURCE_ERR;
    Side a(fake), b(fake, kCaps);
    const fi_addr_t to = a.address_of(b);
    (void)b.address_of(b);
    const fi_addr_t known = b.address_of(a);
    uint64_t in = 0, out = 1;
    ASSERT_EQ(b.receive(&in, 8), 0);
    ASSERT_EQ(fi_injectdata(a.ep(), &out, 8, 0xabcdef01, to), 0);
    EXPECT_EQ(b.next(), 1);
    EXPECT_EQ(b.source, known);
    EXPECT_EQ(b.entry.data, 0xabcdef01u);
    EXPECT_EQ(b.entry.flags, FI_RECV | FI_MSG | FI_REMOTE_CQ_DATA);
    ASSERT_EQ(b.receive(&in, 8), 0);
    fake.inject(b.number(), ipv4_route(gid_of_host(5), gid_of_host(1)), "12345678", 0x4321);
    EXPECT_EQ(b.next(), -FI_EAVAIL);
    EXPECT_EQ(b.error.err, FI_EADDRNOTAVAIL);
    ASSERT_EQ(b.error.err_data_size, sizeof(IbAddress));
    IbAddress told;
    memcpy(&told, b.error.err_data, sizeof told);
    EXPECT_EQ(told.queue_pair, 0x4321u);
    EXPECT_EQ(memcmp(told.gid, gid_of_host(5).data(), 16), 0);
    // Without a route there is no address to tell.
    ASSERT_EQ(b.receive(&in, 8), 0);
    fake.inject(b.number(), std::string(40, '\0'), "12345678", 0x4321);
    EXPECT_EQ(b.next(), -FI_EAVAIL);
    EXPECT_EQ(b.error.err_data_size, 0u);
}

TEST(VerbsDatagrams, WhatIsNoDatagramIsDroppedAndItsBufferUsedAgain) {
    FakeDatagrams fake;
    Side a(fake);
    uint64_t in = 5;
    ASSERT_EQ(a.receive(&in, 8), 0);
    for (int i = 0; i < 200; ++i) {
        fake.inject(a.number(), "", std::string(39, 'x'), 1);
        fake.inject(a.number(), "", std::string(40 + kPacket + 1, 'x'), 1);
        EXPECT_EQ(a.next(), -FI_EAGAIN);
    }
    EXPECT_EQ(in, 5u);
    fake.inject(a.number(), std::string(40, 'x'), "12345678", 1);
    EXPECT_EQ(a.next(), 1);
}

TEST(VerbsDatagrams, HandlesAreBoundedAndNoneGoesWhileARequestNamesIt) {
    FakeDatagrams fake;
    Side a(fake, FI_MSG | FI_SEND | FI_RECV, 1024);
    IbAddress peer = a.path().pair().address();
    std::vector<fi_addr_t> all;
    for (uint32_t i = 0; i < 4000; ++i) {
        memcpy(&peer.gid[12], &i, sizeof i);
        all.push_back(a.insert(peer));
    }
    uint64_t out = 0;
    for (const bool holds : {false, true}) {
        fake.holds = holds;
        for (const fi_addr_t to : all) {
            const ssize_t sent = fi_inject(a.ep(), &out, 8, to);
            if (sent == -FI_EAGAIN) {
                fake.release();
                EXPECT_EQ(a.next(), -FI_EAGAIN);
            }
            EXPECT_LE(fake.handles_open(), size_t{verbs::HandleCache::kHandles});
        }
    }
    fake.release();
    EXPECT_GE(fake.handles_open(), 200u);
    // A number whose handle went is not sent to the port that has the handle now.
    fake.holds = false;
    EXPECT_EQ(a.next(), -FI_EAGAIN);
    ASSERT_EQ(fi_inject(a.ep(), &out, 8, all[0]), 0);
    const Gid first = fake.last_to;
    for (size_t i = 0; i < all.size(); ++i) {
        if (i % 256) {
            ASSERT_EQ(fi_inject(a.ep(), &out, 8, all[i]), 0);
        }
    }
    ASSERT_EQ(fi_inject(a.ep(), &out, 8, all[0]), 0);
    EXPECT_EQ(fake.last_to, first);
    // One that is used all the time stays.
    const size_t before = fake.handles_made;
    for (int i = 0; i < 100; ++i) {
        ASSERT_EQ(fi_inject(a.ep(), &out, 8, all[0]), 0);
        ASSERT_EQ(fi_inject(a.ep(), &out, 8, all[static_cast<size_t>(i)]), 0);
    }
    EXPECT_LE(fake.handles_made - before, 100u);
}

TEST(VerbsDatagrams, AnAddressThatWasRemovedOrReplacedIsNotTheOldOne) {
    FakeDatagrams fake;
    Side a(fake), b(fake), c(fake);
    fi_addr_t to = a.address_of(b);
    uint64_t in = 0, out = 1;
    ASSERT_EQ(c.receive(&in, 8), 0);
    ASSERT_EQ(fi_inject(a.ep(), &out, 8, to), 0);
    ASSERT_EQ(fi_av_remove(a.av, &to, 1, 0), 0);
    EXPECT_EQ(fi_inject(a.ep(), &out, 8, to), -FI_EINVAL);
    ASSERT_EQ(a.address_of(c), to);
    ASSERT_EQ(fi_inject(a.ep(), &out, 8, to), 0);
    EXPECT_EQ(c.next(), 1);
}

TEST(VerbsDatagrams, NoWayToAPeerIsAnAnswerOfTheCall) {
    FakeDatagrams fake;
    Side a(fake);
    uint64_t out = 0;
    EXPECT_EQ(fi_send(a.ep(), &out, 8, nullptr, FI_ADDR_NOTAVAIL, nullptr), -FI_EINVAL);
    const fi_addr_t self = a.address_of(a);
    EXPECT_EQ(fi_send(a.ep(), &out, 8, nullptr, 55, nullptr), -FI_EINVAL);
    EXPECT_EQ(fi_send(a.ep(), &out, 8, nullptr, FI_ADDR_NOTAVAIL, nullptr), -FI_EINVAL);
    fake.handle_error = ENETUNREACH;
    EXPECT_EQ(fi_send(a.ep(), &out, 8, nullptr, self, nullptr), -FI_EHOSTUNREACH);
    fake.handle_error = 0;
    EXPECT_EQ(fi_send(a.ep(), &out, 8, nullptr, self, nullptr), 0);
}

TEST(VerbsDatagrams, ASendThatTheDeviceGivesUpOnFailsAloneAndTheEndpointGoesOn) {
    FakeDatagrams fake;
    Side a(fake), b(fake);
    const fi_addr_t to = a.address_of(b), back = b.address_of(a);
    uint64_t in[2] = {}, held = 0, out = 9;
    const uint32_t number = a.number();
    // A datagram waits for a receive, and a receive for a datagram; both outlive the failure.
    ASSERT_EQ(fi_inject(b.ep(), &out, 8, back), 0);
    EXPECT_EQ(a.next(), -FI_EAGAIN);
    fake.next_status = IBV_WC_LOC_QP_OP_ERR;
    ASSERT_EQ(fi_send(a.ep(), &out, 8, nullptr, to, &out), 0);
    EXPECT_EQ(a.next(), -FI_EAVAIL);
    EXPECT_EQ(a.error.err, FI_EIO);
    EXPECT_EQ(a.error.op_context, &out);
    EXPECT_EQ(a.next(), -FI_EAGAIN);
    EXPECT_EQ(a.number(), number);
    EXPECT_EQ(fake.receives_posted(number), 63u);
    ASSERT_EQ(a.receive(&held, 8), 0);
    EXPECT_EQ(a.next(), 1);
    EXPECT_EQ(held, 9u);
    ASSERT_EQ(b.receive(&in[1], 8), 0);
    ASSERT_EQ(fi_send(a.ep(), &out, 8, nullptr, to, nullptr), 0);
    EXPECT_EQ(a.next(), 1);
    EXPECT_EQ(b.next(), 1);
    ASSERT_EQ(a.receive(&in[0], 8), 0);
    ASSERT_EQ(fi_inject(b.ep(), &out, 8, back), 0);
    EXPECT_EQ(a.next(), 1);
    EXPECT_EQ(fake.receives_posted(number), 64u);
}

TEST(VerbsDatagrams, WhatTheDeviceTellsOfAnEarlierLifeIsNotTakenForNews) {
    FakeDatagrams fake;
    fake.tells_late = true;
    Side a(fake);
    const fi_addr_t self = a.address_of(a);
    uint64_t in = 0, out = 1;
    fake.next_status = IBV_WC_LOC_QP_OP_ERR;
    ASSERT_EQ(fi_send(a.ep(), &out, 8, nullptr, self, &out), 0);
    EXPECT_EQ(a.next(), -FI_EAVAIL);
    const size_t started = fake.starts;
    EXPECT_EQ(a.next(), -FI_EAGAIN);
    EXPECT_EQ(a.next(), -FI_EAGAIN);
    EXPECT_EQ(fake.starts, started);
    ASSERT_EQ(a.receive(&in, 8), 0);
    ASSERT_EQ(fi_inject(a.ep(), &out, 8, self), 0);
    EXPECT_EQ(a.next(), 1);
}

TEST(VerbsDatagrams, APairThatDoesNotStartAgainEndsEverything) {
    FakeDatagrams fake;
    Side a(fake);
    const fi_addr_t self = a.address_of(a);
    uint64_t in = 0, out = 1;
    ASSERT_EQ(a.receive(&in, 8, &in), 0);
    fake.next_status = IBV_WC_LOC_QP_OP_ERR;
    fake.starts_again = false;
    ASSERT_EQ(fi_send(a.ep(), &out, 8, nullptr, self, &out), 0);
    EXPECT_EQ(a.next(), -FI_EAVAIL);
    EXPECT_EQ(a.error.op_context, &out);
    EXPECT_EQ(a.next(), -FI_EAVAIL);
    EXPECT_EQ(a.error.op_context, &in);
    EXPECT_EQ(fi_send(a.ep(), &out, 8, nullptr, self, nullptr), -FI_ENODEV);
    EXPECT_EQ(a.receive(&in, 8), -FI_ENODEV);
}

TEST(VerbsDatagrams, ADeviceThatIsRemovedEndsWhatIsPendingAndWakesWhoeverSleeps) {
    FakeDatagrams fake;
    Side a(fake);
    const fi_addr_t self = a.address_of(a);
    uint64_t in = 0, out = 1;
    ASSERT_EQ(a.receive(&in, 8, &in), 0);
    std::thread remover([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(30));
        fake.remove();
    });
    EXPECT_EQ(fi_cq_sread(a.queue->fid, &a.entry, 1, nullptr, 10'000), -FI_EAVAIL);
    remover.join();
    EXPECT_EQ(a.next(), -FI_EAVAIL);
    EXPECT_EQ(a.error.err, FI_ENODEV);
    EXPECT_EQ(a.error.op_context, &in);
    EXPECT_EQ(fi_send(a.ep(), &out, 8, nullptr, self, nullptr), -FI_ENODEV);
}

TEST(VerbsDatagrams, APortsAddressIsTheLastEntryThatHasIt) {
    FakeDatagrams fake;
    fake.gids = {gid_of_host(2), gid_of_host(1), gid_of_host(1), gid_of_host(3)};
    ibv_port_attr attr;
    ASSERT_EQ(fake.library.query_port(fake.domain.context, 1, &attr), 0);
    SocketAddress host;
    host.kind = AddressKind::Inet;
    host.v4.sin_addr.s_addr = htonl(0x0a4d0001);
    IbAddress own;
    uint8_t index = 0;
    ASSERT_EQ(verbs::find_own_address(fake.library, fake.domain.context, 1, attr, host, &own, &index), 0);
    EXPECT_EQ(index, 2);
    EXPECT_EQ(memcmp(own.gid, gid_of_host(1).data(), 16), 0);
    host.v4.sin_addr.s_addr = htonl(0x0a4d0009);
    EXPECT_EQ(verbs::find_own_address(fake.library, fake.domain.context, 1, attr, host, &own, &index), -FI_ENODEV);
    // On InfiniBand an interface has no entry of its own.
    attr.link_layer = IBV_LINK_LAYER_INFINIBAND;
    attr.lid = 17;
    ASSERT_EQ(verbs::find_own_address(fake.library, fake.domain.context, 1, attr, host, &own, &index), 0);
    EXPECT_EQ(memcmp(own.gid, gid_of_host(2).data(), 16), 0);
    EXPECT_EQ(own.local_id, 17);
}

TEST(VerbsDatagrams, AnEndpointOfAnAddressThatThePortHasNotDoesNotStart) {
    FakeDatagrams fake;
    Side a(fake);
    memset(a.endpoint.address.ib.gid, 7, 16);
    verbs::DatagramPath path;
    EXPECT_EQ(path.open(a.endpoint), -FI_EADDRNOTAVAIL);
}

}  // namespace
}  // namespace selvage::impl::test
