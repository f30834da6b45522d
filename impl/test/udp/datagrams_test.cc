// FI_EP_DGRAM over UDP sockets: what is sent, what arrives, and what peers and networks can do to it.
#include <poll.h>
#include <sys/epoll.h>

#include <atomic>
#include <cstdarg>

#include "impl/endpoint/datapath.h"
#include "impl/test/next_symbol.h"
#include "impl/test/udp/side.h"

namespace {

// What the kernel says to the next sends in place of taking them, when it is not 0.
std::atomic<int> refusal{0};
std::atomic<int> sends_seen{0};
std::atomic<bool> no_watch{false};

}  // namespace

extern "C" int epoll_ctl(int epoll, int change, int descriptor, epoll_event* event) noexcept {
    int type = 0;
    socklen_t size = sizeof type;
    if (no_watch && change == EPOLL_CTL_ADD && getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &type, &size) == 0) {
        errno = ENOSPC;
        return -1;
    }
    return SELVAGE_NEXT(epoll_ctl)(epoll, change, descriptor, event);
}

// The library's system calls for datagrams go through here.
extern "C" long syscall(long number, ...) {
    va_list list;
    va_start(list, number);
    long argument[6];
    for (long& each : argument) each = va_arg(list, long);
    va_end(list);
    if (number == SYS_sendto || number == SYS_sendmsg || number == SYS_sendmmsg) {
        ++sends_seen;
        if (refusal) {
            errno = refusal;
            return -1;
        }
    }
    return SELVAGE_NEXT(syscall)(number, argument[0], argument[1], argument[2], argument[3], argument[4], argument[5]);
}

namespace selvage::impl::test {
namespace {

constexpr uint64_t kWithSource = FI_MSG | FI_SEND | FI_RECV | FI_SOURCE;

void expect_every_size(AddressKind kind, const std::vector<size_t>& sizes) {
    UdpSide a({.caps = kWithSource, .kind = kind}), b({.caps = kWithSource, .kind = kind});
    a.enable();
    b.enable();
    const fi_addr_t to = a.insert(b.address());
    const fi_addr_t from = b.insert(a.address());
    for (const size_t size : sizes) {
        const std::string sent = pattern(size);
        std::string got(size, '?');
        ASSERT_EQ(b.receive(got.data(), size, &got), 0);
        ASSERT_EQ(a.send(sent.data(), size, to, &a), 0);
        EXPECT_EQ(a.next(), 1);
        EXPECT_EQ(a.entry.op_context, &a);
        EXPECT_EQ(a.entry.flags, FI_SEND | FI_MSG);
        ASSERT_EQ(b.next(), 1) << size;
        EXPECT_EQ(b.entry.op_context, &got);
        EXPECT_EQ(b.entry.flags, FI_RECV | FI_MSG);
        EXPECT_EQ(b.entry.len, size);
        EXPECT_EQ(b.source, from);
        EXPECT_EQ(got, sent);
    }
}

TEST(UdpDatagrams, ADatagramOfAnySizeArrivesWithItsSource) {
    expect_every_size(AddressKind::Inet, {0, 1, 8, 1472, UdpSide::kMessageMax});
    expect_every_size(AddressKind::Inet6, {0, 1, 8, 1452, UdpSide::kMessageMax});
}

TEST(UdpDatagrams, RangesAreGatheredAndScattered) {
    UdpSide a, b;
    const fi_addr_t to = a.enable().insert(b.enable().address());
    std::string sent = pattern(100), got(100, '?');
    const iovec out[] = {{sent.data(), 30}, {sent.data() + 30, 0}, {sent.data() + 30, 70}};
    const iovec in[] = {{got.data(), 64}, {got.data() + 64, 36}};
    for (int several = 0; several < 2; ++several) {
        got.assign(100, '?');
        ASSERT_EQ(fi_recvv(b.ep(), in, nullptr, 2, FI_ADDR_UNSPEC, &b), 0);
        ASSERT_EQ(fi_sendv(a.ep(), out, nullptr, 3, to, &a), 0);
        EXPECT_EQ(b.next(), 1);
        EXPECT_EQ(b.entry.buf, got.data());
        EXPECT_EQ(got, sent);
    }
    ASSERT_EQ(fi_recvv(b.ep(), nullptr, nullptr, 0, FI_ADDR_UNSPEC, &b), 0);
    ASSERT_EQ(fi_sendv(a.ep(), nullptr, nullptr, 0, to, &a), 0);
    EXPECT_EQ(b.next(), 1);
    EXPECT_EQ(b.entry.len, 0u);
}

TEST(UdpDatagrams, WhatArrivesBeforeItsReceiveWaits) {
    UdpSide a, b;
    const fi_addr_t to = a.enable().insert(b.enable().address());
    for (const char* text : {"one", "two", "six"}) ASSERT_EQ(fi_inject(a.ep(), text, 3, to), 0);
    EXPECT_TRUE(b.is_quiet());
    std::string got[3] = {"???", "???", "???"};
    for (std::string& each : got) ASSERT_EQ(b.receive(each.data(), 3, &each), 0);
    for (std::string& each : got) {
        ASSERT_EQ(b.next(), 1);
        EXPECT_EQ(b.entry.op_context, &each);
    }
    EXPECT_EQ(got[0] + got[1] + got[2], "onetwosix");
}

TEST(UdpDatagrams, MoreReceivesThanOneSystemCallTakesAreFilledInOrder) {
    UdpSide a, b({.caps = kWithSource, .size = 256});
    const fi_addr_t to = a.enable().insert(b.enable().address());
    b.insert(a.address());
    constexpr uint64_t kCount = 150;
    uint64_t got[kCount] = {};
    for (uint64_t& each : got) ASSERT_EQ(b.receive(&each, sizeof each, &each), 0);
    for (uint64_t i = 0; i < kCount; ++i) ASSERT_EQ(fi_inject(a.ep(), &i, sizeof i, to), 0);
    for (uint64_t i = 0; i < kCount; ++i) {
        ASSERT_EQ(b.next(), 1);
        EXPECT_EQ(b.entry.op_context, &got[i]);
        EXPECT_EQ(got[i], i);
        EXPECT_NE(b.source, FI_ADDR_NOTAVAIL);
    }
}

TEST(UdpDatagrams, ADatagramLongerThanItsReceiveIsCutAndReported) {
    UdpSide a, b;
    const fi_addr_t to = a.enable().insert(b.enable().address());
    const std::string sent = pattern(100);
    for (const size_t posted : {size_t{1}, size_t{3}}) {  // taken alone, and among others
        std::string got[3];
        for (size_t i = 0; i < posted; ++i) {
            got[i].assign(50, '?');
            ASSERT_EQ(b.receive(got[i].data(), 40, &got[i]), 0);
        }
        for (size_t i = 0; i < posted; ++i) ASSERT_EQ(fi_inject(a.ep(), sent.data(), sent.size(), to), 0);
        for (size_t i = 0; i < posted; ++i) {
            ASSERT_EQ(b.next(), -FI_EAVAIL);
            EXPECT_EQ(b.error.err, FI_ETRUNC);
            EXPECT_EQ(b.error.len, 40u);
            EXPECT_EQ(b.error.olen, 60u);
            EXPECT_EQ(b.error.op_context, &got[i]);
            EXPECT_EQ(got[i], sent.substr(0, 40) + std::string(10, '?'));
        }
    }
}

TEST(UdpDatagrams, ADatagramOfAStrangerTakesOneReceiveAndHasNoSource) {
    UdpSide a({.caps = kWithSource}), known({.caps = kWithSource});
    a.enable().insert(known.enable().address());
    PlainSocket unknown;
    std::string got(UdpSide::kMessageMax, '?');
    for (const size_t size : {size_t{0}, size_t{1}, size_t{2000}, UdpSide::kMessageMax}) {
        unknown.send(a.address(), pattern(size));
        ASSERT_EQ(a.receive(got.data(), got.size()), 0);
        ASSERT_EQ(a.next(), 1) << size;
        EXPECT_EQ(a.entry.len, size);
        EXPECT_EQ(a.source, FI_ADDR_NOTAVAIL);
        EXPECT_EQ(got.substr(0, size), pattern(size));
    }
}

TEST(UdpDatagrams, AnUnknownSourceIsAnErrorWithItsAddressWhereThatIsAskedFor) {
    UdpSide a({.caps = kWithSource | FI_SOURCE_ERR});
    PlainSocket unknown;
    unknown.send(a.enable().address(), "who?");
    char got[4];
    ASSERT_EQ(a.receive(got, sizeof got, &a), 0);
    ASSERT_EQ(a.next(), -FI_EAVAIL);
    EXPECT_EQ(a.error.err, FI_EADDRNOTAVAIL);
    EXPECT_EQ(a.error.len, 4u);
    ASSERT_EQ(a.error.err_data_size, sizeof(sockaddr_in));
    EXPECT_EQ(memcmp(a.error.err_data, &unknown.address.v4, offsetof(sockaddr_in, sin_zero)), 0);
    // Once it is known, it is no error.
    const fi_addr_t from = a.insert(unknown.address);
    unknown.send(a.address(), "me");
    ASSERT_EQ(a.receive(got, sizeof got, &a), 0);
    EXPECT_EQ(a.next(), 1);
    EXPECT_EQ(a.source, from);
}

// Linux answers each with a message that the port cannot be reached (ECONNREFUSED).
TEST(UdpDatagrams, DatagramsToNobodyFailNoLaterCall) {
    UdpSide a, b;
    a.enable();
    SocketAddress nobody;
    {
        PlainSocket gone;
        nobody = gone.address;
    }
    const fi_addr_t to_nobody = a.insert(nobody), to = a.insert(b.enable().address());
    uint64_t got = 0;
    for (uint64_t i = 1; i <= 20; ++i) {
        ASSERT_EQ(a.send(&i, sizeof i, to_nobody), 0);
        EXPECT_EQ(a.next(), 1);
        ASSERT_EQ(b.receive(&got, sizeof got), 0);
        ASSERT_EQ(a.send(&i, sizeof i, to), 0);
        EXPECT_EQ(a.next(), 1);
        EXPECT_EQ(b.next(), 1);
        EXPECT_EQ(got, i);
    }
    EXPECT_TRUE(a.is_quiet());
}

TEST(UdpDatagrams, ASendThatTheKernelRefusesFailsAlone) {
    UdpSide a, b;
    const fi_addr_t to = a.enable().insert(b.enable().address());
    SocketAddress everybody = loopback(AddressKind::Inet, 9);
    everybody.v4.sin_addr.s_addr = INADDR_BROADCAST;
    const fi_addr_t refused = a.insert(everybody);
    EXPECT_EQ(a.send("x", 1, refused), -FI_EACCES);
    // Among others that leave together it has an entry of its own.
    int contexts[3];
    ASSERT_EQ(a.send_text("one", to, FI_MORE, &contexts[0]), 0);
    ASSERT_EQ(a.send_text("bad", refused, FI_MORE, &contexts[1]), 0);
    ASSERT_EQ(a.send_text("two", to, 0, &contexts[2]), 0);
    ASSERT_EQ(a.next(), 1);
    EXPECT_EQ(a.entry.op_context, &contexts[0]);
    ASSERT_EQ(a.next(), -FI_EAVAIL);
    EXPECT_EQ(a.error.op_context, &contexts[1]);
    EXPECT_EQ(a.error.err, FI_EACCES);
    ASSERT_EQ(a.next(), 1);
    EXPECT_EQ(a.entry.op_context, &contexts[2]);
    char got[3];
    for (const char* text : {"one", "two"}) {
        ASSERT_EQ(b.receive(got, 3), 0);
        ASSERT_EQ(b.next(), 1);
        EXPECT_EQ(memcmp(got, text, 3), 0);
    }
}

TEST(UdpDatagrams, SendsWithMoreToFollowLeaveInOneSystemCall) {
    UdpSide a, b;
    const fi_addr_t to = a.enable().insert(b.enable().address());
    sends_seen = 0;
    for (const char* text : {"a", "b", "c"}) ASSERT_EQ(a.send_text(text, to, FI_MORE, &a), 0);
    EXPECT_EQ(sends_seen, 0);
    ASSERT_EQ(a.send_text("d", to, 0, &a), 0);
    EXPECT_EQ(sends_seen, 1);
    for (int i = 0; i < 4; ++i) EXPECT_EQ(a.next(), 1);
    // Nothing follows: progress sends them.
    ASSERT_EQ(a.send_text("e", to, FI_MORE, &a), 0);
    EXPECT_EQ(a.next(), 1);
    // What is to be injected leaves at once, and behind them.
    ASSERT_EQ(a.send_text("f", to, FI_MORE, &a), 0);
    ASSERT_EQ(fi_inject(a.ep(), "g", 1, to), 0);
    std::string got;
    for (int i = 0; i < 7; ++i) {
        char one;
        ASSERT_EQ(b.receive(&one, 1), 0);
        ASSERT_EQ(b.next(), 1);
        got += one;
    }
    EXPECT_EQ(got, "abcdefg");
}

TEST(UdpDatagrams, ASendThatTheKernelHasNoRoomForWaitsAndCompletes) {
    UdpSide a, b;
    const fi_addr_t to = a.enable().insert(b.enable().address());
    for (const int full : {EAGAIN, ENOBUFS}) {
        refusal = full;
        EXPECT_EQ(fi_inject(a.ep(), "x", 1, to), -FI_EAGAIN);
        size_t posted = 0;
        while (posted < 1000 && a.send("y", 1, to, &a) == 0) ++posted;
        EXPECT_EQ(posted, size_t{udp::kBatch});
        EXPECT_EQ(a.send("y", 1, to, &a), -FI_EAGAIN);
        EXPECT_EQ(a.endpoint->path->transmit_left(), 64 - posted);
        EXPECT_TRUE(a.is_quiet());
        refusal = 0;
        for (size_t i = 0; i < posted; ++i) EXPECT_EQ(a.next(), 1);
        EXPECT_TRUE(a.is_quiet());
    }
}

TEST(UdpDatagrams, ASleeperWakesForADatagramOnceThereIsAReceiveForIt) {
    UdpSide a, b;
    const fi_addr_t to = a.enable().insert(b.enable().address());
    fid* waits[] = {&b.queue->fid->fid};
    pollfd descriptor{b.queue->descriptor(), POLLIN, 0};
    ASSERT_EQ(fabric_trywait(&b.place.fabric.descriptor, waits, 1), 0);
    ASSERT_EQ(fi_inject(a.ep(), "early", 5, to), 0);
    // The receive side watched until then; the look that this leads to finds nothing to do.
    poll(&descriptor, 1, 100);
    EXPECT_EQ(fi_cq_read(b.queue->fid, &b.entry, 1), -FI_EAGAIN);
    ASSERT_EQ(fabric_trywait(&b.place.fabric.descriptor, waits, 1), 0);
    EXPECT_EQ(poll(&descriptor, 1, 50), 0) << "nobody can take what is there";
    char got[5];
    ASSERT_EQ(b.receive(got, sizeof got), 0);
    EXPECT_EQ(poll(&descriptor, 1, 2000), 1);
    EXPECT_EQ(b.next(), 1);
    ASSERT_EQ(b.receive(got, sizeof got), 0);
    ASSERT_EQ(fabric_trywait(&b.place.fabric.descriptor, waits, 1), 0);
    EXPECT_EQ(poll(&descriptor, 1, 20), 0);
    ASSERT_EQ(fi_inject(a.ep(), "later", 5, to), 0);
    EXPECT_EQ(poll(&descriptor, 1, 2000), 1);
    EXPECT_EQ(b.next(), 1);
}

// With receives and without: the thread of the library sleeps on the sockets meanwhile.
TEST(UdpDatagrams, WithAutomaticProgressADatagramIsPlacedWithoutACall) {
    UdpSide a, b({.progress = FI_PROGRESS_AUTO});
    const fi_addr_t to = a.enable().insert(b.enable().address());
    for (const char* text : {"1", "2", "3"}) {
        std::atomic<char> got{'?'};
        const bool early = *text == '2';
        const auto send = [&] { EXPECT_EQ(fi_inject(a.ep(), text, 1, to), 0); };
        if (early) send();
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        ASSERT_EQ(b.receive(&got, 1), 0);
        if (!early) send();
        for (int i = 0; i < 2000 && got == '?'; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        EXPECT_EQ(got, *text);
        EXPECT_EQ(b.next(), 1);
    }
}

// The kernel calls who watches a socket for each datagram that arrives.
TEST(UdpDatagrams, SocketsAreNotWatchedWhileSomebodyLooks) {
    UdpSide a, b;
    const fi_addr_t to = a.enable().insert(b.enable().address());
    fid* waits[] = {&b.queue->fid->fid};
    pollfd path{b.endpoint->path->wait_descriptor(), POLLIN, 0};
    char got[2];
    for (char& each : got) ASSERT_EQ(b.receive(&each, 1), 0);
    ASSERT_EQ(fabric_trywait(&b.place.fabric.descriptor, waits, 1), 0);
    ASSERT_EQ(fi_inject(a.ep(), "1", 1, to), 0);
    EXPECT_EQ(poll(&path, 1, 2000), 1);
    EXPECT_EQ(b.next(), 1);
    for (uint32_t i = 0; i < 2 * udp::kLooksPerWatch; ++i) EXPECT_EQ(fi_cq_read(b.queue->fid, &b.entry, 1), -FI_EAGAIN);
    ASSERT_EQ(fi_inject(a.ep(), "2", 1, to), 0);
    EXPECT_EQ(poll(&path, 1, 20), 0);
    EXPECT_TRUE(b.endpoint->path->arm());
    EXPECT_EQ(poll(&path, 1, 2000), 1) << "what is there already wakes who sleeps next";
    EXPECT_EQ(b.next(), 1);
}

TEST(UdpDatagrams, WhoCannotBeWokenLooksByItself) {
    UdpSide a, b;
    const fi_addr_t to = a.enable().insert(b.enable().address());
    no_watch = true;
    char got;
    ASSERT_EQ(b.receive(&got, 1), 0);
    EXPECT_FALSE(b.endpoint->path->arm());
    std::thread later([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(30));
        EXPECT_EQ(fi_inject(a.ep(), "x", 1, to), 0);
    });
    EXPECT_EQ(fi_cq_sread(b.queue->fid, &b.entry, 1, nullptr, 5000), 1);
    later.join();
    no_watch = false;
}

TEST(UdpDatagrams, ABlockingReadWakesForSendsThatTheKernelTakesLater) {
    UdpSide a, b;
    const fi_addr_t to = a.enable().insert(b.enable().address());
    refusal = EAGAIN;
    ASSERT_EQ(a.send("x", 1, to, &a), 0);
    std::thread kernel([] {
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        refusal = 0;
    });
    EXPECT_EQ(fi_cq_sread(a.queue->fid, &a.entry, 1, nullptr, 5000), 1);
    kernel.join();
}

TEST(UdpDatagrams, ACancelledReceiveGivesItsPlaceUp) {
    UdpSide a, b;
    const fi_addr_t to = a.enable().insert(b.enable().address());
    char got[3][1];
    for (auto& each : got) ASSERT_EQ(b.receive(each, 1, each), 0);
    ASSERT_EQ(fi_cancel(&b.ep()->fid, got[1]), 0);
    EXPECT_EQ(fi_cancel(&b.ep()->fid, &a), -FI_ENOENT);
    ASSERT_EQ(b.next(), -FI_EAVAIL);
    EXPECT_EQ(b.error.err, FI_ECANCELED);
    for (const char* text : {"1", "2"}) ASSERT_EQ(fi_inject(a.ep(), text, 1, to), 0);
    EXPECT_EQ(b.next(), 1);
    EXPECT_EQ(b.next(), 1);
    EXPECT_EQ(b.entry.op_context, got[2]);
    EXPECT_EQ(got[2][0], '2');
}

TEST(UdpDatagrams, LimitsAndFlagsAreChecked) {
    UdpSide a({.caps = FI_MSG | FI_SEND | FI_RECV, .size = 2});
    const fi_addr_t self = a.enable().insert(a.address());
    static char bytes[UdpSide::kMessageMax + 1];
    EXPECT_EQ(a.send(bytes, sizeof bytes, self), -FI_EMSGSIZE);
    EXPECT_EQ(fi_inject(a.ep(), bytes, sizeof bytes, self), -FI_EMSGSIZE);
    EXPECT_EQ(a.send(bytes, 1, self + 1), -FI_EINVAL);
    EXPECT_EQ(a.send_text("x", self, FI_REMOTE_CQ_DATA), -FI_EBADFLAGS);
    EXPECT_EQ(fi_senddata(a.ep(), bytes, 1, nullptr, 7, self, nullptr), -FI_ENOSYS) << "cq_data_size is 0";
    EXPECT_EQ(fi_tsend(a.ep(), bytes, 1, nullptr, self, 1, nullptr), -FI_ENOSYS);
    EXPECT_EQ(a.receive(bytes, 1), 0);
    EXPECT_EQ(a.receive(bytes, 1), 0);
    EXPECT_EQ(a.receive(bytes, 1), -FI_EAGAIN) << "rx_attr.size";
    EXPECT_EQ(a.endpoint->path->receive_left(), 0u);
}

TEST(UdpDatagrams, CountersCountAndSelectiveQueuesHaveNoEntriesUnasked) {
    UdpSide a({.queue_flags = FI_TRANSMIT | FI_RECV | FI_SELECTIVE_COMPLETION});
    fi_cntr_attr attr{};
    fid_cntr *sent, *received;
    ASSERT_EQ(domain_open_counter(&a.place.domain.descriptor, &attr, &sent, nullptr), 0);
    ASSERT_EQ(domain_open_counter(&a.place.domain.descriptor, &attr, &received, nullptr), 0);
    ASSERT_EQ(fi_ep_bind(a.ep(), &sent->fid, FI_SEND), 0);
    ASSERT_EQ(fi_ep_bind(a.ep(), &received->fid, FI_RECV), 0);
    const fi_addr_t self = a.enable().insert(a.address());
    char got[2];
    for (char& each : got) ASSERT_EQ(a.receive(&each, 1), 0);
    ASSERT_EQ(a.send("1", 1, self), 0);
    ASSERT_EQ(fi_inject(a.ep(), "2", 1, self), 0);
    EXPECT_EQ(fi_cntr_wait(received, 2, 2000), 0);
    EXPECT_EQ(fi_cntr_read(sent), 2u);
    EXPECT_TRUE(a.is_quiet());
    ASSERT_EQ(a.send_text("3", self, FI_COMPLETION, &a), 0);
    EXPECT_EQ(a.next(), 1);
    a.close_endpoint();
    EXPECT_EQ(fi_close(&sent->fid), 0);
    EXPECT_EQ(fi_close(&received->fid), 0);
}

TEST(UdpDatagrams, APortThatIsTakenIsSaidToBe) {
    UdpSide a, b;
    b.endpoint->address = a.enable().address();
    EXPECT_EQ(fi_enable(b.ep()), -FI_EADDRINUSE);
}

TEST(UdpDatagrams, AKeyThatNobodyIsAskedForIsRefused) {
    UdpSide a;
    a.place.domain.attr.auth_key_size = 8;
    EXPECT_EQ(fi_enable(a.ep()), -FI_EINVAL);
}

TEST(UdpDatagrams, AnEndpointAtEveryAddressIsNamedByItsInterface) {
    UdpSide a({.wildcard = true}), b;
    const SocketAddress address = a.enable().address();
    EXPECT_TRUE(address.is_loopback());
    const fi_addr_t to = b.enable().insert(address);
    char got;
    ASSERT_EQ(a.receive(&got, 1), 0);
    ASSERT_EQ(fi_inject(b.ep(), "w", 1, to), 0);
    EXPECT_EQ(a.next(), 1);
}

TEST(UdpDatagrams, ThreadsSendAndReceiveOnOneEndpoint) {
    UdpSide a({.size = 512}), b({.size = 512});
    const fi_addr_t to = a.enable().insert(b.enable().address());
    constexpr int kEach = 2000;
    std::atomic<int> got{0};
    std::atomic<bool> stop{false};
    std::vector<std::thread> threads;
    for (int t = 0; t < 2; ++t) {
        threads.emplace_back([&] {
            uint64_t buffer[8];
            fi_cq_data_entry entry;
            while (!stop) {
                (void)b.receive(buffer, sizeof buffer, &got);
                if (fi_cq_read(b.queue->fid, &entry, 1) == 1) ++got;
            }
        });
        threads.emplace_back([&] {
            for (uint64_t i = 0; i < kEach; ++i) {
                while (fi_inject(a.ep(), &i, sizeof i, to) == -FI_EAGAIN) continue;
            }
        });
    }
    threads[1].join();
    threads[3].join();
    for (int quiet = 0, last = -1; quiet < 20; last = got) {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        quiet = got == last ? quiet + 1 : 0;
    }
    stop = true;
    threads[0].join();
    threads[2].join();
    EXPECT_GT(got, 0);  // how many the kernel drops is its own affair
    EXPECT_LE(got, 2 * kEach);
}

}  // namespace
}  // namespace selvage::impl::test
