// The traffic class of an endpoint's attributes, or of its domain's, is in what its socket sends.
#include <netinet/in.h>
#include <sys/socket.h>

#include "impl/test/library/pair.h"

namespace selvage::test {
namespace {

// How many sockets of this process send with it.
int sockets_with(int dscp) {
    int count = 0;
    for (int descriptor = 0; descriptor < 1024; ++descriptor) {
        int value = 0;
        socklen_t size = sizeof value;
        if (getsockopt(descriptor, IPPROTO_IP, IP_TOS, &value, &size) == 0) count += value >> 2 == dscp;
    }
    return count;
}

TEST(TrafficClass, OfDatagramsIsTheEndpointsOrElseTheDomains) {
    Network network("udp", FI_EP_DGRAM, kVersion, FI_MSG);
    if (network.result) GTEST_SKIP() << "no interface for udp";
    ASSERT_EQ(sockets_with(10), 0);
    network.info->tx_attr->tclass = fi_tc_dscp_set(10);
    Side side;
    ASSERT_EQ(side.open(network), 0);
    ASSERT_EQ(fi_enable(side.ep.get()), 0);
    EXPECT_EQ(sockets_with(10), 1);
}

TEST(TrafficClass, IsGrantedAsAskedByEveryProvider) {
    for (const char* provider : {"shm", "tcp", "udp"}) {
        const InfoPtr hints = make_hints(provider);
        hints->tx_attr->tclass = FI_TC_LOW_LATENCY;
        hints->domain_attr->tclass = fi_tc_dscp_set(12);
        const Answer answer = getinfo(hints);
        ASSERT_EQ(answer.result, 0) << provider;
        EXPECT_EQ(answer->tx_attr->tclass, static_cast<uint32_t>(FI_TC_LOW_LATENCY));
        EXPECT_EQ(fi_tc_dscp_get(answer->domain_attr->tclass), 12);
        hints->tx_attr->tclass = FI_TC_NETWORK_CTRL + 1;
        EXPECT_EQ(getinfo(hints).result, -FI_ENODATA) << provider;
    }
}

}  // namespace
}  // namespace selvage::test
