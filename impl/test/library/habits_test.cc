// Hints and attributes as programs in the field write them, which the pages allow or leave open (impl/README.md).
#include <rdma/fi_ext.h>

#include <string>

#include "impl/test/library/pair.h"

namespace selvage::test {
namespace {

class Habits : public testing::TestWithParam<const char*> {
protected:
    InfoPtr hints_ = make_hints(GetParam(), FI_EP_RDM);
};
INSTANTIATE_TEST_SUITE_P(Providers, Habits, testing::Values("shm", "tcp", "tcp;ofi_rxm"), [](const auto& provider) {
    std::string name = provider.param;
    for (char& letter : name) letter = letter == ';' ? '_' : letter;
    return name;
});

constexpr uint64_t kBothSides =
    FI_MSG | FI_RMA | FI_SEND | FI_RECV | FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE;

TEST_P(Habits, CapabilitiesOfTheOtherSideCountForNothingInAContext) {
    hints_->caps = kBothSides;
    hints_->tx_attr->caps = kBothSides;
    hints_->rx_attr->caps = kBothSides;
    const Answer answer = getinfo(hints_);
    ASSERT_EQ(answer.result, 0);
    EXPECT_EQ(answer->tx_attr->caps, FI_MSG | FI_RMA | FI_SEND | FI_READ | FI_WRITE);
    EXPECT_EQ(answer->rx_attr->caps, FI_MSG | FI_RMA | FI_RECV | FI_MULTI_RECV | FI_REMOTE_READ | FI_REMOTE_WRITE);
}

TEST_P(Habits, AContextHasNoCapabilityThatItsEndpointLacks) {
    hints_->caps = FI_MSG;
    hints_->tx_attr->caps = FI_MSG | FI_RMA;
    EXPECT_EQ(getinfo(hints_).result, -FI_ENODATA);
    hints_->tx_attr->caps = FI_RECV;  // nothing is left
    EXPECT_EQ(getinfo(hints_).result, -FI_ENODATA);
}

TEST_P(Habits, AnEndpointOpensWithItsCapabilitiesInBothContexts) {
    Network network(GetParam());
    ASSERT_EQ(network.result, 0);
    network.info->tx_attr->caps = network.info->caps;
    network.info->rx_attr->caps = network.info->caps;
    Pair pair(network);
    pair.enable();
    pair.greet();
}

TEST_P(Habits, NoEndpointOpensWithACapabilityThatIsNotOffered) {
    Network network(GetParam());
    ASSERT_EQ(network.result, 0);
    Opened<fid_ep> ep;
    network.info->tx_attr->caps = network.info->caps | FI_MULTICAST;
    EXPECT_EQ(fi_endpoint(network.domain.get(), network.info.get(), ep.out(), nullptr), -FI_EINVAL);
}

TEST_P(Habits, EveryTrafficClassIsTaken) {
    for (const uint32_t tclass : {FI_TC_BULK_DATA, FI_TC_DEDICATED_ACCESS, FI_TC_LOW_LATENCY, FI_TC_SCAVENGER}) {
        hints_->tx_attr->tclass = tclass;
        const Answer answer = getinfo(hints_);
        ASSERT_EQ(answer.result, 0) << tclass;
        EXPECT_EQ(answer->tx_attr->tclass, tclass);
    }
}

TEST_P(Habits, AVersionBelowTheFirstIsTakenForTheFirst) {
    const Answer answer = getinfo(hints_, nullptr, nullptr, 0, 0);
    ASSERT_EQ(answer.result, 0);
    const Network network(GetParam(), FI_EP_RDM, 0);
    EXPECT_EQ(network.result, 0);
}

uint32_t protocol_for(const char* provider, fi_ep_type type, uint32_t protocol) {
    InfoPtr hints = make_hints(provider, type);
    hints->ep_attr->protocol = protocol;
    const Answer answer = getinfo(hints);
    if (answer.result) return FI_PROTO_UNSPEC;
    return answer->ep_attr->protocol;
}

TEST(Protocols, ThoseOfOtherLibrariesAreGrantedAndNamedInTheAnswer) {
    EXPECT_EQ(protocol_for("tcp", FI_EP_MSG, FI_PROTO_SOCK_TCP), FI_PROTO_SOCK_TCP);
    EXPECT_EQ(protocol_for("tcp", FI_EP_RDM, FI_PROTO_XNET), FI_PROTO_XNET);
    EXPECT_EQ(protocol_for("tcp;ofi_rxm", FI_EP_RDM, FI_PROTO_RXM), FI_PROTO_RXM);
    EXPECT_EQ(protocol_for("shm", FI_EP_RDM, FI_PROTO_SHM), FI_PROTO_SHM);
}

TEST(Protocols, ThoseOfNoOfferAreRefused) {
    EXPECT_EQ(protocol_for("tcp", FI_EP_RDM, FI_PROTO_RXM), FI_PROTO_UNSPEC);
    EXPECT_EQ(protocol_for("tcp;ofi_rxm", FI_EP_RDM, FI_PROTO_XNET), FI_PROTO_UNSPEC);
    EXPECT_EQ(protocol_for("shm", FI_EP_RDM, FI_PROTO_SOCK_TCP), FI_PROTO_UNSPEC);
}

// Where the machine has an interface that leaves it. An endpoint type keeps the providers comparable.
TEST(Reach, WhatReachesOtherMachinesComesFirstUnlessLocalTalkIsAskedFor) {
    InfoPtr hints = make_hints(nullptr, FI_EP_RDM);
    const Answer any = getinfo(hints);
    ASSERT_EQ(any.result, 0);
    bool local_began = false;
    for (const fi_info* info = any.get(); info; info = info->next) {
        if (strchr(info->fabric_attr->prov_name, ';')) break;  // layered names, last
        const bool remote = info->caps & FI_REMOTE_COMM;
        EXPECT_FALSE(remote && local_began) << info->fabric_attr->prov_name << " behind what stays here";
        local_began = local_began || !remote;
    }
    hints->caps = FI_MSG | FI_LOCAL_COMM;
    const Answer local = getinfo(hints);
    ASSERT_EQ(local.result, 0);
    EXPECT_STREQ(local->fabric_attr->prov_name, "shm");
}

TEST(MemoryMonitor, OfAnApplicationIsImportedAndClosed) {
    fi_ops_mem_monitor theirs{};
    theirs.size = sizeof theirs;
    fid_mem_monitor monitor{};
    monitor.fid.fclass = FI_CLASS_MEM_MONITOR;
    monitor.export_ops = &theirs;
    ASSERT_EQ(fi_import(kVersion, "mr_cache", nullptr, 0, 0, &monitor.fid, nullptr), 0);
    ASSERT_TRUE(monitor.import_ops && monitor.import_ops->notify);
    monitor.import_ops->notify(&monitor, &monitor, sizeof monitor);
    ASSERT_TRUE(monitor.fid.ops && monitor.fid.ops->close);
    EXPECT_EQ(fi_close(&monitor.fid), 0);
}

}  // namespace
}  // namespace selvage::test
