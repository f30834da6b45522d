// FI_EP_DGRAM over a device.
#include <poll.h>
#include <rdma/fi_errno.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <thread>

#include "impl/test/verbs/guest/ends.h"

namespace selvage::test {
namespace {

const Request kDatagrams{.provider = "verbs", .type = FI_EP_DGRAM, .caps = FI_MSG, .mr_mode = 0, .order = 0};

Request request_for(uint64_t more_caps) {
    Request request = kDatagrams;
    request.caps |= more_caps;
    return request;
}

// Two ends that know each other.
struct Couple {
    explicit Couple(const Request& request = kDatagrams)
        : a(request), b(request), to_b(a.address_of(b)), to_a(b.address_of(a)) {}
    bool until(const std::function<bool()>& holds) { return test::until({&a, &b}, holds); }
    End a, b;
    fi_addr_t to_b, to_a;
};

TEST(VerbsDgram, DatagramsOfEveryLengthArriveAsTheyWereSentBothWays) {
    Couple two;
    const size_t longest = two.a.info->ep_attr->max_msg_size;
    EXPECT_EQ(longest, two.a.info->nic->link_attr->mtu);
    for (const size_t size :
         {size_t{0}, size_t{1}, size_t{220}, size_t{256}, size_t{257}, size_t{1000}, longest - 1, longest}) {
        for (const bool back : {false, true}) {
            End& from = back ? two.b : two.a;
            End& to = back ? two.a : two.b;
            const std::string sent = pattern(size, static_cast<unsigned>(size) + back);
            std::string got(size, '?');
            two.a.done.clear(), two.b.done.clear();
            ASSERT_EQ(fi_recv(to.ep.get(), got.data(), size, nullptr, FI_ADDR_UNSPEC, &got), 0);
            ASSERT_EQ(fi_send(from.ep.get(), sent.data(), size, nullptr, back ? two.to_a : two.to_b, &two), 0);
            ASSERT_TRUE(two.until([&] { return !two.a.done.empty() && !two.b.done.empty(); })) << size;
            EXPECT_EQ(to.done[0].op_context, &got);
            EXPECT_EQ(to.done[0].flags, FI_RECV | FI_MSG);
            EXPECT_EQ(to.done[0].len, size);
            EXPECT_EQ(to.done[0].buf, got.data());
            EXPECT_EQ(from.done[0].op_context, &two);
            EXPECT_EQ(from.done[0].flags, FI_SEND | FI_MSG);
            EXPECT_EQ(got, sent) << size;
        }
    }
}

TEST(VerbsDgram, WhatDoesNotFitIntoAPacketIsRefused) {
    Couple two;
    const size_t longest = two.a.info->ep_attr->max_msg_size;
    const std::string bytes(longest + 1, 'x');
    EXPECT_EQ(fi_send(two.a.ep.get(), bytes.data(), longest + 1, nullptr, two.to_b, nullptr), -FI_EMSGSIZE);
    EXPECT_EQ(fi_inject(two.a.ep.get(), bytes.data(), longest + 1, two.to_b), -FI_EMSGSIZE);
    EXPECT_EQ(fi_send(two.a.ep.get(), bytes.data(), 8, nullptr, 77, nullptr), -FI_EINVAL);
}

TEST(VerbsDgram, WhatADatagramEndpointDoesNotDoAnswersThatIt) {
    Couple two;
    uint64_t word = 0;
    fid_ep* ep = two.a.ep.get();
    EXPECT_EQ(fi_tsend(ep, &word, 8, nullptr, two.to_b, 0, nullptr), -FI_ENOSYS);
    EXPECT_EQ(fi_write(ep, &word, 8, nullptr, two.to_b, 0, 0, nullptr), -FI_ENOSYS);
    EXPECT_EQ(fi_atomic(ep, &word, 1, nullptr, two.to_b, 0, 0, FI_UINT64, FI_SUM, nullptr), -FI_ENOSYS);
    const iovec range{&word, 8};
    const fi_msg message{
        .msg_iov = &range, .desc = nullptr, .iov_count = 1, .addr = two.to_b, .context = nullptr, .data = 0};
    EXPECT_EQ(fi_sendmsg(ep, &message, FI_DELIVERY_COMPLETE), -FI_EBADFLAGS);
    EXPECT_EQ(fi_recvmsg(ep, &message, FI_MULTI_RECV), -FI_EBADFLAGS);
}

TEST(VerbsDgram, EveryCallThatSendsTakesItsDataAndItsRanges) {
    Couple two;
    fid_ep* ep = two.a.ep.get();
    const std::string text = pattern(600, 3);
    const iovec parts[] = {{const_cast<char*>(text.data()), 100}, {const_cast<char*>(text.data()) + 100, 500}};
    const fi_msg message{
        .msg_iov = parts, .desc = nullptr, .iov_count = 2, .addr = two.to_b, .context = &two, .data = 0x8899aabb};
    constexpr int kCalls = 6;
    std::vector<std::string> got(kCalls, std::string(600, '?'));
    for (int i = 0; i < kCalls; ++i) {
        const iovec places[] = {{got[i].data(), 7}, {got[i].data() + 7, 593}};
        const fi_msg receive{
            .msg_iov = places, .desc = nullptr, .iov_count = 2, .addr = FI_ADDR_UNSPEC, .context = &got[i], .data = 0};
        ASSERT_EQ(i % 2 ? fi_recvmsg(two.b.ep.get(), &receive, FI_COMPLETION)
                        : fi_recvv(two.b.ep.get(), places, nullptr, 2, FI_ADDR_UNSPEC, &got[i]),
                  0);
    }
    ASSERT_EQ(fi_sendv(ep, parts, nullptr, 2, two.to_b, nullptr), 0);
    ASSERT_EQ(fi_sendmsg(ep, &message, FI_REMOTE_CQ_DATA | FI_COMPLETION), 0);
    ASSERT_EQ(fi_sendmsg(ep, &message, FI_INJECT | FI_INJECT_COMPLETE), 0);
    ASSERT_EQ(fi_senddata(ep, text.data(), 600, nullptr, 0x11223344, two.to_b, nullptr), 0);
    ASSERT_EQ(fi_inject(ep, text.data(), 600, two.to_b), 0);
    ASSERT_EQ(fi_injectdata(ep, text.data(), 600, 0x55667788, two.to_b), 0);
    ASSERT_TRUE(two.until([&] { return two.b.done.size() == kCalls && two.a.done.size() == kCalls - 2; }));
    const uint64_t data[] = {0, 0x8899aabb, 0, 0x11223344, 0, 0x55667788};
    for (int i = 0; i < kCalls; ++i) {
        EXPECT_EQ(got[i], text) << i;
        EXPECT_EQ(two.b.done[i].data, data[i]);
        EXPECT_EQ(two.b.done[i].flags, FI_RECV | FI_MSG | (data[i] ? FI_REMOTE_CQ_DATA : 0)) << i;
    }
}

TEST(VerbsDgram, CompletionsNameTheSourceAndAnUnknownOneIsAnErrorWithItsAddress) {
    Couple two(request_for(FI_SOURCE | FI_SOURCE_ERR));
    End stranger(kDatagrams);
    const fi_addr_t to_b = stranger.address_of(two.b);
    uint64_t in[2] = {}, out = 5;
    fi_addr_t from = 0;
    fi_cq_tagged_entry entry;
    ASSERT_EQ(fi_recv(two.b.ep.get(), &in[0], 8, nullptr, FI_ADDR_UNSPEC, nullptr), 0);
    ASSERT_EQ(fi_recv(two.b.ep.get(), &in[1], 8, nullptr, FI_ADDR_UNSPEC, &in[1]), 0);
    ASSERT_EQ(fi_inject(two.a.ep.get(), &out, 8, two.to_b), 0);
    ASSERT_TRUE(until({&two.a}, [&] { return fi_cq_readfrom(two.b.cq.get(), &entry, 1, &from) == 1; }));
    EXPECT_EQ(from, two.to_a);
    ASSERT_EQ(fi_inject(stranger.ep.get(), &out, 8, to_b), 0);
    ssize_t result = 0;
    ASSERT_TRUE(until({&stranger}, [&] {
        return (result = fi_cq_readfrom(two.b.cq.get(), &entry, 1, &from)) == 1 || result == -FI_EAVAIL;
    }));
    ASSERT_EQ(result, -FI_EAVAIL);
    char address[64];
    fi_cq_err_entry error{};
    error.err_data = address;
    error.err_data_size = sizeof address;
    ASSERT_EQ(fi_cq_readerr(two.b.cq.get(), &error, 0), 1);
    EXPECT_EQ(error.err, FI_EADDRNOTAVAIL);
    EXPECT_EQ(error.op_context, &in[1]);
    EXPECT_EQ(in[1], 5u);
    // What is told is an address that can be answered to.
    fi_addr_t back;
    ASSERT_EQ(error.err_data_size, 32u);
    ASSERT_EQ(fi_av_insert(two.b.av.get(), address, 1, &back, 0, nullptr), 1);
    uint64_t answer = 0;
    ASSERT_EQ(fi_recv(stranger.ep.get(), &answer, 8, nullptr, FI_ADDR_UNSPEC, nullptr), 0);
    ASSERT_EQ(fi_inject(two.b.ep.get(), &out, 8, back), 0);
    EXPECT_TRUE(until({&stranger, &two.b}, [&] { return answer == 5; }));
}

TEST(VerbsDgram, ADatagramThatDoesNotFitIsCutShort) {
    Couple two;
    const std::string sent = pattern(300, 1);
    std::string got(300, '?');
    ASSERT_EQ(fi_recv(two.b.ep.get(), got.data(), 100, nullptr, FI_ADDR_UNSPEC, &got), 0);
    ASSERT_EQ(fi_inject(two.a.ep.get(), sent.data(), 300, two.to_b), 0);
    ASSERT_TRUE(two.until([&] { return !two.b.failures.empty(); }));
    EXPECT_EQ(two.b.failures[0].err, FI_ETRUNC);
    EXPECT_EQ(two.b.failures[0].len, 100u);
    EXPECT_EQ(two.b.failures[0].olen, 200u);
    EXPECT_EQ(got, sent.substr(0, 100) + std::string(200, '?'));
}

TEST(VerbsDgram, WhatNobodyReceivesIsDroppedAndHoldsNobodyUp) {
    Couple two;
    constexpr uint64_t kCount = 2000;
    for (uint64_t i = 0; i < kCount; ++i) {
        ASSERT_EQ(again({&two.a}, [&] { return fi_inject(two.a.ep.get(), &i, 8, two.to_b); }), 0) << i;
    }
    // The first ones wait where they arrived; after them there is room again.
    uint64_t in = 0, last = 0, got = 0;
    const uint64_t end = kCount;
    bool ended = false;
    ASSERT_EQ(fi_recv(two.b.ep.get(), &in, 8, nullptr, FI_ADDR_UNSPEC, nullptr), 0);
    ASSERT_TRUE(two.until([&] {
        for (; !two.b.done.empty(); two.b.done.pop_back()) {
            EXPECT_TRUE(!got || in > last) << in << " after " << last;
            last = in;
            ended = in == end;
            ++got;
            EXPECT_EQ(fi_recv(two.b.ep.get(), &in, 8, nullptr, FI_ADDR_UNSPEC, nullptr), 0);
        }
        if (got && !ended) fi_inject(two.a.ep.get(), &end, 8, two.to_b);
        return ended;
    })) << got;
    EXPECT_GE(got, 100u);
    EXPECT_LT(got, kCount);
    EXPECT_TRUE(two.a.failures.empty());
}

TEST(VerbsDgram, AReceiveIsCancelledAndTheOthersKeepTheirOrder) {
    Couple two;
    uint64_t in[3] = {}, out[2] = {1, 2};
    for (uint64_t& each : in) ASSERT_EQ(fi_recv(two.b.ep.get(), &each, 8, nullptr, FI_ADDR_UNSPEC, &each), 0);
    EXPECT_EQ(fi_cancel(two.b.ep.base(), &in[1]), 0);
    EXPECT_EQ(fi_cancel(two.b.ep.base(), &in[1]), -FI_ENOENT);
    ASSERT_TRUE(two.until([&] { return !two.b.failures.empty(); }));
    EXPECT_EQ(two.b.failures[0].err, FI_ECANCELED);
    EXPECT_EQ(two.b.failures[0].op_context, &in[1]);
    for (uint64_t& each : out) ASSERT_EQ(fi_inject(two.a.ep.get(), &each, 8, two.to_b), 0);
    ASSERT_TRUE(two.until([&] { return two.b.done.size() == 2; }));
    EXPECT_EQ(in[0], 1u);
    EXPECT_EQ(in[1], 0u);
    EXPECT_EQ(in[2], 2u);
}

TEST(VerbsDgram, AnEndpointReachesItself) {
    End a(kDatagrams);
    const fi_addr_t self = a.address_of(a);
    uint64_t in = 0, out = 42;
    ASSERT_EQ(fi_recv(a.ep.get(), &in, sizeof in, nullptr, FI_ADDR_UNSPEC, nullptr), 0);
    ASSERT_EQ(fi_send(a.ep.get(), &out, sizeof out, nullptr, self, nullptr), 0);
    ASSERT_TRUE(until({&a}, [&] { return a.done.size() == 2; }));
    EXPECT_EQ(in, 42u);
}

TEST(VerbsDgram, AddressesAreWrittenAndLookedUpAndBadOnesDoNotGoIn) {
    Couple two;
    unsigned char name[32], found[32];
    size_t length = sizeof name;
    ASSERT_EQ(fi_getname(two.b.ep.base(), name, &length), 0);
    EXPECT_EQ(length, 32u);
    length = sizeof found;
    ASSERT_EQ(fi_av_lookup(two.a.av.get(), two.to_b, found, &length), 0);
    EXPECT_EQ(memcmp(name, found, 32), 0);
    char text[128];
    length = sizeof text;
    fi_av_straddr(two.a.av.get(), name, text, &length);
    EXPECT_EQ(std::string(text).substr(0, 16), "fi_addr_ib_ud://");
    EXPECT_EQ(length, strlen(text) + 1);
    fi_addr_t result;
    const unsigned char nobody[32] = {};
    EXPECT_EQ(fi_av_insert(two.a.av.get(), nobody, 1, &result, 0, nullptr), 0);
    EXPECT_EQ(result, FI_ADDR_NOTAVAIL);
    // No name stands for a queue pair.
    EXPECT_EQ(fi_av_insertsvc(two.a.av.get(), "10.77.0.1", "7000", &result, 0, nullptr), 0);
    EXPECT_EQ(getinfo(make_hints("verbs", FI_EP_DGRAM), "10.77.0.1", "7000").result, -FI_ENODATA);
    // But an interface can be chosen by its address.
    EXPECT_EQ(getinfo(make_hints("verbs", FI_EP_DGRAM), "10.77.0.1", nullptr, FI_SOURCE).size(), 1u);
}

TEST(VerbsDgram, NobodyBehindAnAddressIsNoErrorAndNoWayToItIsOnlyIts) {
    Couple two;
    unsigned char name[32];
    size_t length = sizeof name;
    uint64_t out = 9, in = 0;
    ASSERT_EQ(fi_getname(two.b.ep.base(), name, &length), 0);
    fi_addr_t nobody, nowhere;
    name[16] ^= 0x55;  // another queue pair
    ASSERT_EQ(fi_av_insert(two.a.av.get(), name, 1, &nobody, 0, nullptr), 1);
    name[13] ^= 0x55;  // of another network
    ASSERT_EQ(fi_av_insert(two.a.av.get(), name, 1, &nowhere, 0, nullptr), 1);
    ASSERT_EQ(fi_send(two.a.ep.get(), &out, 8, nullptr, nobody, nullptr), 0);
    ASSERT_TRUE(two.until([&] { return two.a.done.size() == 1; }));
    const ssize_t refused = fi_send(two.a.ep.get(), &out, 8, nullptr, nowhere, nullptr);
    if (refused) {
        EXPECT_EQ(refused, -FI_EHOSTUNREACH);
    } else {
        ASSERT_TRUE(two.until([&] { return two.a.done.size() + two.a.failures.size() == 2; }));
    }
    ASSERT_EQ(fi_recv(two.b.ep.get(), &in, 8, nullptr, FI_ADDR_UNSPEC, nullptr), 0);
    ASSERT_EQ(again({&two.a}, [&] { return fi_inject(two.a.ep.get(), &out, 8, two.to_b); }), 0);
    EXPECT_TRUE(two.until([&] { return in == 9; }));
}

TEST(VerbsDgram, AReaderSleepsOnItsQueueUntilADatagramComes) {
    Request request = kDatagrams;
    request.wait = FI_WAIT_FD;
    Couple two(request);
    uint64_t in = 0, out = 3;
    fi_cq_tagged_entry entry;
    ASSERT_EQ(fi_recv(two.b.ep.get(), &in, 8, nullptr, FI_ADDR_UNSPEC, nullptr), 0);
    EXPECT_EQ(fi_cq_sread(two.b.cq.get(), &entry, 1, nullptr, 50), -FI_EAGAIN);
    std::thread sender([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
        EXPECT_EQ(fi_inject(two.a.ep.get(), &out, 8, two.to_b), 0);
    });
    EXPECT_EQ(fi_cq_sread(two.b.cq.get(), &entry, 1, nullptr, 10'000), 1);
    sender.join();
    EXPECT_EQ(in, 3u);
    // By the descriptor.
    int descriptor = -1;
    ASSERT_EQ(fi_control(two.b.cq.base(), FI_GETWAIT, &descriptor), 0);
    ASSERT_EQ(fi_recv(two.b.ep.get(), &in, 8, nullptr, FI_ADDR_UNSPEC, nullptr), 0);
    fid* waits[] = {two.b.cq.base()};
    while (fi_trywait(two.b.fabric.get(), waits, 1)) two.b.poll();
    out = 4;
    ASSERT_EQ(fi_inject(two.a.ep.get(), &out, 8, two.to_b), 0);
    pollfd wait{.fd = descriptor, .events = POLLIN, .revents = 0};
    EXPECT_EQ(poll(&wait, 1, 10'000), 1);
    EXPECT_TRUE(two.until([&] { return in == 4; }));
}

TEST(VerbsDgram, WithAutomaticProgressDatagramsArriveAndCountersCount) {
    InfoPtr hints = make_hints("verbs", FI_EP_DGRAM);
    hints->domain_attr->data_progress = FI_PROGRESS_AUTO;
    Answer answer = getinfo(hints);
    ASSERT_EQ(answer.result, 0);
    Opened<fid_fabric> fabric;
    Opened<fid_domain> domain;
    Opened<fid_cq> cq;
    Opened<fid_av> av;
    Opened<fid_cntr> sent, received;
    Opened<fid_ep> ep;
    fi_cq_attr cq_attr{};
    fi_av_attr av_attr{};
    fi_cntr_attr cntr_attr{};
    cntr_attr.wait_obj = FI_WAIT_UNSPEC;
    ASSERT_EQ(fi_fabric(answer->fabric_attr, fabric.out(), nullptr), 0);
    ASSERT_EQ(fi_domain(fabric.get(), answer.get(), domain.out(), nullptr), 0);
    ASSERT_EQ(fi_cq_open(domain.get(), &cq_attr, cq.out(), nullptr), 0);
    ASSERT_EQ(fi_av_open(domain.get(), &av_attr, av.out(), nullptr), 0);
    ASSERT_EQ(fi_cntr_open(domain.get(), &cntr_attr, sent.out(), nullptr), 0);
    ASSERT_EQ(fi_cntr_open(domain.get(), &cntr_attr, received.out(), nullptr), 0);
    ASSERT_EQ(fi_endpoint(domain.get(), answer.get(), ep.out(), nullptr), 0);
    ASSERT_EQ(fi_ep_bind(ep.get(), av.base(), 0), 0);
    ASSERT_EQ(fi_ep_bind(ep.get(), cq.base(), FI_TRANSMIT | FI_RECV | FI_SELECTIVE_COMPLETION), 0);
    ASSERT_EQ(fi_ep_bind(ep.get(), sent.base(), FI_SEND), 0);
    ASSERT_EQ(fi_ep_bind(ep.get(), received.base(), FI_RECV), 0);
    ASSERT_EQ(fi_enable(ep.get()), 0);
    char name[32];
    size_t length = sizeof name;
    fi_addr_t self;
    ASSERT_EQ(fi_getname(ep.base(), name, &length), 0);
    ASSERT_EQ(fi_av_insert(av.get(), name, 1, &self, 0, nullptr), 1);
    uint64_t in[2] = {}, out = 6;
    for (uint64_t& each : in) ASSERT_EQ(fi_recv(ep.get(), &each, 8, nullptr, FI_ADDR_UNSPEC, nullptr), 0);
    ASSERT_EQ(fi_send(ep.get(), &out, 8, nullptr, self, nullptr), 0);
    ASSERT_EQ(fi_inject(ep.get(), &out, 8, self), 0);
    EXPECT_EQ(fi_cntr_wait(received.get(), 2, 10'000), 0);
    EXPECT_EQ(fi_cntr_wait(sent.get(), 2, 10'000), 0);
    EXPECT_EQ(in[1], 6u);
    uint64_t entry[8];
    EXPECT_EQ(fi_cq_read(cq.get(), entry, 1), -FI_EAGAIN);
}

TEST(VerbsDgram, AQueueThatIsFullTakesNoMoreAndLosesNothing) {
    Couple two;
    uint64_t out = 0;
    ssize_t result = 0;
    size_t posted = 0;
    for (; posted < 100'000; ++posted) {
        result = fi_send(two.a.ep.get(), &out, 8, nullptr, two.to_b, nullptr);
        if (result) break;
    }
    EXPECT_EQ(result, -FI_EAGAIN);
    ASSERT_TRUE(two.until([&] { return two.a.done.size() == posted; })) << two.a.done.size() << " of " << posted;
    EXPECT_TRUE(two.a.failures.empty());
}

// The kernel takes requests from the process alone that opened the device.
TEST(VerbsDgram, AChildOfAProcessThatHasLookedAtDevicesCanSend) {
    const auto talks = [] {
        Couple two;
        uint64_t in = 0, out = 7;
        return fi_recv(two.b.ep.get(), &in, 8, nullptr, FI_ADDR_UNSPEC, nullptr) == 0 &&
               fi_send(two.a.ep.get(), &out, 8, nullptr, two.to_b, nullptr) == 0 && two.until([&] { return in == 7; });
    };
    ASSERT_EQ(find(kDatagrams).result, 0);
    const pid_t child = fork();
    if (child == 0) _exit(talks() ? 0 : 1);
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    EXPECT_TRUE(talks()) << "the parent";
}

TEST(VerbsDgram, ADeviceThatIsRemovedEndsWhatIsPending) {
    if (!getenv("SELVAGE_REMOVE_DATAGRAM_DEVICE")) GTEST_SKIP() << "takes the machine's device away";
    Couple two;
    uint64_t in = 0, out = 7;
    ASSERT_EQ(fi_recv(two.b.ep.get(), &in, 8, nullptr, FI_ADDR_UNSPEC, nullptr), 0);
    ASSERT_EQ(fi_send(two.a.ep.get(), &out, 8, nullptr, two.to_b, nullptr), 0);
    ASSERT_TRUE(two.until([&] { return in == 7; }));
    ASSERT_EQ(fi_recv(two.b.ep.get(), &in, 8, nullptr, FI_ADDR_UNSPEC, &in), 0);
    // The system ends the removal when no process has the device open, and rdma_cm keeps it open in this one.
    ASSERT_EQ(system("rdma link del rxe0 &"), 0);
    ASSERT_TRUE(two.until([&] { return !two.b.failures.empty(); }));
    EXPECT_EQ(two.b.failures[0].err, FI_ENODEV);
    EXPECT_EQ(two.b.failures[0].op_context, &in);
    ASSERT_TRUE(two.until([&] { return fi_send(two.a.ep.get(), &out, 8, nullptr, two.to_b, nullptr) == -FI_ENODEV; }));
    EXPECT_EQ(fi_recv(two.b.ep.get(), &in, 8, nullptr, FI_ADDR_UNSPEC, nullptr), -FI_ENODEV);
    EXPECT_EQ(two.a.ep.close(), 0);
    EXPECT_EQ(two.b.ep.close(), 0);
}

}  // namespace
}  // namespace selvage::test
