// Contexts of scalable endpoints over tcp: who is taken to which, and whom the shared listener refuses.
#include <gtest/gtest.h>

#include <poll.h>

#include <memory>

#include "impl/base/create.h"
#include "impl/test/tcp/fake_sink.h"

namespace selvage::impl::test {
namespace {

constexpr size_t kContexts = 4;

struct CloseListener {
    void operator()(tcp::SharedListener* listener) const { listener->close(); }
};

// The listener of an endpoint of four receive contexts, of which the first two are there.
struct Host {
    SocketAddress address = loopback();
    std::unique_ptr<tcp::SharedListener, CloseListener> listener{create<tcp::SharedListener>()};
    TcpTransport contexts[2];
    FakeSink sinks[2];

    Host() {
        EXPECT_EQ(listener->open(&address, kContexts), 0);
        for (size_t i = 0; i < 2; ++i)
            EXPECT_EQ(contexts[i].open_context(named(receive_context(i)), listener.get(), {}), 0);
    }
    ~Host() {
        for (TcpTransport& context : contexts) context.close();
    }
    SocketAddress named(uint16_t context) const {
        SocketAddress result = address;
        result.context = context;
        return result;
    }
    void progress() {
        for (size_t i = 0; i < 2; ++i) contexts[i].progress(sinks[i]);
    }
};

// What becomes of a call with this hello: None, or why it is refused.
net::Refusal call(Host& host, const net::Note& hello, net::Dial& dial) {
    EXPECT_EQ(dial.start(loopback(), host.address, hello), 0);
    for (int i = 0; i < 5000; ++i) {
        host.progress();
        switch (dial.advance({})) {
            case net::Step::Pending:
                (void)poll(nullptr, 0, 1);
                continue;
            case net::Step::Done:
                return net::Refusal::None;
            case net::Step::Refused:
                return dial.answer.refusal;
            case net::Step::Failed:
                ADD_FAILURE() << dial.error;
                return net::Refusal::Kind;
        }
    }
    ADD_FAILURE() << "no answer";
    return net::Refusal::Kind;
}

net::Refusal call(Host& host, const net::Note& hello) {
    net::Dial dial;
    return call(host, hello, dial);
}

net::Note hello_of(uint16_t from, uint16_t to, uint16_t size = 4) {
    net::Note hello;
    hello.port = 9;
    hello.instance = 77;
    hello.sequence = 1;
    hello.data_size = size;
    hello.data[0] = static_cast<uint8_t>(from);
    hello.data[1] = static_cast<uint8_t>(from >> 8);
    hello.data[2] = static_cast<uint8_t>(to);
    hello.data[3] = static_cast<uint8_t>(to >> 8);
    return hello;
}

TEST(TcpContexts, ACallReachesTheContextThatItNames) {
    Host host;
    for (const uint16_t context : {receive_context(0), receive_context(1)}) {
        Side caller;
        Peer* peer = nullptr;
        ASSERT_EQ(caller.transport.peer_at(host.named(context), &peer), 0);
        ASSERT_EQ(send_text(caller.transport, *peer, "hello"), SendResult::Done);
        EXPECT_TRUE(run({&caller}, [&] {
            host.progress();
            return host.sinks[context].frames.size() == 1;
        })) << context;
        EXPECT_EQ(host.sinks[0].frames.size() + host.sinks[1].frames.size(), context + 1u);
    }
}

TEST(TcpContexts, SendersOfOneAddressAreToldApart) {
    Host host;
    net::Dial dials[4];
    const uint16_t senders[] = {0, transmit_context(0), transmit_context(3), receive_context(3)};
    for (size_t i = 0; i < 4; ++i) EXPECT_EQ(call(host, hello_of(senders[i], 0), dials[i]), net::Refusal::None) << i;
    EXPECT_EQ(host.contexts[0].peers_up(), 4u);
}

TEST(TcpContexts, HaveAddressesOfTheirOwn) {
    SocketAddress one = loopback(7), other = loopback(7);
    one.context = receive_context(1);
    other.context = transmit_context(1);
    EXPECT_FALSE(net::same_address(one, other));
    EXPECT_TRUE(net::same_address(one, one));
    EXPECT_TRUE(one.same_endpoint(other)) << "for an address vector they are one";
}

TEST(TcpContexts, WhatIsNotThereYetIsToBeCalledAgain) {
    Host host;
    EXPECT_EQ(call(host, hello_of(0, 2)), net::Refusal::Busy);
}

TEST(TcpContexts, CallsThatNameNoContextAreRefused) {
    Host host;
    for (const uint16_t to :
         {uint16_t{kContexts}, uint16_t{kContextsMax}, uint16_t{0x7fff}, transmit_context(0), uint16_t{0xffff}}) {
        EXPECT_EQ(call(host, hello_of(0, to)), net::Refusal::Gone) << to;
    }
    EXPECT_EQ(call(host, hello_of(uint16_t{kContextsMax}, 0)), net::Refusal::Gone);
    for (const uint16_t size : {uint16_t{1}, uint16_t{3}, uint16_t{5}, uint16_t{256}})
        EXPECT_EQ(call(host, hello_of(0, 1, size)), net::Refusal::Gone) << size;
    // It listens on.
    EXPECT_EQ(call(host, hello_of(0, 1)), net::Refusal::None);
}

TEST(TcpContexts, APlainEndpointHasNone) {
    Side plain;
    Side caller;
    SocketAddress named = plain.transport.address();
    named.context = 1;
    Peer* peer = nullptr;
    ASSERT_EQ(caller.transport.peer_at(named, &peer), 0);
    ASSERT_EQ(send_text(caller.transport, *peer, "hello"), SendResult::Done);
    EXPECT_TRUE(run({&caller, &plain}, [&] { return !caller.sink.downs.empty(); }));
    EXPECT_TRUE(plain.sink.frames.empty());
}

TEST(TcpContexts, AContextLeavesWithItsCallersAndComesAgain) {
    Host host;
    EXPECT_EQ(call(host, hello_of(0, 1)), net::Refusal::None);
    host.contexts[1].close();
    EXPECT_EQ(call(host, hello_of(1, 1)), net::Refusal::Busy);
    ASSERT_EQ(host.contexts[1].open_context(host.named(1), host.listener.get(), {}), 0);
    EXPECT_EQ(call(host, hello_of(0, 1)), net::Refusal::None);
}

// A look is a system call. Those that have no peer look whenever they are called, as a caller is what they wait for.
TEST(TcpContexts, ThoseThatHavePeersShareTheirLooksForCallers) {
    constexpr size_t kCount = 16;
    constexpr int64_t kTime = 40 * tcp::kControlInterval;
    SocketAddress address = loopback();
    std::unique_ptr<tcp::SharedListener, CloseListener> listener{create<tcp::SharedListener>()};
    ASSERT_EQ(listener->open(&address, kCount), 0);
    TcpTransport contexts[kCount];
    FakeSink sinks[kCount];
    Side caller;
    for (size_t i = 0; i < kCount; ++i) {
        SocketAddress named = address;
        named.context = receive_context(i);
        ASSERT_EQ(contexts[i].open_context(named, listener.get(), {}), 0);
        Peer* peer = nullptr;
        ASSERT_EQ(caller.transport.peer_at(named, &peer), 0);
        ASSERT_EQ(send_text(caller.transport, *peer, "hello"), SendResult::Done);
        ASSERT_TRUE(run({&caller}, [&] { return contexts[i].progress(sinks[i]), sinks[i].frames.size() == 1; }));
    }
    const uint64_t before = listener->looks();
    const int64_t began = net::now_nanoseconds();
    while (net::now_nanoseconds() - began < kTime) {
        for (size_t i = 0; i < kCount; ++i) contexts[i].progress(sinks[i]);
    }
    const auto most = static_cast<uint64_t>((net::now_nanoseconds() - began) / tcp::kControlInterval) + 1;
    EXPECT_LE(listener->looks() - before, most);
    EXPECT_GE(listener->looks() - before, 1u);
    for (TcpTransport& context : contexts) context.close();
}

}  // namespace
}  // namespace selvage::impl::test
