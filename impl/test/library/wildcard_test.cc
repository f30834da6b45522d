// Servers that name no node: they answer at every address of the machine, as fi_getinfo(3)'s FI_SOURCE is used.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <string>

#include "impl/test/library/objects.h"

namespace selvage::test {
namespace {

std::string host_of(const void* address) {
    char text[INET6_ADDRSTRLEN] = "";
    const auto* v4 = static_cast<const sockaddr_in*>(address);
    const auto* v6 = static_cast<const sockaddr_in6*>(address);
    const bool is_v4 = v4->sin_family == AF_INET;
    inet_ntop(v4->sin_family, is_v4 ? static_cast<const void*>(&v4->sin_addr) : &v6->sin6_addr, text, sizeof text);
    return text;
}

uint16_t port_of(const void* address) { return ntohs(static_cast<const sockaddr_in*>(address)->sin_port); }

InfoPtr v4_hints(fi_ep_type type) {
    InfoPtr hints = make_hints("tcp", type);
    hints->addr_format = FI_SOCKADDR_IN;
    return hints;
}

class NoNode : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Nodes, NoNode, testing::Values(nullptr, "0.0.0.0"),
                         [](const auto& node) { return std::string(node.param ? "Wildcard" : "None"); });

TEST_P(NoNode, IsAnsweredWithTheWildcardAndThePort) {
    const Answer answer = getinfo(v4_hints(FI_EP_RDM), GetParam(), "9228", FI_SOURCE);
    ASSERT_EQ(answer.result, 0);
    for (const fi_info* info = answer.get(); info; info = info->next) {
        EXPECT_EQ(host_of(info->src_addr), "0.0.0.0");
        EXPECT_EQ(port_of(info->src_addr), 9228);
    }
}

TEST(Wildcard, OfALinkLocalInterfaceIsOfferedBehindTheOthers) {
    InfoPtr hints = make_hints("tcp", FI_EP_RDM);
    const Answer answer = getinfo(hints, nullptr, "9228", FI_SOURCE);
    ASSERT_EQ(answer.result, 0);
    bool seen = false;
    for (const fi_info* info = answer.get(); info; info = info->next) {
        const bool link_local = strncmp(info->fabric_attr->name, "fe80:", 5) == 0;
        const bool loopback = !(info->caps & FI_REMOTE_COMM);
        EXPECT_TRUE(!seen || link_local || loopback) << info->fabric_attr->name;
        seen = seen || link_local;
    }
}

// The address that a client would be given for the server: its name with another host.
struct Server {
    InfoPtr info;
    Opened<fid_fabric> fabric;
    Opened<fid_domain> domain;
    Opened<fid_cq> cq;
    Opened<fid_av> av;
    Opened<fid_ep> ep;
    sockaddr_in name{};

    explicit Server(const char* node = nullptr) {
        Answer answer = getinfo(v4_hints(FI_EP_RDM), node, "0", FI_SOURCE);
        EXPECT_EQ(answer.result, 0);
        info = std::move(answer.list);
        EXPECT_EQ(fi_fabric(info->fabric_attr, fabric.out(), nullptr), 0);
        EXPECT_EQ(fi_domain(fabric.get(), info.get(), domain.out(), nullptr), 0);
        fi_cq_attr cq_attr{};
        cq_attr.format = FI_CQ_FORMAT_MSG;
        fi_av_attr av_attr{};
        EXPECT_EQ(fi_cq_open(domain.get(), &cq_attr, cq.out(), nullptr), 0);
        EXPECT_EQ(fi_av_open(domain.get(), &av_attr, av.out(), nullptr), 0);
        EXPECT_EQ(fi_endpoint(domain.get(), info.get(), ep.out(), nullptr), 0);
        EXPECT_EQ(fi_ep_bind(ep.get(), cq.base(), FI_TRANSMIT | FI_RECV), 0);
        EXPECT_EQ(fi_ep_bind(ep.get(), av.base(), 0), 0);
        EXPECT_EQ(fi_enable(ep.get()), 0);
        size_t length = sizeof name;
        EXPECT_EQ(fi_getname(ep.base(), &name, &length), 0);
    }
    // Sends a byte and waits until it has come.
    bool reaches(const sockaddr_in& to, const Server& other) {
        fi_addr_t address;
        if (fi_av_insert(av.get(), &to, 1, &address, 0, nullptr) != 1) return false;
        char in = 0;
        if (fi_recv(other.ep.get(), &in, 1, nullptr, FI_ADDR_UNSPEC, nullptr)) return false;
        int posted = -FI_EAGAIN;
        fi_cq_msg_entry entry;
        for (int i = 0; i < 100'000 && in != 'x'; ++i) {
            if (posted == -FI_EAGAIN) posted = static_cast<int>(fi_inject(ep.get(), "x", 1, address));
            fi_cq_read(cq.get(), &entry, 1);
            fi_cq_read(other.cq.get(), &entry, 1);
        }
        return in == 'x';
    }
};

TEST(Wildcard, AServerIsReachedThroughEveryAddressOfTheMachine) {
    Server server;
    Server client("127.0.0.1");
    EXPECT_NE(host_of(&server.name), "0.0.0.0") << "nobody could send to it";
    EXPECT_TRUE(client.reaches(server.name, server));
    sockaddr_in loopback = server.name;
    loopback.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_TRUE(client.reaches(loopback, server));
}

TEST(Wildcard, AServerReachesItselfByItsNameAndByLoopback) {
    Server server;
    EXPECT_TRUE(server.reaches(server.name, server));
    sockaddr_in loopback = server.name;
    loopback.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_TRUE(server.reaches(loopback, server));
}

TEST(Ports, OfListenersThatNameNoneAreInTheRangeUntilItIsFull) {
    setenv("FI_TCP_PORT_LOW_RANGE", "27410", 1);
    setenv("FI_TCP_PORT_HIGH_RANGE", "27412", 1);
    {
        Server servers[3];
        for (const Server& server : servers) {
            EXPECT_GE(port_of(&server.name), 27410);
            EXPECT_LE(port_of(&server.name), 27412);
        }
        Opened<fid_ep> fourth;
        Server& any = servers[0];
        ASSERT_EQ(fi_endpoint(any.domain.get(), any.info.get(), fourth.out(), nullptr), 0);
        ASSERT_EQ(fi_ep_bind(fourth.get(), any.cq.base(), FI_TRANSMIT | FI_RECV), 0);
        ASSERT_EQ(fi_ep_bind(fourth.get(), any.av.base(), 0), 0);
        EXPECT_EQ(fi_enable(fourth.get()), -FI_EADDRINUSE);
    }
    unsetenv("FI_TCP_PORT_LOW_RANGE");
    unsetenv("FI_TCP_PORT_HIGH_RANGE");
}

// Both sides make progress.
uint32_t next_event(fid_eq* eq, fid_eq* other, fi_eq_cm_entry* entry) {
    uint32_t type = 0;
    for (int i = 0; i < 1000; ++i) {
        if (fi_eq_sread(eq, &type, entry, sizeof *entry, 5, 0) == sizeof *entry) return type;
        fi_eq_cm_entry seen;
        uint32_t none;
        fi_eq_read(other, &none, &seen, sizeof seen, FI_PEEK);
    }
    return 0;
}

// An endpoint of a connection, on the domain that its description names.
struct Caller {
    Opened<fid_fabric> fabric;
    Opened<fid_eq> eq;
    Opened<fid_domain> domain;
    Opened<fid_cq> cq;
    Opened<fid_ep> ep;

    void open(fid_fabric* on, fid_eq* events, fi_info* info) {
        fi_cq_attr cq_attr{};
        ASSERT_EQ(fi_domain(on, info, domain.out(), nullptr), 0);
        ASSERT_EQ(fi_cq_open(domain.get(), &cq_attr, cq.out(), nullptr), 0);
        ASSERT_EQ(fi_endpoint(domain.get(), info, ep.out(), nullptr), 0);
        ASSERT_EQ(fi_ep_bind(ep.get(), &events->fid, 0), 0);
        ASSERT_EQ(fi_ep_bind(ep.get(), cq.base(), FI_TRANSMIT | FI_RECV), 0);
        ASSERT_EQ(fi_enable(ep.get()), 0);
    }
};

TEST(Wildcard, APassiveEndpointAcceptsWhoComesThroughAnotherInterface) {
    const Answer listens = getinfo(v4_hints(FI_EP_MSG), nullptr, "0", FI_SOURCE);
    ASSERT_EQ(listens.result, 0);
    Opened<fid_fabric> fabric;
    Opened<fid_eq> eq;
    fi_eq_attr attr{};
    attr.wait_obj = FI_WAIT_UNSPEC;
    ASSERT_EQ(fi_fabric(listens->fabric_attr, fabric.out(), nullptr), 0);
    ASSERT_EQ(fi_eq_open(fabric.get(), &attr, eq.out(), nullptr), 0);
    Opened<fid_pep> pep;
    ASSERT_EQ(fi_passive_ep(fabric.get(), listens.get(), pep.out(), nullptr), 0);
    ASSERT_EQ(fi_pep_bind(pep.get(), eq.base(), 0), 0);
    ASSERT_EQ(fi_listen(pep.get()), 0);
    sockaddr_in name{};
    size_t length = sizeof name;
    ASSERT_EQ(fi_getname(pep.base(), &name, &length), 0);
    EXPECT_NE(host_of(&name), "0.0.0.0");

    const std::string service = std::to_string(port_of(&name));
    const Answer calls = getinfo(v4_hints(FI_EP_MSG), "127.0.0.1", service.c_str());
    ASSERT_EQ(calls.result, 0);
    Caller caller;
    ASSERT_EQ(fi_fabric(calls->fabric_attr, caller.fabric.out(), nullptr), 0);
    ASSERT_EQ(fi_eq_open(caller.fabric.get(), &attr, caller.eq.out(), nullptr), 0);
    ASSERT_NO_FATAL_FAILURE(caller.open(caller.fabric.get(), caller.eq.get(), calls.get()));
    ASSERT_EQ(fi_connect(caller.ep.get(), calls->dest_addr, nullptr, 0), 0);

    fi_eq_cm_entry entry{};
    ASSERT_EQ(next_event(eq.get(), caller.eq.get(), &entry), static_cast<uint32_t>(FI_CONNREQ));
    const InfoPtr request(entry.info);
    EXPECT_EQ(host_of(request->src_addr), "127.0.0.1");
    Caller accepted;
    ASSERT_NO_FATAL_FAILURE(accepted.open(fabric.get(), eq.get(), request.get()));
    ASSERT_EQ(fi_accept(accepted.ep.get(), nullptr, 0), 0);
    EXPECT_EQ(next_event(caller.eq.get(), eq.get(), &entry), static_cast<uint32_t>(FI_CONNECTED));
    EXPECT_EQ(next_event(eq.get(), caller.eq.get(), &entry), static_cast<uint32_t>(FI_CONNECTED));
}

}  // namespace
}  // namespace selvage::test
