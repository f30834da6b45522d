// The congestion control of connections (impl/transport/net/congestion.h).
#include "impl/transport/net/congestion.h"

#include <gtest/gtest.h>
#include <netinet/tcp.h>

#include <string>

#include "impl/test/tcp/fake_sink.h"

namespace selvage::impl::test {
namespace {

std::string congestion_now(int socket) {
    char name[16] = {};
    socklen_t size = sizeof name - 1;
    EXPECT_EQ(getsockopt(socket, IPPROTO_TCP, TCP_CONGESTION, name, &size), 0);
    return name;
}

TEST(TcpCongestion, OnOneMachineItIsPlainAndElsewhereTheSystemsOrTheRoutes) {
    EXPECT_STREQ(net::congestion_of(true, "bbr", "bbr"), "reno");
    EXPECT_STREQ(net::congestion_of(true, "cubic", "cubic"), "reno");
    EXPECT_STREQ(net::congestion_of(false, "reno", "bbr"), "bbr");
    EXPECT_EQ(net::congestion_of(false, "cubic", "bbr"), nullptr) << "the route has chosen";
    EXPECT_EQ(net::congestion_of(false, "reno", "cubic"), nullptr) << "nothing was changed";
    EXPECT_EQ(net::congestion_of(false, "dctcp", "dctcp"), nullptr);
}

TEST(TcpCongestion, NoConnectionBeginsWithOneThatPaces) {
    SocketAddress address = SocketAddress::wildcard(AddressKind::Inet, 0);
    int listener = -1, caller = -1, result = 0;
    ASSERT_EQ(net::listen_at(&address, 4, &listener), 0);
    sockaddr_in loopback{};
    loopback.sin_family = AF_INET;
    loopback.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    loopback.sin_port = htons(address.port());
    SocketAddress to;
    to.kind = AddressKind::Inet;
    to.v4 = loopback;
    ASSERT_EQ(net::start_connect(SocketAddress::wildcard(AddressKind::Inet, 0), to, &caller, &result), 0);
    const int accepted = accept(listener, nullptr, nullptr);
    ASSERT_GE(accepted, 0);
    EXPECT_FALSE(net::paces(congestion_now(caller).c_str())) << congestion_now(caller);
    EXPECT_FALSE(net::paces(congestion_now(accepted).c_str())) << congestion_now(accepted);
    for (const int socket : {caller, accepted, listener}) close(socket);
}

TEST(TcpCongestion, BothEndsOnOneMachineHaveThePlainOne) {
    Side a, b;
    ASSERT_EQ(send_text(a.transport, *a.peer(b), "x"), SendResult::Done);
    ASSERT_TRUE(run({&a, &b}, [&] { return b.sink.frames.size() == 1 && a.transport.peers_up() == 1; }));
    EXPECT_EQ(congestion_now(a.peer(b)->rx), "reno");
    EXPECT_EQ(congestion_now(b.sink.frames[0].from->rx), "reno");
}

}  // namespace
}  // namespace selvage::impl::test
