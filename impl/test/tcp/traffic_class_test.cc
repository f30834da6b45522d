// Traffic classes (fi_endpoint(3)) in the headers of IP.
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "impl/test/tcp/fake_sink.h"

namespace selvage::impl::test {
namespace {

int class_of(int socket) {
    int value = -1;
    socklen_t size = sizeof value;
    EXPECT_EQ(getsockopt(socket, IPPROTO_IP, IP_TOS, &value, &size), 0);
    return value >> 2;
}

TEST(TcpTrafficClass, LabelsAndCodePointsHaveOneEach) {
    EXPECT_EQ(net::dscp_of(FI_TC_UNSPEC), -1);
    EXPECT_EQ(net::dscp_of(FI_TC_BEST_EFFORT), 0);
    EXPECT_EQ(net::dscp_of(FI_TC_LOW_LATENCY), 46);
    EXPECT_EQ(net::dscp_of(FI_TC_DEDICATED_ACCESS), 40);
    EXPECT_EQ(net::dscp_of(FI_TC_BULK_DATA), 10);
    EXPECT_EQ(net::dscp_of(FI_TC_SCAVENGER), 1);
    EXPECT_EQ(net::dscp_of(FI_TC_NETWORK_CTRL), 48);
    EXPECT_EQ(net::dscp_of(FI_TC_NETWORK_CTRL + 1), -1);
    for (uint8_t code = 0; code < 64; ++code) EXPECT_EQ(net::dscp_of(fi_tc_dscp_set(code)), code);
}

TEST(TcpTrafficClass, EachEndSendsWithItsOwn) {
    Side a, b;
    a.transport.set_traffic_class(fi_tc_dscp_set(10));
    b.transport.set_traffic_class(FI_TC_LOW_LATENCY);
    ASSERT_EQ(send_text(a.transport, *a.peer(b), "x"), SendResult::Done);
    ASSERT_TRUE(run({&a, &b}, [&] { return b.sink.frames.size() == 1 && a.transport.peers_up() == 1; }));
    EXPECT_EQ(class_of(a.peer(b)->rx), 10);
    EXPECT_EQ(class_of(b.sink.frames[0].from->rx), 46);
}

}  // namespace
}  // namespace selvage::impl::test
